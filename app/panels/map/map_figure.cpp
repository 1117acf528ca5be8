#include "app/panels/map/map_figure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/panels/parts/change_text.h"
#include "app/panels/parts/compare_cache.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kNaNf = std::numeric_limits<float>::quiet_NaN();
constexpr float kGapCell = 12.0f;  // cells from this size have a gap between them

// Images of a figure that are no tiles.
enum class Picture : std::uint64_t { Strip, PinnedStrip, Pooled, PooledStrip, Hatch };

// Hatches are many: one for each run of rows, told apart by the first.
std::uint64_t picture_id(FigureSlot slot, Picture picture, std::int64_t row = 0) {
  return (std::uint64_t{3} << 62) | (static_cast<std::uint64_t>(slot) << 48) |
         (static_cast<std::uint64_t>(picture) << 40) | static_cast<std::uint64_t>(row);
}

// Follows from the values: the painter uploads again only where they differ.
std::uint64_t generation_of(std::span<const float> values, std::int32_t width) {
  std::uint64_t hash = 1469598103934665603ull ^ static_cast<std::uint64_t>(width);
  for (const float v : values) hash = (hash ^ std::bit_cast<std::uint32_t>(v)) * 1099511628211ull;
  return hash;
}

MapImage picture_of(std::uint64_t id, std::vector<float> values, std::int32_t width, std::int32_t height) {
  const std::uint64_t generation = generation_of(values, width);
  return {id, generation, width, height, std::make_shared<std::vector<float>>(std::move(values))};
}

// Tiles never change: the serial is both their id, apart from those of next_image_id(), and their generation.
MapImage tile_image(const Tile& tile) {
  return {(std::uint64_t{1} << 63) | tile.serial, tile.serial, tile.columns, tile.rows, tile.values};
}

TileKey like_of(const MapFigure& figure, const MapSubject& subject) {
  TileKey key = subject.like();
  if (figure.less) key.pooling = Pooling::Mean;
  return key;
}

// The same tile of the map that is taken off.
TileKey of_less(const MapFigure& figure, const TileKey& at) {
  TileKey key = like_of(figure, *figure.less);
  key.level = at.level;
  key.row = at.row;
  key.column = at.column;
  return key;
}

std::optional<MapImage> image_of(PanelContext& context, const MapFigure& figure, const TileKey& key) {
  const std::shared_ptr<const Tile> tile = context.tiles.find(key);
  if (!tile) return {};
  if (!figure.less) return tile_image(*tile);
  const std::shared_ptr<const Tile> off = context.tiles.find(of_less(figure, key));
  if (!off || !figure.differences) return {};
  return figure.differences->difference(*figure.less->source, *figure.subject->source, *off, *tile);
}

TileKey parent(TileKey key) {
  ++key.level, key.row /= 2, key.column /= 2;
  return key;
}

// Texels of a tile of a map of `length`, less than a whole tile at its far edges.
std::int64_t texels_of(const TileKey& key, std::int64_t length) {
  const double side = std::ldexp(static_cast<double>(kTileSize), key.level), n = static_cast<double>(length);
  const auto along = [&](std::int64_t at) {
    const double cells = std::min(side, n - static_cast<double>(at) * side);
    return static_cast<std::int64_t>(std::ceil(std::ldexp(cells, -key.level)));
  };
  return along(key.row) * along(key.column);
}

// Where a horizontal line at y, or a vertical one at x, meets the causal boundary.
float boundary_x(const MapLayout& layout, float y) { return layout.key_pixel(layout.query_at(y) + 1.0); }
float boundary_y(const MapLayout& layout, float x) { return layout.query_pixel(layout.key_at(x) - 1.0); }

// A frame of one pixel round `rect` that ends at the causal diagonal, and the level at its lower right.
void draw_coarse_frame(PanelContext& context, const MapLayout& layout, const Rect& rect, std::int32_t level,
                       const MapFigure& figure) {
  const bool causal = figure.causal();
  Painter& painter = context.painter();
  const Color color = context.theme().text.faded(0.45f);
  const auto horizontal = [&](float y) {
    const float x1 = causal ? std::min(rect.x1, boundary_x(layout, y)) : rect.x1;
    if (x1 > rect.x0) painter.line({rect.x0, y}, {x1, y}, color);
  };
  const auto vertical = [&](float x) {
    const float y0 = causal ? std::max(rect.y0, boundary_y(layout, x)) : rect.y0;
    if (y0 < rect.y1) painter.line({x, y0}, {x, rect.y1}, color);
  };
  horizontal(rect.y0 + 0.5f);
  horizontal(rect.y1 - 0.5f);
  vertical(rect.x0 + 0.5f);
  vertical(rect.x1 - 0.5f);
  const std::string text = "level " + std::to_string(level);
  const TextStyle style{Face::Sans, 11.0f, context.theme().text};
  const float width = context.ui.width(text, style) + 12;
  const Rect tag{rect.x1 - width - 6, rect.y1 - 22, rect.x1 - 6, rect.y1 - 5};
  if (tag.x0 < rect.x0 + 4 || tag.y0 < rect.y0 + 4 || tag.overlaps(figure.avoid)) return;
  if (causal && boundary_x(layout, tag.y0) < tag.x1) return;
  painter.fill_rect(tag, context.theme().panel, 2);
  painter.text_at(tag.centre_x(), tag.centre_y(), text, style, Painter::Align::Centre);
}

// Pieces of one coarse tile.
struct Coarse {
  Rect bounds;
  float area = 0.0f;
  std::int32_t level = 0;
  std::vector<Rect> parts;

  void add(const Rect& part) {
    bounds = parts.empty() ? part
                           : Rect{std::min(bounds.x0, part.x0), std::min(bounds.y0, part.y0),
                                  std::max(bounds.x1, part.x1), std::max(bounds.y1, part.y1)};
    area += part.width() * part.height();
    parts.push_back(part);
  }
  [[nodiscard]] bool is_rectangle() const { return area > 0.999f * bounds.width() * bounds.height(); }
};

// What a view wants of a map, most urgent first: the whole map in one tile; where many sharp tiles are missing, a level
// between; the sharp ones; a margin of coarser ones, so that a pan finds something.
std::vector<TileKey> wanted_tiles(const TileView& view, const std::vector<TileKey>& sharp, const TileKey& like,
                                  bool causal, const FigureProgress& progress) {
  std::vector<TileKey> wanted;
  TileKey top = like;
  top.level = top_level(view.length);
  top.row = top.column = 0;
  wanted.push_back(top);
  const auto add_level = [&](const TileView& seen, std::int32_t level) {
    TileKey key = like;
    key.level = level;
    for (const TileKey& one : visible_tiles(seen, key, causal)) wanted.push_back(one);
  };
  if (progress.needed - progress.ready > 2 && progress.level + 2 < top.level) add_level(view, progress.level + 2);
  for (TileKey key : sharp) {
    key.source = like.source, key.head = like.head, key.map = like.map;
    if (key != top) wanted.push_back(key);
  }
  if (progress.level + 1 < top.level && progress.needed == progress.ready) {
    TileView wide = view;
    const double queries = 0.3 * (view.query1 - view.query0), keys = 0.3 * (view.key1 - view.key0),
                 n = static_cast<double>(view.length);
    wide.query0 = std::max(0.0, wide.query0 - queries), wide.query1 = std::min(n, wide.query1 + queries);
    wide.key0 = std::max(0.0, wide.key0 - keys), wide.key1 = std::min(n, wide.key1 + keys);
    add_level(wide, progress.level + 1);
  }
  return wanted;
}

Rect drawn_part(const MapLayout& layout, const MapFigure& figure) {
  return figure.part.empty() ? layout.map : figure.part;
}

// Above the diagonal, where the map will be empty, below what else stands there; not where what is shown of it is too
// small.
void say_it_is_made(PanelContext& context, const Rect& part, const Rect& avoid) {
  constexpr std::string_view kMaking = "the map is being made";
  const TextStyle style = context.theme().hint();
  const float half = 0.5f * context.ui.width(kMaking, style) + 4.0f;
  if (part.width() <= 2.0f * half || part.height() <= 60.0f) return;
  const float x = std::clamp(part.x0 + 0.7f * part.width(), part.x0 + half, part.x1 - half);
  constexpr float kHalfLine = 9.0f;
  float y = part.y0 + 0.3f * part.height();
  if (avoid.overlaps({x - half, y - kHalfLine, x + half, y + kHalfLine})) y = avoid.y1 + kHalfLine;
  if (y + kHalfLine > part.y1) return;
  context.painter().text_at(x, y, kMaking, style, Painter::Align::Centre);
}

FigureProgress draw_tiles(PanelContext& context, const MapLayout& layout, const MapFigure& figure) {
  Painter& painter = context.painter();
  FigureProgress progress;
  const TileView view = tile_view(layout);
  progress.level = tile_level(view);
  TileKey like = like_of(figure, *figure.subject);
  like.level = progress.level;
  const std::vector<TileKey> sharp = visible_tiles(view, like, figure.causal());
  MapShading shading;
  shading.scale = figure.scale;
  const bool gaps = std::min(layout.cell_x, layout.cell_y) >= kGapCell;
  shading.gap_color = context.theme().empty;
  std::map<std::uint64_t, Coarse> coarse;
  bool any = false;
  const std::int32_t top = top_level(layout.length);
  for (const TileKey& key : sharp) {
    ++progress.needed;
    TileKey at = key;
    std::optional<MapImage> image = image_of(context, figure, at);
    if (image)
      ++progress.ready;
    else
      progress.texels_pending += texels_of(key, layout.length);
    while (!image && at.level < top) image = image_of(context, figure, at = parent(at));
    const auto piece = image ? tile_piece(layout, key, at) : std::nullopt;
    if (!piece) continue;
    any = true;
    shading.cell_gap = gaps && at.level == 0 ? 1.0f : 0.0f;
    painter.map(piece->target, *image, piece->source, shading);
    if (at.level == key.level) continue;
    Coarse& group = coarse[image->id];
    group.level = at.level;
    group.add(piece->target);
  }
  for (const auto& [id, group] : coarse)
    for (const Rect& part : group.is_rectangle() ? std::vector<Rect>{group.bounds} : group.parts)
      draw_coarse_frame(context, layout, part, group.level, figure);
  if (!any) say_it_is_made(context, drawn_part(layout, figure), figure.avoid);

  const auto want = [&](const MapSubject& subject) {
    std::vector<TileKey> keys = wanted_tiles(view, sharp, like_of(figure, subject), figure.causal(), progress);
    if (figure.less) {  // the range of the difference is that of the largest cells
      TileKey largest = keys.front();
      largest.pooling = Pooling::MaxMagnitude;
      keys.insert(keys.begin(), largest);
    }
    context.wanted.push_back({subject.source, std::move(keys)});
  };
  want(*figure.subject);
  if (figure.less) want(*figure.less);
  return progress;
}

// Hatches the visible cells of rows whose weights are not finite; their number in view.
std::int64_t draw_non_finite(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                             FigureSlot slot) {
  if (!subject.head) return 0;
  const CellRange cells = visible_cells(layout);
  const bool first = subject.kind != MapKind::Second && subject.kind != MapKind::ScaledSecond;
  const bool second = subject.kind != MapKind::First && subject.kind != MapKind::Logits;
  const auto broken = [&](std::int64_t query) {
    const auto bad = [query](const std::vector<double>& values) {
      if (query >= static_cast<std::int64_t>(values.size())) return false;
      const double v = values[static_cast<std::size_t>(query)];
      return std::isnan(v) || v > std::numeric_limits<double>::max();
    };
    return (first && bad(subject.head->lse[0])) || (second && (bad(subject.head->lse[1]) || bad(subject.head->lambda)));
  };
  std::int64_t rows = 0;
  for (std::int64_t begin = cells.query0; begin < cells.query1;) {
    if (!broken(begin)) {
      ++begin;
      continue;
    }
    std::int64_t end = begin + 1;
    while (end < cells.query1 && broken(end)) ++end;
    rows += end - begin;
    // Texels of at most 512 a side, infinite where the row sees a key: the painter hatches what is infinite.
    const auto height = static_cast<std::int32_t>(std::min<std::int64_t>(end - begin, 512));
    const auto width = static_cast<std::int32_t>(std::min<std::int64_t>(cells.key1 - cells.key0, 512));
    std::vector<float> values(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), kNaNf);
    for (std::int32_t y = 0; y < height; ++y) {
      const std::int64_t query = begin + (end - begin) * (y + 1) / height - 1;
      for (std::int32_t x = 0; x < width; ++x) {
        const std::int64_t key = cells.key0 + (cells.key1 - cells.key0) * x / width;
        const bool seen =
            (!subject.causal || key <= query) && (subject.sliding <= 0 || std::abs(key - query) < subject.sliding);
        if (seen)
          values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)] =
              std::numeric_limits<float>::infinity();
      }
    }
    const Rect target{layout.key_pixel(static_cast<double>(cells.key0)), layout.query_pixel(static_cast<double>(begin)),
                      layout.key_pixel(static_cast<double>(cells.key1)), layout.query_pixel(static_cast<double>(end))};
    context.painter().map(target, picture_of(picture_id(slot, Picture::Hatch, begin), std::move(values), width, height),
                          {0, 0, static_cast<float>(width), static_cast<float>(height)}, {});
    begin = end;
  }
  return rows;
}

// The texts of a cell, the longer one first; none: a dot says that it holds little, or nothing is said.
struct CellNumber {
  std::vector<std::string> texts;
  bool dim = false, dot = false;
};
CellNumber cell_number(const MapFigure& figure, double value) {
  CellNumber number;
  const double magnitude = std::abs(value);
  if (figure.less) {
    if (magnitude < 0.005) return number;
    std::string text = delta_text(value, 2);
    if (text.starts_with('+')) text.erase(0, 1);  // the colour says it, and there is little room
    number.texts = {std::move(text)};
    number.dim = true;
    return number;
  }
  if (figure.subject->is_logits) {
    number.texts = {fixed_text(value, 1), fixed_text(value, 0)};
    return number;
  }
  number.dim = magnitude < 0.03;
  number.dot = true;
  if (figure.scale.kind != ScaleKind::Linear) {
    const auto texts = log_cell_texts(value);
    number.texts.assign(texts.begin(), texts.end());
  } else if (magnitude >= 0.005) {
    number.texts = {cell_text(value)};
    number.dot = false;
  }
  return number;
}

// Numbers in cells whose tile is sharp, where cells are large enough.
void draw_numbers(PanelContext& context, const MapLayout& layout, const MapFigure& figure) {
  const bool is_signed = figure.subject->is_signed && !figure.less;
  if (!layout.numbers() || (is_signed && layout.cell_x < kSignedNumberCellWidth)) return;
  Painter& painter = context.painter();
  const CellRange cells = visible_cells(layout);
  const Selection& pinned = context.state.view.selection;
  const Rect whole = (figure.part.empty() ? layout.map : figure.part).inset(-0.5f);
  std::vector<Vec2> dots;
  TileKey at = like_of(figure, *figure.subject);
  std::optional<MapImage> image;
  at.row = at.column = -1;
  for (std::int64_t query = cells.query0; query < cells.query1; ++query)
    for (std::int64_t key = cells.key0; key < cells.key1; ++key) {
      if (figure.causal() && key > query) continue;
      if (at.row != query / kTileSize || at.column != key / kTileSize) {
        at.row = query / kTileSize, at.column = key / kTileSize;
        image = image_of(context, figure, at);
      }
      if (!image) continue;
      const auto texel = static_cast<std::size_t>((query % kTileSize) * image->width + key % kTileSize);
      const float value = (*image->values)[texel];
      if (!std::isfinite(value)) continue;
      const Rect rect = layout.cell_rect(query, key);
      if (rect.x0 < whole.x0 || rect.y0 < whole.y0 || rect.x1 > whole.x1 || rect.y1 > whole.y1)
        continue;  // half a number is no number
      const CellNumber number = cell_number(figure, static_cast<double>(value));
      TextStyle style{number.dim ? Face::Mono : Face::MonoSemibold, 10.0f, text_on(scale_color(figure.scale, value))};
      if (number.dim && !figure.less) style.color = style.color.faded(0.7f);
      const auto fits = std::ranges::find_if(number.texts, [&](const std::string& text) {
        return context.ui.width(text, style) <= rect.width() - (&text == &number.texts.back() ? 1.0f : 2.0f);
      });
      if (fits == number.texts.end()) {
        if (number.dot) dots.push_back(rect.centre());
        continue;
      }
      painter.text_at(rect.centre_x(), rect.centre_y(), *fits, style, Painter::Align::Centre);
      if (pinned.query == query && pinned.key == key) context.facts.set("map.printed", *fits);
    }
  if (!dots.empty()) painter.points(dots, context.theme().text3.faded(0.6f), 1.5f);
}

std::shared_ptr<const std::vector<float>> column_of(PanelContext& context, const MapFigure& figure, std::int64_t key) {
  const auto of = [&](const MapSubject& subject) {
    return context.tiles.column(subject.source, subject.ref.head, window_map(subject.kind), key);
  };
  auto column = of(*figure.subject);
  if (!figure.less || !column) return column;
  const auto off = of(*figure.less);
  if (!off || off->size() != column->size()) return nullptr;
  return std::make_shared<std::vector<float>>(difference_of(*off, *column));
}

// One key over the queries in view, as wide as `strip`.
void draw_strip(PanelContext& context, const MapLayout& layout, const MapFigure& figure, Rect strip, std::int64_t key,
                Picture picture) {
  if (strip.empty()) return;
  context.painter().fill_rect(strip, context.theme().empty);
  const auto column = column_of(context, figure, key);
  if (!column) return;
  const MapWindow& w = layout.window;
  const std::uint64_t id = picture_id(figure.slot, picture);
  MapShading shading;
  shading.scale = figure.scale;
  if (layout.cell_y >= 2.0f) {  // one texel a query
    const CellRange cells = visible_cells(layout);
    std::vector<float> values(column->begin() + cells.query0, column->begin() + cells.query1);
    if (layout.cell_y >= kGapCell) shading.cell_gap = 1.0f, shading.gap_color = context.theme().empty;
    const float from = static_cast<float>(w.query0 - static_cast<double>(cells.query0));
    const auto height = static_cast<std::int32_t>(values.size());
    context.painter().map(strip, picture_of(id, std::move(values), 1, height),
                          {0, from, 1, from + static_cast<float>(w.query1 - w.query0)}, shading);
    return;
  }
  const auto pixels =
      static_cast<std::size_t>(std::max(1.0, std::round(static_cast<double>(strip.height()) * layout.pixel_scale)));
  context.painter().map(
      strip, picture_of(id, pool_to_pixels(*column, w.query0, w.query1, pixels), 1, static_cast<std::int32_t>(pixels)),
      {0, 0, 1, static_cast<float>(pixels)}, shading);
}

}  // namespace

void FigureProgress::add(const FigureProgress& other) {
  needed += other.needed;
  ready += other.ready;
  texels_pending += other.texels_pending;
  level = std::max(level, other.level);
  non_finite_rows += other.non_finite_rows;
}

void draw_hairline(PanelContext& context, const MapLayout& layout, const MapSubject& subject) {
  if (!(subject.source ? subject.source->causal : subject.causal)) return;
  const auto draw = [&](std::int64_t offset) {
    for (const Segment& s : diagonal_segments(layout, offset))
      context.painter().line(s.from, s.to, context.theme().faint);
  };
  context.painter().push_clip(layout.map);
  const std::int64_t first = subject.source ? subject.source->first_query : 0;
  const std::int64_t sliding = subject.source ? subject.source->window : subject.sliding;
  draw(first + 1);
  if (sliding > 0 && sliding < subject.length) draw(first + 1 - sliding);
  context.painter().pop_clip();
}

FigureProgress draw_map_figure(PanelContext& context, const MapLayout& layout, const MapFigure& figure) {
  Painter& painter = context.painter();
  const Rect part = drawn_part(layout, figure);
  if (part.empty()) return {};
  painter.fill_rect(part, context.theme().empty);
  const auto fits = [&](const MapSubject* subject) { return subject->has_map() && subject->length == layout.length; };
  if (!fits(figure.subject) || (figure.less && !fits(figure.less))) return {};
  painter.push_clip(part);
  FigureProgress progress = draw_tiles(context, layout, figure);
  if (!figure.less) progress.non_finite_rows = draw_non_finite(context, layout, *figure.subject, figure.slot);
  draw_numbers(context, layout, figure);
  draw_hairline(context, layout, figure.less ? *figure.less : *figure.subject);
  painter.pop_clip();
  draw_strip(context, layout, figure, layout.strip, 0, Picture::Strip);
  if (figure.pinned_key)
    draw_strip(context, layout, figure, layout.pinned_strip, *figure.pinned_key, Picture::PinnedStrip);
  return progress;
}

bool draw_whole_map(PanelContext& context, Rect frame, const MapFigure& figure) {
  context.painter().fill_rect(frame, context.theme().empty);
  const MapSubject& subject = *figure.subject;
  if (!subject.source) return false;
  TileKey top = like_of(figure, subject);
  top.level = top_level(subject.length);
  context.wanted.push_back({subject.source, {top}});
  const std::optional<MapImage> image = image_of(context, figure, top);
  if (!image) return false;
  MapShading shading;
  shading.scale = figure.scale;
  const auto extent = static_cast<float>(std::ldexp(static_cast<double>(subject.length), -top.level));
  context.painter().map(frame, *image, {0, 0, extent, extent}, shading);
  return true;
}

void draw_pooled_map(PanelContext& context, Rect target, std::span<const float> cells, Rect source,
                     const ColorScale& scale, FigureSlot slot) {
  const auto blocks = static_cast<std::int32_t>(std::llround(std::sqrt(static_cast<double>(cells.size()))));
  MapShading shading;
  shading.scale = scale;
  context.painter().fill_rect(target, context.theme().empty);
  context.painter().map(target,
                        picture_of(picture_id(slot, Picture::Pooled), {cells.begin(), cells.end()}, blocks, blocks),
                        source, shading);
}

void draw_pooled_strip(PanelContext& context, Rect target, std::span<const float> cells, const ColorScale& scale,
                       FigureSlot slot) {
  MapShading shading;
  shading.scale = scale;
  const auto height = static_cast<std::int32_t>(cells.size());
  context.painter().map(target,
                        picture_of(picture_id(slot, Picture::PooledStrip), {cells.begin(), cells.end()}, 1, height),
                        {0.0f, 0.0f, 1.0f, static_cast<float>(height)}, shading);
}

std::vector<float> difference_of(std::span<const float> a, std::span<const float> b) {
  std::vector<float> out(std::min(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = std::isnan(a[i]) && std::isnan(b[i]) ? a[i]
                                                  : (std::isnan(b[i]) ? 0.0f : b[i]) - (std::isnan(a[i]) ? 0.0f : a[i]);
  return out;
}

std::string zoom_line(const MapWindow& window, std::int64_t length) {
  if (window.whole() || shows_whole(window, length)) return "map.fit";
  const double n = static_cast<double>(length);
  char line[160];
  const auto end = [n](double v) { return std::clamp(v, 0.0, n); };
  std::snprintf(line, sizeof line, "zoom %.9g %.9g %.9g %.9g", end(window.query0), end(window.query1), end(window.key0),
                end(window.key1));
  return line;
}

}  // namespace headroom
