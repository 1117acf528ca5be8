#include "app/panels/map/map_geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace headroom {
namespace {

// [low, high) moved and widened so that it lies inside [0, n] and holds at least `fewest`.
void fit_range(double& low, double& high, double n, double fewest) {
  if (!std::isfinite(low) || !std::isfinite(high)) {
    low = 0.0;
    high = n;
  }
  if (high < low) std::swap(low, high);
  const double size = std::clamp(high - low, std::min(fewest, n), n);
  const double centre = 0.5 * (low + high);
  if (size != high - low) {
    low = centre - 0.5 * size;
    high = low + size;
  }
  if (low < 0.0) {
    low = 0.0;
    high = size;
  }
  if (high > n) {
    high = n;
    low = n - size;
  }
}

// Clips the part of a line x = key, y = query with key − query = offset to the window; in cells.
std::optional<std::pair<double, double>> diagonal_range(const MapWindow& w, double offset) {
  const double from = std::max(w.query0, w.key0 - offset), to = std::min(w.query1, w.key1 - offset);
  if (!(to > from)) return {};
  return std::pair{from, to};
}

}  // namespace

MapWindow resolved_window(const MapWindow& window, std::int64_t rows, std::int64_t keys) {
  const double n = static_cast<double>(std::max<std::int64_t>(1, rows));
  const double m = static_cast<double>(std::max<std::int64_t>(1, keys));
  if (window.whole()) return {0.0, n, 0.0, m};
  MapWindow out = window;
  fit_range(out.query0, out.query1, n, kFewestCells);
  fit_range(out.key0, out.key1, m, kFewestCells);
  return out;
}
MapWindow resolved_window(const MapWindow& window, std::int64_t length) {
  return resolved_window(window, length, length);
}

bool shows_whole(const MapWindow& resolved, std::int64_t rows, std::int64_t keys) {
  return resolved.query0 <= 0.0 && resolved.key0 <= 0.0 && resolved.query1 >= static_cast<double>(rows) &&
         resolved.key1 >= static_cast<double>(keys);
}
bool shows_whole(const MapWindow& resolved, std::int64_t length) { return shows_whole(resolved, length, length); }

float MapLayout::key_pixel(double key) const {
  return static_cast<float>(static_cast<double>(map.x0) + (key - window.key0) * static_cast<double>(cell_x));
}
float MapLayout::query_pixel(double query) const {
  return static_cast<float>(static_cast<double>(map.y0) + (query - window.query0) * static_cast<double>(cell_y));
}
double MapLayout::key_at(float x) const {
  return window.key0 + static_cast<double>(x - map.x0) / static_cast<double>(cell_x);
}
double MapLayout::query_at(float y) const {
  return window.query0 + static_cast<double>(y - map.y0) / static_cast<double>(cell_y);
}

Rect MapLayout::cell_rect(std::int64_t query, std::int64_t key) const {
  const double q = static_cast<double>(query), k = static_cast<double>(key);
  return {key_pixel(k), query_pixel(q), key_pixel(k + 1), query_pixel(q + 1)};
}

std::optional<MapLayout::Cell> MapLayout::cell_under(Vec2 point) const {
  if (!map.contains(point)) return {};
  const auto inside = [](double value, std::int64_t count) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(value)), 0, count - 1);
  };
  return Cell{inside(query_at(point.y), row_count()), inside(key_at(point.x), key_count())};
}

bool MapLayout::sees_key(std::int64_t key) const {
  const double centre = static_cast<double>(key) + 0.5;
  return centre >= window.key0 && centre < window.key1;
}
bool MapLayout::sees_query(std::int64_t query) const {
  const double centre = static_cast<double>(query) + 0.5;
  return centre >= window.query0 && centre < window.query1;
}

double MapLayout::device_pixels_per_cell() const {
  const double pixels = pixel_scale * static_cast<double>(std::min(cell_x, cell_y));
  const double whole_pixels = std::round(pixels);  // cell sizes are floats: 1/1.5 · 1.5
  return whole_pixels >= 1.0 && std::abs(pixels - whole_pixels) < 1e-5 * whole_pixels ? whole_pixels : pixels;
}

CellRange visible_cells(const MapLayout& layout) {
  const MapWindow& w = layout.window;
  const auto low = [&](double v, std::int64_t count) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(v + 1e-9)), 0, count);
  };
  const auto high = [&](double v, std::int64_t count) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(v - 1e-9)), 0, count);
  };
  const std::int64_t rows = layout.row_count(), keys = layout.key_count();
  return {low(w.query0, rows), high(w.query1, rows), low(w.key0, keys), high(w.key1, keys)};
}

MapWindow panned_window(const MapLayout& layout, Vec2 pixels) {
  const double n = static_cast<double>(layout.row_count()), m = static_cast<double>(layout.key_count());
  const MapWindow& w = layout.window;
  const double queries = w.query1 - w.query0, keys = w.key1 - w.key0;
  const double q0 =
      std::clamp(w.query0 - static_cast<double>(pixels.y) / static_cast<double>(layout.cell_y), 0.0, n - queries);
  const double k0 =
      std::clamp(w.key0 - static_cast<double>(pixels.x) / static_cast<double>(layout.cell_x), 0.0, m - keys);
  return {q0, q0 + queries, k0, k0 + keys};
}

MapWindow centred_window(const MapWindow& resolved, double query, double key, std::int64_t length) {
  const double n = static_cast<double>(length);
  const double queries = resolved.query1 - resolved.query0, keys = resolved.key1 - resolved.key0;
  const double q0 = std::clamp(query - 0.5 * queries, 0.0, std::max(0.0, n - queries));
  const double k0 = std::clamp(key - 0.5 * keys, 0.0, std::max(0.0, n - keys));
  return {q0, q0 + queries, k0, k0 + keys};
}

TileSpan tile_columns(const TileKey& key) {
  const double size = std::ldexp(static_cast<double>(kTileSize), key.level);
  return {static_cast<double>(key.column) * size, static_cast<double>(key.column + 1) * size};
}
TileSpan tile_rows(const TileKey& key) {
  const double size = std::ldexp(static_cast<double>(kTileSize), key.level);
  return {static_cast<double>(key.row) * size, static_cast<double>(key.row + 1) * size};
}

std::optional<TilePiece> tile_piece(const MapLayout& layout, const TileKey& wanted, const TileKey& at_hand) {
  const MapWindow& w = layout.window;
  const TileSpan columns = tile_columns(wanted), rows = tile_rows(wanted);
  const TileSpan hand_columns = tile_columns(at_hand), hand_rows = tile_rows(at_hand);
  const double n = static_cast<double>(layout.row_count()), m = static_cast<double>(layout.key_count());
  const double k0 = std::max({columns.begin, hand_columns.begin, w.key0}),
               k1 = std::min({columns.end, hand_columns.end, w.key1, m});
  const double q0 = std::max({rows.begin, hand_rows.begin, w.query0}),
               q1 = std::min({rows.end, hand_rows.end, w.query1, n});
  if (!(k1 > k0) || !(q1 > q0)) return {};
  const double texel = std::ldexp(1.0, at_hand.level);
  TilePiece piece;
  piece.target =
      Rect{layout.key_pixel(k0), layout.query_pixel(q0), layout.key_pixel(k1), layout.query_pixel(q1)}.intersected(
          layout.map);
  piece.source = {
      static_cast<float>((k0 - hand_columns.begin) / texel), static_cast<float>((q0 - hand_rows.begin) / texel),
      static_cast<float>((k1 - hand_columns.begin) / texel), static_cast<float>((q1 - hand_rows.begin) / texel)};
  if (piece.target.empty()) return {};
  return piece;
}

TileView tile_view(const MapLayout& layout) {
  const MapWindow& w = layout.window;
  return {w.query0, w.query1, w.key0, w.key1, layout.device_pixels_per_cell(), layout.length};
}

std::vector<Segment> diagonal_segments(const MapLayout& layout, std::int64_t offset) {
  std::vector<Segment> out;
  const double by = static_cast<double>(offset);
  if (std::min(layout.cell_x, layout.cell_y) < 6.0f) {
    if (const auto range = diagonal_range(layout.window, by))
      out.push_back({{layout.key_pixel(range->first + by), layout.query_pixel(range->first)},
                     {layout.key_pixel(range->second + by), layout.query_pixel(range->second)}});
    return out;
  }
  // Large cells: the steps of the boundary between key − query < offset and ≥ offset.
  const CellRange cells = visible_cells(layout);
  const auto clip = [&](Segment s) {
    const Rect& m = layout.map;
    s.from.x = std::clamp(s.from.x, m.x0, m.x1), s.to.x = std::clamp(s.to.x, m.x0, m.x1);
    s.from.y = std::clamp(s.from.y, m.y0, m.y1), s.to.y = std::clamp(s.to.y, m.y0, m.y1);
    if (s.from != s.to) out.push_back(s);
  };
  for (std::int64_t query = cells.query0; query < cells.query1; ++query) {
    const std::int64_t edge = query + offset;
    if (edge >= cells.key0 && edge <= cells.key1 && edge > 0 && edge < layout.key_count())
      clip({{layout.key_pixel(static_cast<double>(edge)), layout.query_pixel(static_cast<double>(query))},
            {layout.key_pixel(static_cast<double>(edge)), layout.query_pixel(static_cast<double>(query + 1))}});
    if (edge >= cells.key0 && edge < cells.key1 && query + 1 < layout.row_count())
      clip({{layout.key_pixel(static_cast<double>(edge)), layout.query_pixel(static_cast<double>(query + 1))},
            {layout.key_pixel(static_cast<double>(edge + 1)), layout.query_pixel(static_cast<double>(query + 1))}});
  }
  return out;
}

std::optional<LensLayout> lay_out_lens(const MapLayout& layout, bool causal) {
  if (!causal || std::max(layout.cell_x, layout.cell_y) > 4.0f) return {};
  const Rect& map = layout.map;
  const float room = 0.36f * std::min(map.width(), map.height());
  for (const std::int32_t cells : {17, 15, 13, 11})
    for (const float cell : {10.0f, 9.0f, 8.0f}) {
      const float side = static_cast<float>(cells) * cell;
      if (side > room || layout.length <= cells) continue;
      LensLayout lens;
      lens.cells = cells;
      lens.cell = cell;
      lens.frame = Rect::sized(map.x1 - 10 - side - 2, map.y0 + 9, side + 2, side + 2);
      lens.caption = {lens.frame.x0, lens.frame.y1 + 3, lens.frame.x1, lens.frame.y1 + 19};
      // Its lower left corner is the one nearest to the diagonal.
      if (layout.key_at(lens.frame.x0 - 6) > layout.query_at(lens.caption.y1 + 2) + 1.0) return lens;
    }
  return {};
}

std::vector<float> pool_to_pixels(std::span<const float> values, double begin, double end, std::size_t pixels) {
  std::vector<float> out(pixels, std::numeric_limits<float>::quiet_NaN());
  if (pixels == 0 || !(end > begin)) return out;
  const double step = (end - begin) / static_cast<double>(pixels);
  const std::int64_t n = static_cast<std::int64_t>(values.size());
  for (std::size_t p = 0; p < pixels; ++p) {
    const double from = begin + step * static_cast<double>(p), to = from + step;
    std::int64_t i0 = 0, i1 = 0;
    if (step <= 1.0) {
      i0 = static_cast<std::int64_t>(std::floor(0.5 * (from + to)));
      i1 = i0 + 1;
    } else {
      i0 = static_cast<std::int64_t>(std::floor(from + 1e-9));
      i1 = static_cast<std::int64_t>(std::ceil(to - 1e-9));
    }
    for (std::int64_t i = std::max<std::int64_t>(0, i0); i < std::min(n, i1); ++i) {
      const float v = values[static_cast<std::size_t>(i)];
      if (std::isnan(v)) continue;
      if (std::isnan(out[p]) || std::abs(v) > std::abs(out[p])) out[p] = v;
    }
  }
  return out;
}

}  // namespace headroom
