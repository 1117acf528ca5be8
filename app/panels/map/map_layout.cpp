#include "app/panels/map/map_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "app/panels/map/map_geometry.h"
#include "app/plot/theme.h"

namespace headroom {
namespace {

// Room around the map, in logical pixels: what the parts take that the panel's size allows.
struct Room {
  float left = 115, top = 94, right = 0, bottom = 10;
  float row_gap = 6, row_height = 0;
  float column_width = 0, bar_gap = 0;
  float bar_width = 0;  // with labels; 0: no bar
  bool overview = false, side = false, foot = false;
  float width = 0, height = 0;  // of the map's area
};

constexpr float kBar = 12, kColumnGap = 7, kOverview = 100, kOverviewGap = 20, kBelowOverview = 148;
constexpr float kSwipeBarRoom = 74, kSwipeEndRoom = 70, kPlotsGap = 96, kPlotsLeast = 252;

Room room_for(const MapLayoutRequest& request, bool zoomed, bool tall_row) {
  const float w = request.body.width(), h = request.body.height();
  Room room;
  room.side = (request.side == MapSide::Swipe && w >= 720 && h >= 380) ||
              (request.side == MapSide::Plots && w >= 960 && h >= 380);
  const bool swipe = room.side && request.side == MapSide::Swipe;

  room.left = swipe ? 98.0f : w >= 640 ? 115.0f : w >= 420 ? 94.0f : w >= 330 ? 64.0f : 30.0f;
  if (w >= 330) room.left = std::max(room.left, std::ceil(request.index_width) + 33.0f);
  room.top = 36.0f + (h >= 500 ? (swipe ? 62.0f : 58.0f) : h >= 300 ? 54.0f : h >= 220 ? 36.0f : 8.0f);

  if (request.profiles && swipe && request.three_rows) {
    room.row_gap = 12;
    room.row_height = h >= 560 ? 126.0f : 84.0f;
    room.bottom = room.row_gap + room.row_height + (h >= 560 ? 41.0f : 26.0f);
  } else if (request.profiles && tall_row && h >= 400) {
    room.row_gap = 9;
    room.row_height = 58;
    room.bottom = room.row_gap + room.row_height + 30;
    room.foot = true;
  } else if (request.profiles && h >= 400 && w >= 330) {
    room.row_height = h >= 560 ? 40.0f : 26.0f;
    room.bottom = h >= 560 ? 69.0f : 67.0f;
  } else if (request.profiles && h >= 280 && w >= 330) {
    room.row_height = 18;
    room.bottom = 46;
  }
  if (!request.profiles && h >= 280) room.bottom = 58;  // lines of text only
  room.height = std::max(0.0f, h - room.top - room.bottom);

  if (swipe) {
    room.bar_gap = 12;
    room.bar_width = kSwipeBarRoom - room.bar_gap;
    room.right = kSwipeBarRoom;
    room.width = std::max(0.0f, std::floor(0.5f * (w - room.left - kSwipeBarRoom - kSwipeEndRoom)));
    return room;
  }
  if (room.side) {
    room.bar_gap = 12;
    room.bar_width = 74;
    room.right = kPlotsGap + kPlotsLeast + 12;
    room.width = std::max(0.0f, w - room.left - room.right);
    return room;
  }
  const bool tight = w < 480;
  const float column = request.profiles ? (w >= 640 ? 48.0f : w >= 480 ? 40.0f : 0.0f) : 0.0f;
  room.bar_width = kBar + 54;
  room.overview = zoomed && request.overview && w >= 560 && room.height >= kBelowOverview + 100;
  if (room.overview) {
    room.bar_gap = kOverviewGap;
    room.right = kOverviewGap + kOverview + 15;
    room.column_width = w - room.left - room.right - kColumnGap - column >= 1.1f * room.height ? column : 0.0f;
  } else {
    room.column_width = column;
    room.bar_gap = column > 0 ? (w >= 640 ? 26.0f : 18.0f) : 14.0f;
    room.right = room.bar_gap + room.bar_width + (tight ? 4.0f : 12.0f);
  }
  if (room.column_width > 0) room.right += kColumnGap + room.column_width;
  if (tight && w - room.left - room.right < std::min(room.height, 0.6f * w)) {  // the bar alone, then nothing
    room.bar_gap = 8;
    room.bar_width = w >= 220 ? kBar : 0.0f;
    room.right = room.bar_gap + room.bar_width + (w >= 220 ? 8.0f : 0.0f);
  }
  room.width = std::max(0.0f, w - room.left - room.right);
  return room;
}

// Device pixels a cell for a window of keys × queries in an area of w × h device pixels.
struct CellSize {
  double x, y;
};
CellSize cell_size(double w, double h, double keys, double queries, double scale, bool whole) {
  const double largest = static_cast<double>(kLargestCell) * scale;
  const double size = std::min({w / keys, h / queries, largest});
  if (size >= 12 * scale) {
    const auto stretched = [&](double room) { return std::floor(std::min({room, 1.25 * size, largest}) + 1e-6); };
    return {stretched(w / keys), stretched(h / queries)};
  }
  const double down = std::floor(size + 1e-6);
  if (size >= 1 && down >= (whole ? 0.7 : 0.9) * size) return {down, down};
  const auto rounded = [size](double cells) { return std::max(1.0, std::floor(size * cells + 1e-6)) / cells; };
  return {rounded(keys), rounded(queries)};
}

Rect below(const Rect& r, float gap, float height) { return {r.x0, r.y1 + gap, r.x1, r.y1 + gap + height}; }

}  // namespace

MapLayout lay_out_map(const MapLayoutRequest& request) {
  MapLayout layout;
  const Rect& body = request.body;
  layout.pixel_scale = request.pixel_scale;
  layout.length = std::max<std::int64_t>(1, request.length);
  layout.rows = request.rows;
  layout.keys = request.keys;
  layout.window = resolved_window(request.window, layout.row_count(), layout.key_count());
  const double keys = layout.window.key1 - layout.window.key0, queries = layout.window.query1 - layout.window.query0;
  const bool whole = layout.whole();
  const double scale = request.pixel_scale;
  const auto sizes = [&](const Room& room) {
    return cell_size(std::max(1.0, static_cast<double>(room.width) * scale),
                     std::max(1.0, static_cast<double>(room.height) * scale), keys, queries, scale, whole);
  };
  Room room = room_for(request, !whole, false);
  CellSize cells = sizes(room);
  if (const Room tall = room_for(request, !whole, true); tall.foot) {
    const CellSize with = sizes(tall);
    if (with.x >= kNumberCellWidth * scale && with.y >= kNumberCellHeight * scale) {
      room = tall;
      cells = with;
    }
  }

  layout.tool_bar =
      Rect{body.x0 + measure::kPadding, body.y0 + 7, body.x1 - measure::kPadding, body.y0 + 7 + measure::kPanelControl};
  const float x0 = whole_pixel(body.x0 + room.left, scale), y0 = whole_pixel(body.y0 + room.top, scale);
  layout.area = Rect::sized(x0, y0, room.width, room.height);
  layout.cell_x = static_cast<float>(cells.x / scale);
  layout.cell_y = static_cast<float>(cells.y / scale);
  layout.map = Rect::sized(x0, y0, static_cast<float>(std::round(cells.x * keys) / scale),
                           static_cast<float>(std::round(cells.y * queries) / scale));
  const Rect& map = layout.map;
  layout.strip = {map.x0 - kStripGap - kStripWidth, map.y0, map.x0 - kStripGap, map.y1};
  if (request.pinned_strip) layout.pinned_strip = layout.strip.shifted(-kStripWidth - 2, 0);

  const float strips = request.pinned_strip ? layout.pinned_strip.x0 : layout.strip.x0;
  if (room.left >= 60) layout.query_labels = {body.x0 + 8, map.y0 - 6, strips - 9, std::min(map.y1 + 6, body.y1)};
  if (room.top >= 60) layout.key_labels = {body.x0 + 4, layout.tool_bar.y1 + 2, body.x1 - 2, map.y0};

  if (room.row_height > 0) {
    layout.row_profile = below(map, room.row_gap, room.row_height);
    layout.row_ticks = {map.x0 - 14, layout.row_profile.y1 + 3, map.x1 + 14,
                        std::min(layout.row_profile.y1 + 19, body.y1)};
    layout.row_text = {body.x0 + 8, layout.row_profile.y0 - 3, map.x0 - 16, body.y1 - 2};
    if (room.foot)
      layout.row_foot = {map.x0, layout.row_profile.y1 + 5, body.x1 - measure::kPadding, layout.row_profile.y1 + 22};
  }
  float right = map.x1;
  if (room.column_width > 0) {
    layout.column_profile = {map.x1 + kColumnGap, map.y0, map.x1 + kColumnGap + room.column_width, map.y1};
    right = layout.column_profile.x1;
  }
  const float bar_x = right + room.bar_gap;
  if (room.bar_width > 0 && map.height() >= 40) layout.bar = {bar_x, map.y0, bar_x + room.bar_width, map.y1};
  if (room.overview) {
    if (map.height() >= kBelowOverview + 60) {
      layout.overview = Rect::sized(bar_x, map.y0, kOverview, kOverview);
      layout.bar.y0 = map.y0 + kBelowOverview;
    } else if (map.height() >= kOverview) {
      layout.overview = Rect::sized(bar_x, map.y0, kOverview, kOverview);
      layout.bar = {};
    }
  }
  if (room.column_width > 0 && map.y0 - 29 >= layout.tool_bar.y1)
    layout.column_text = {layout.column_profile.x0, map.y0 - 29,
                          room.overview ? bar_x - 3 : std::max(bar_x + kBar + 4, layout.column_profile.x1), map.y0 - 3};
  const float notes_x = room.column_width > 0 ? layout.column_profile.x0 : bar_x;
  if (room.row_height > 0 && !room.side && body.x1 - notes_x >= 100 && room.row_height >= 40)
    layout.notes = {notes_x, map.y1 + 8, body.x1 - 4, room.foot ? body.y1 - 2 : layout.row_profile.y1 + 7};
  if (!request.profiles && room.bottom >= 50)
    layout.notes = {map.x0, map.y1 + 8, body.x1 - 8, std::min(body.y1 - 2, map.y1 + 58)};

  if (room.side) {
    if (request.side == MapSide::Swipe) {
      layout.side_map = Rect::sized(map.x1 + kSwipeBarRoom, map.y0, map.width(), map.height());
      layout.side_bar = {layout.side_map.x1 + 10, map.y0, std::min(layout.side_map.x1 + kSwipeEndRoom, body.x1),
                         map.y1};
      layout.side_title = {layout.side_map.x0, std::max(layout.tool_bar.y1 + 4, map.y0 - 40), layout.side_map.x1,
                           map.y0};
      layout.side = {layout.side_map.x0, layout.side_title.y0, body.x1 - 4, body.y1};
      if (room.row_height > 0)
        layout.side_below = {layout.side_map.x0, layout.row_profile.y0 - 4, layout.side_map.x1, layout.row_ticks.y1};
    } else {
      layout.side = {map.x1 + kPlotsGap, layout.tool_bar.y1 + 30, body.x1 - 12, body.y1 - 8};
    }
  }
  return layout;
}

MapWindow zoomed_window(const MapLayoutRequest& request, Vec2 pointer, double notches) {
  const MapLayout from = lay_out_map(request);
  const double n = static_cast<double>(from.row_count()), m = static_cast<double>(from.key_count());
  const double scale = request.pixel_scale;
  const bool numbers = std::pow(kWheelStep, notches) * static_cast<double>(std::min(from.cell_x, from.cell_y)) >=
                       static_cast<double>(kNumberCellWidth);
  const Room room = room_for(request, true, numbers);
  const double w = std::max(1.0, static_cast<double>(room.width) * scale),
               h = std::max(1.0, static_cast<double>(room.height) * scale);
  const double now = scale * static_cast<double>(std::min(from.cell_x, from.cell_y));
  double wanted = now * std::pow(kWheelStep, notches);
  if (wanted >= 4.0 && notches != 0.0) {
    const double nearest = std::round(wanted);
    wanted = notches > 0.0 ? std::max(nearest, std::floor(now + 1e-6) + 1.0)
                           : std::min(nearest, std::ceil(now - 1e-6) - 1.0);
  }
  const double fewest = std::min(kFewestCells, n), fewest_keys = std::min(kFewestCells, m);
  double largest = std::max(1e-9, std::min({static_cast<double>(kLargestCell) * scale, w / fewest_keys, h / fewest}));
  if (largest >= 4.0) largest = std::floor(largest + 1e-6);
  wanted = std::clamp(wanted, 1e-9, largest);
  if (notches > 0.0 && wanted <= now) return from.window;
  const double keys = std::clamp(w / wanted, fewest_keys, m), queries = std::clamp(h / wanted, fewest, n);
  if (keys >= m && queries >= n) return {};

  MapLayoutRequest to_request = request;
  to_request.window = {0.0, queries, 0.0, keys};
  const MapLayout to = lay_out_map(to_request);
  const double query = from.query_at(pointer.y), key = from.key_at(pointer.x);
  const double query0 = query - static_cast<double>((pointer.y - to.map.y0) / to.cell_y);
  const double key0 = key - static_cast<double>((pointer.x - to.map.x0) / to.cell_x);
  const double q0 = std::clamp(query0, 0.0, n - queries), k0 = std::clamp(key0, 0.0, m - keys);
  return {q0, q0 + queries, k0, k0 + keys};
}

}  // namespace headroom
