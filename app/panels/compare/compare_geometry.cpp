#include "app/panels/compare/compare_geometry.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "app/panels/map/map_geometry.h"
#include "app/plot/theme.h"

namespace headroom {
namespace {

constexpr float kStripRoom = kStripWidth + kStripGap;
constexpr float kRowsBelow = 109.0f;  // of the compare panel's large map: both rows, their difference, ticks, two lines
constexpr float kColumnsBeside = 60.0f;  // right of it: both columns and their difference
constexpr float kTop = 36.0f;            // of the tool bar with its gaps

// Room left of a map: query labels and the strip of key 0. Right of the last one: the colour bar with its labels.
struct Sides {
  float left = 26.0f, right = 8.0f;
};
Sides sides_of(float width, float index_width) {
  Sides sides;
  sides.left = width >= 640.0f ? 96.0f : width >= 440.0f ? 64.0f : 26.0f;
  if (width >= 440.0f) sides.left = std::max(sides.left, std::ceil(index_width) + 33.0f);
  sides.right = width >= 480.0f ? 68.0f : width >= 240.0f ? 28.0f : 8.0f;
  return sides;
}

float label_room(float height) {
  return height >= 480.0f ? 58.0f : height >= 300.0f ? 44.0f : height >= 200.0f ? 30.0f : 6.0f;
}

Rect tool_bar_of(const Rect& body) {
  return {body.x0 + measure::kPadding, body.y0 + 7.0f, body.x1 - measure::kPadding,
          body.y0 + 7.0f + measure::kPanelControl};
}

// Strip and labels of a map; query labels where there is room for them at the left.
void add_labels(MapLayout& layout, const Rect& body, const Rect& tool_bar, float label_x0, bool queries,
                float label_x1) {
  const Rect& map = layout.map;
  if (map.empty()) return;
  layout.strip = {map.x0 - kStripRoom, map.y0, map.x0 - kStripGap, map.y1};
  if (map.y0 - tool_bar.y1 >= 26.0f)
    layout.key_labels = {queries ? label_x0 : layout.strip.x0 - 4.0f, tool_bar.y1 + 2.0f, label_x1, map.y0};
  if (queries && layout.strip.x0 - 9.0f - label_x0 >= 24.0f)
    layout.query_labels = {label_x0, map.y0 - 6.0f, layout.strip.x0 - 9.0f, std::min(map.y1 + 6.0f, body.y1)};
}

}  // namespace

MapLayout linked_map(Rect area, const MapWindow& window, const MapExtent& extent, double pixel_scale) {
  MapLayout layout;
  layout.area = area;
  layout.pixel_scale = pixel_scale;
  layout.length = std::max<std::int64_t>(1, extent.length);
  layout.rows = extent.rows;
  layout.keys = extent.keys;
  layout.window = resolved_window(window, layout.row_count(), layout.key_count());
  const double keys = layout.window.key1 - layout.window.key0, queries = layout.window.query1 - layout.window.query0;
  const double w = std::max(1.0, static_cast<double>(area.width()) * pixel_scale),
               h = std::max(1.0, static_cast<double>(area.height()) * pixel_scale);
  double size = std::min({w / keys, h / queries, static_cast<double>(kLargestCell) * pixel_scale});
  const double down = std::floor(size + 1e-6);
  if (size >= 1.0 && down >= (layout.whole() ? 0.7 : 0.9) * size) size = down;
  const double width = std::max(1.0, std::floor(size * keys + 1e-6)),
               height = std::max(1.0, std::floor(size * queries + 1e-6));
  layout.cell_x = static_cast<float>(width / keys / pixel_scale);
  layout.cell_y = static_cast<float>(height / queries / pixel_scale);
  layout.map = Rect::sized(whole_pixel(area.x0, pixel_scale), whole_pixel(area.y0, pixel_scale),
                           static_cast<float>(width / pixel_scale), static_cast<float>(height / pixel_scale));
  return layout;
}

MapWindow linked_zoom(const MapLayout& layout, Vec2 pointer, double notches) {
  const double rows = static_cast<double>(layout.row_count()), columns = static_cast<double>(layout.key_count());
  const double factor = std::pow(kWheelStep, notches);
  const double fewest_rows = std::min(kFewestCells, rows), fewest_columns = std::min(kFewestCells, columns);
  const double keys = layout.window.key1 - layout.window.key0, queries = layout.window.query1 - layout.window.query0;
  // The shape stays: one factor for both ways.
  const double allowed = std::clamp(factor, std::min({1.0, keys / columns, queries / rows}),
                                    std::max(1.0, std::min(keys / fewest_columns, queries / fewest_rows)));
  const double new_keys = std::clamp(keys / allowed, fewest_columns, columns),
               new_queries = std::clamp(queries / allowed, fewest_rows, rows);
  if (new_keys >= columns - 1e-9 && new_queries >= rows - 1e-9) return {};
  const double query = layout.query_at(pointer.y), key = layout.key_at(pointer.x);
  // Where the cells come to lie: the map of another part has another size.
  const MapLayout to = linked_map(layout.area, {0.0, new_queries, 0.0, new_keys},
                                  MapExtent{layout.length, layout.rows, layout.keys}, layout.pixel_scale);
  const double query0 =
      std::clamp(query - static_cast<double>((pointer.y - to.map.y0) / to.cell_y), 0.0, rows - new_queries);
  const double key0 =
      std::clamp(key - static_cast<double>((pointer.x - to.map.x0) / to.cell_x), 0.0, columns - new_keys);
  return {query0, query0 + new_queries, key0, key0 + new_keys};
}

PairLayout lay_out_what_if(const PairLayoutRequest& request) {
  PairLayout out;
  const Rect& body = request.body;
  const float w = body.width(), h = body.height();
  out.tool_bar = tool_bar_of(body);
  const Sides sides = sides_of(w, request.index_width);
  const float between = w >= 640.0f ? 36.0f : w >= 440.0f ? 26.0f : 18.0f;
  const float row = h >= 600.0f ? 40.0f : h >= 330.0f ? 26.0f : 0.0f;
  const float below_map = row > 0.0f ? 12.0f + row + 18.0f : 8.0f;
  const float plots = h >= 430.0f ? std::max(140.0f, 0.32f * h) : 0.0f;
  const float top = body.y0 + kTop + label_room(h);
  const float height = std::max(8.0f, body.y1 - top - below_map - plots);
  const float width =
      std::max(8.0f, request.single ? w - sides.left - sides.right : 0.5f * (w - sides.left - sides.right - between));
  const auto map_at = [&](float x) {
    return linked_map({x, top, x + width, top + height}, request.window, request.extent(), request.pixel_scale);
  };
  MapLayout first = map_at(body.x0 + sides.left);
  float right = first.map.x1;
  if (!request.single) {
    // Maps that leave room beside them stand apart, each over its plot.
    const float x =
        std::max(first.map.x1 + between, body.x0 + sides.left + width + between - 0.5f * (width - first.map.width()));
    out.second = map_at(x);
    right = out.second.map.x1;
    add_labels(first, body, out.tool_bar, body.x0 + 8.0f, true,
               out.second.map.x0 + (w >= 640.0f ? 24.0f : -kStripRoom - 6.0f));
    add_labels(out.second, body, out.tool_bar, body.x0, false, body.x1 - 2.0f);
    out.first = first;
  } else {
    add_labels(first, body, out.tool_bar, body.x0 + 8.0f, true, body.x1 - 2.0f);
    out.large = first;
  }
  if (sides.right >= 20.0f && first.map.height() >= 40.0f)
    out.bar = {right + 10.0f, first.map.y0, std::min(body.x1 - 2.0f, right + sides.right - 2.0f), first.map.y1};
  if (row > 0.0f) {
    const float y = first.map.y1 + 12.0f;
    out.first_row = {first.map.x0, y, first.map.x1, y + row};
    if (!request.single) out.second_row = {out.second.map.x0, y, out.second.map.x1, y + row};
    if (sides.left >= 60.0f) out.row_text = {body.x0 + 8.0f, y - 2.0f, first.map.x0 - 14.0f, y + row + 17.0f};
  }
  if (plots > 0.0f) {
    const float y = first.map.y1 + below_map + 8.0f;
    const Rect both{body.x0 + measure::kPadding, y, body.x1 - measure::kPadding, body.y1 - 6.0f};
    const float middle = w >= 520.0f ? 0.5f * (both.x0 + both.x1) : both.x0 - 8.0f;
    if (w >= 520.0f) out.plot = {both.x0, both.y0, middle - 8.0f, both.y1};
    out.second_plot = {middle + 8.0f, both.y0, both.x1, both.y1};
  }
  return out;
}

PairLayout lay_out_compare(const PairLayoutRequest& request) {
  PairLayout out;
  const Rect& body = request.body;
  const float w = body.width(), h = body.height();
  out.tool_bar = tool_bar_of(body);
  const Sides sides = sides_of(w, request.index_width);
  const bool profiles = h >= 640.0f && w >= 520.0f;
  const float below = profiles ? kRowsBelow : 0.0f;
  const float plots = h >= 430.0f ? std::max(130.0f, (profiles ? 0.19f : 0.27f) * h) : 0.0f;
  const float top = body.y0 + kTop + label_room(h);
  const float height = std::max(8.0f, body.y1 - top - plots - (plots > 0.0f ? 12.0f : 8.0f));
  float left = body.x0 + sides.left, label_x0 = body.x0 + 8.0f;
  if (!request.single) {
    const float gap = 22.0f;
    const float side = std::max(8.0f, std::min(std::clamp(0.27f * w, 60.0f, 480.0f), 0.5f * (height - gap)));
    const Rect area = Rect::sized(body.x0 + measure::kPadding, top, side, side);
    out.first = linked_map(area, request.window, request.extent(), request.pixel_scale);
    out.second = linked_map(area.shifted(0.0f, out.first.map.height() + gap), request.window, request.extent(),
                            request.pixel_scale);
    if (label_room(h) >= 20.0f) out.small_title = {area.x0, top - 18.0f, area.x0 + side, top - 3.0f};
    left = area.x0 + side + sides.left;
    label_x0 = area.x0 + side + 10.0f;
  }
  // The column's profile has room of its own in a wide panel, else what the map leaves.
  const float own = profiles && w >= 1000.0f ? kColumnsBeside : 0.0f;
  const float width = std::max(8.0f, body.x1 - sides.right - left - own);
  out.large = linked_map({left, top, left + width, top + std::max(8.0f, height - below)}, request.window,
                         request.extent(), request.pixel_scale);
  add_labels(out.large, body, out.tool_bar, label_x0, true, body.x1 - 2.0f);
  const Rect& map = out.large.map;
  float bar_x = map.x1, rows_end = map.y1;
  if (profiles) {
    float y = map.y1 + 8.0f;
    out.row = {map.x0, y, map.x1, y + 30.0f};
    out.row_difference = {map.x0, y + 32.0f, map.x1, y + 52.0f};
    out.row_ticks = {map.x0, y + 52.0f, map.x1, y + 70.0f};
    y += 71.0f;
    out.row_numbers = {label_x0, y, body.x1 - measure::kPadding, y + 15.0f};
    out.column_numbers = out.row_numbers.shifted(0.0f, 15.0f);
    rows_end = out.column_numbers.y1;
    if (left + width + own - map.x1 >= kColumnsBeside) {
      out.column = {map.x1 + 8.0f, map.y0, map.x1 + 38.0f, map.y1};
      out.column_difference = {map.x1 + 40.0f, map.y0, map.x1 + 60.0f, map.y1};
      bar_x = out.column_difference.x1;
    }
  }
  if (sides.right >= 20.0f && map.height() >= 40.0f)
    out.bar = {bar_x + 10.0f, map.y0, std::min(body.x1 - 2.0f, bar_x + sides.right - 2.0f), map.y1};
  if (plots > 0.0f) {
    const float bottom = request.single ? rows_end : std::max(rows_end, out.second.map.y1);
    out.plot = {body.x0 + measure::kPadding, bottom + 18.0f, body.x1 - measure::kPadding, body.y1 - 6.0f};
  }
  return out;
}

Rect masked_corner(const MapLayout& layout, bool causal, float width, float height) {
  if (!causal || layout.map.empty()) return {};
  const Rect corner{layout.map.x1 - width - 12.0f, layout.map.y0 + 6.0f, layout.map.x1 - 12.0f,
                    layout.map.y0 + 6.0f + height};
  if (corner.x0 < layout.map.x0 || corner.y1 > layout.map.y1) return {};
  return layout.key_at(corner.x0 - 6.0f) >= layout.query_at(corner.y1 + 4.0f) + 1.0 ? corner : Rect{};
}

Rect caption_band(const MapLayout& layout, bool causal) {
  if (masked_corner(layout, causal, kCaptionLeast, kCaptionLine).empty()) return {};
  Rect band = layout.map;
  band.y1 = std::min(band.y1, band.y0 + kCaptionLine * static_cast<float>(kCaptionLines) + 9.0f);
  return band;
}

}  // namespace headroom
