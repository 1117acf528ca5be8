#include "app/panels/heads/maps_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace headroom {
namespace {

constexpr float kStrip = 3.0f, kStripGap = 1.0f;
constexpr float kLeastWithStrip = 14.0f, kLeastWithNumber = 34.0f;
constexpr float kName = 14.0f;                       // below a thumbnail
constexpr float kAbove = 16.0f;                      // numbers of the layers or heads
constexpr float kLeastAcross = 24.0f;                // smaller ones would rather scroll by layer
constexpr float kPlot = 84.0f, kLeastPlots = 96.0f;  // height that a plot below should have, and the least for any

float gap_of(float size) { return size >= 24.0f ? 2.0f : size >= 12.0f ? 1.0f : 0.0f; }

float strip_of(float size) { return size >= kLeastWithStrip ? kStrip + kStripGap : 0.0f; }

// The largest whole size up to `most` that fits; at least the least thumbnail.
template <typename Fits>
float largest_size(float most, const Fits& fits) {
  float size = std::floor(most);
  while (size > kLeastThumbnail && !fits(size)) size -= 1.0f;
  return std::max(size, kLeastThumbnail);
}

std::size_t columns_in(float width, float size) {
  const float pitch = size + gap_of(size);
  return static_cast<std::size_t>(std::max(1.0f, std::floor((width + gap_of(size)) / pitch)));
}

void set_places(MapsLayout& layout, std::size_t rows, std::size_t columns, float below) {
  layout.gap = gap_of(layout.size);
  layout.strip = strip_of(layout.size);
  layout.numbers = layout.size >= kLeastWithNumber;
  layout.places.rows = rows, layout.places.columns = columns;
  layout.places.gap = layout.gap;
  layout.places.cell_width = layout.size + layout.gap;
  layout.places.cell_height = layout.side() + layout.gap + below;
  layout.places.grid =
      Rect::sized(layout.view.x0, layout.view.y0, layout.places.cell_width * static_cast<float>(columns),
                  layout.places.cell_height * static_cast<float>(rows));
}

MapsLayout by_value(const MapsRequest& request) {
  MapsLayout layout;
  layout.view = request.body;
  const std::size_t count = request.by_value.size();
  const auto below = [&](float size) { return size >= request.name_width - gap_of(size) ? kName : 0.0f; };
  const auto fits = [&](float size) {
    const std::size_t columns = columns_in(request.body.width(), size);
    const std::size_t rows = (count + columns - 1) / columns;
    return size <= request.body.width() &&
           static_cast<float>(rows) * (size - strip_of(size) + gap_of(size) + below(size)) <= request.body.height();
  };
  const float most = count == 1 ? kOnlyThumbnail : kMostThumbnail;
  layout.size = request.wanted > 0.0f ? std::clamp(std::floor(request.wanted), kLeastThumbnail,
                                                   std::max(kLeastThumbnail, std::floor(request.body.width())))
                                      : largest_size(most, fits);
  layout.names = below(layout.size) > 0.0f;
  const std::size_t columns = std::min(count, columns_in(request.body.width(), layout.size));
  set_places(layout, (count + columns - 1) / columns, columns, below(layout.size));
  layout.heads.assign(layout.places.rows * columns, kNoHead);
  std::ranges::copy(request.by_value, layout.heads.begin());
  return layout;
}

// Layers across, what is left of the height to plots in line with them.
MapsLayout across(const MapsRequest& request, float size) {
  MapsLayout layout;
  layout.across = true;
  layout.size = size;
  Rect body = request.body;
  layout.above = body.cut_top(kAbove);
  layout.left = body.cut_left(request.label_width + 8.0f);
  layout.above.x0 = body.x0;
  layout.view = body;
  set_places(layout, request.heads, request.layers, 0.0f);
  layout.view.y1 = std::min(body.y1, layout.places.grid.y1);
  layout.view.x1 = std::min(body.x1, layout.places.grid.x1);
  for (std::size_t head = 0; head < request.heads; ++head)
    for (std::size_t layer = 0; layer < request.layers; ++layer) layout.heads.push_back(layer * request.heads + head);
  if (body.y1 - layout.view.y1 >= kLeastPlots)
    layout.plots = {request.body.x0, layout.view.y1 + 10.0f, request.body.x1, body.y1};
  return layout;
}

// Layers down; the heads of one take several rows where the panel is narrow.
MapsLayout down(const MapsRequest& request) {
  MapsLayout layout;
  Rect body = request.body;
  layout.above = body.cut_top(kAbove);
  layout.left = body.cut_left(request.label_width + 8.0f);
  layout.above.x0 = body.x0;
  const auto layers = static_cast<float>(request.layers), heads = static_cast<float>(request.heads);
  const float across_fit = body.width() / heads - 1.0f;
  const auto fits = [&](float size) {
    const float pitch = size + gap_of(size);
    // Rather than that nothing can be seen in them, rows are scrolled to.
    return pitch * heads - gap_of(size) <= body.width() && (pitch * layers <= body.height() || size <= kLeastWithStrip);
  };
  if (request.wanted > 0.0f)
    layout.size =
        std::clamp(std::floor(request.wanted), kLeastThumbnail, std::max(kLeastThumbnail, std::floor(body.width())));
  else
    layout.size = largest_size(std::min(kMostThumbnail, std::max(kLeastThumbnail, across_fit)), fits);
  const std::size_t most = std::min(request.heads, columns_in(body.width(), layout.size));
  // Lines of a layer are about as long as each other.
  const std::size_t lines = (request.heads + most - 1) / most, columns = (request.heads + lines - 1) / lines;
  layout.view = body;
  set_places(layout, request.layers * lines, columns, 0.0f);
  layout.heads.assign(layout.places.rows * columns, kNoHead);
  for (std::size_t layer = 0; layer < request.layers; ++layer)
    for (std::size_t head = 0; head < request.heads; ++head)
      layout.heads[layer * lines * columns + head] = layer * request.heads + head;
  return layout;
}

}  // namespace

Rect MapsLayout::square(std::size_t place, float scrolled) const {
  const Rect cell = places.cell(place / places.columns, place % places.columns);
  return Rect::sized(cell.x0, cell.y0 - scrolled, size, side());
}

std::optional<std::size_t> MapsLayout::place_of(std::size_t head) const {
  if (heads.empty() || places.columns == 0) return {};
  const auto found = std::ranges::find(heads, head);
  if (found == heads.end()) return {};
  return static_cast<std::size_t>(found - heads.begin());
}

std::optional<std::size_t> MapsLayout::at(Vec2 pointer, float scrolled) const {
  if (!view.contains(pointer)) return {};
  const auto cell = places.at({pointer.x, pointer.y + scrolled});
  if (!cell) return {};
  const std::size_t place = cell->row * places.columns + cell->column;
  if (place >= heads.size() || heads[place] == kNoHead) return {};
  return place;
}

std::optional<std::size_t> MapsLayout::beside(std::size_t place, int right, int down) const {
  auto row = static_cast<std::ptrdiff_t>(place / places.columns),
       column = static_cast<std::ptrdiff_t>(place % places.columns);
  const auto rows = static_cast<std::ptrdiff_t>(places.rows), columns = static_cast<std::ptrdiff_t>(places.columns);
  for (row += down, column += right; row >= 0 && row < rows && column >= 0 && column < columns;
       row += down, column += right) {
    // A row that is not full: its last head.
    for (std::ptrdiff_t at = column; at >= 0; --at) {
      const auto there = static_cast<std::size_t>(row * columns + at);
      if (heads[there] != kNoHead) return there == place ? std::nullopt : std::optional(there);
      if (right != 0) break;
    }
  }
  return {};
}

std::size_t MapsLayout::first_row(float scrolled) const {
  if (!(places.cell_height > 0.0f)) return 0;
  const auto row = static_cast<std::size_t>(std::max(0.0f, std::floor(scrolled / places.cell_height)));
  return std::min(row, places.rows);
}

std::size_t MapsLayout::end_row(float scrolled) const {
  if (!(places.cell_height > 0.0f)) return 0;
  const float bottom = (scrolled + view.height()) / places.cell_height;
  return std::min(places.rows, static_cast<std::size_t>(std::max(0.0f, std::ceil(bottom))));
}

MapsLayout lay_out_maps(const MapsRequest& request) {
  if (request.layers == 0 || request.heads == 0 || request.body.width() < request.label_width + 24.0f ||
      request.body.height() < 40.0f)
    return {};
  if (!request.by_value.empty()) return by_value(request);
  if (request.layers == 1 && request.heads == 1) {
    MapsRequest one = request;
    one.by_value = {0};
    MapsLayout layout = by_value(one);
    return layout;
  }
  const float width = request.body.width() - request.label_width - 8.0f, height = request.body.height() - kAbove;
  if (width > height) {
    const auto layers = static_cast<float>(request.layers), heads = static_cast<float>(request.heads);
    const auto fits = [&](float size, float below) {
      const float pitch = size + gap_of(size);
      return pitch * layers - gap_of(size) <= width && pitch * heads + below <= height;
    };
    // With as many of three plots below as leave thumbnails of a size at which maps are told apart.
    float size = 0.0f;
    for (const float plots : {3.0f, 2.0f, 1.0f, 0.0f}) {
      size =
          largest_size(kMostThumbnail, [&](float s) { return fits(s, plots * kPlot + (plots > 0.0f ? 10.0f : 0.0f)); });
      if (size >= 40.0f) break;
    }
    if (request.wanted > 0.0f) size = std::floor(request.wanted);
    const float pitch = size + gap_of(size);
    if (size >= kLeastAcross && pitch * layers - gap_of(size) <= width) return across(request, size);
  }
  return down(request);
}

std::vector<Edge> maps_contour(const MapsLayout& layout, std::span<const std::uint8_t> over_by_head) {
  std::vector<std::uint8_t> flags(layout.heads.size(), kNoCell);
  for (std::size_t place = 0; place < flags.size(); ++place)
    if (const std::size_t head = layout.heads[place]; head < over_by_head.size())
      flags[place] = over_by_head[head] != 0 ? 1 : 0;
  return contour(layout.places, flags);
}

}  // namespace headroom
