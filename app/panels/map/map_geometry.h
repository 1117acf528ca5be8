// Where the parts of the map panel lie, which cell is where, zooming and panning, and which texels of which tile go
// where. Pure functions of plain values in logical pixels; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/plot/geometry.h"
#include "app/session/state.h"

namespace headroom {

inline constexpr double kFewestCells = 8.0;   // no zoom shows fewer
inline constexpr float kLargestCell = 64.0f;  // logical pixels; maps of a few tokens stay small
inline constexpr float kNumberCellWidth = 22.0f, kNumberCellHeight = 18.0f;  // cells from this size hold numbers
inline constexpr float kSignedNumberCellWidth = 26.0f;                       // "−.54" is wider than ".54"
inline constexpr float kStripWidth = 7.0f, kStripGap = 3.0f;
inline constexpr double kWheelStep = 1.25;
inline constexpr std::int64_t kLongMap =
    16384;  // tokens from which the side panel "Where you are" has something to say

// The window as the map shows it: inside [0, length], at least kFewestCells (or all) each way; the whole map if empty.
[[nodiscard]] MapWindow resolved_window(const MapWindow& window, std::int64_t length);
[[nodiscard]] bool shows_whole(const MapWindow& resolved, std::int64_t length);
// The same of a map of `rows` queries and `keys` keys.
[[nodiscard]] MapWindow resolved_window(const MapWindow& window, std::int64_t rows, std::int64_t keys);
[[nodiscard]] bool shows_whole(const MapWindow& resolved, std::int64_t rows, std::int64_t keys);

enum class MapSide : std::uint8_t { None, Swipe, Plots };  // beside the map: first | second, or plots of the layer's λ

struct MapLayoutRequest {
  Rect body;                        // of the panel, below its title
  double pixel_scale = 1.0;         // device pixels per logical pixel
  std::int64_t length = 1;          // positions of the run
  std::int64_t rows = 0, keys = 0;  // of the map; 0: all positions
  MapWindow window;                 // as in the state
  MapSide side = MapSide::None;
  bool three_rows = false;    // profiles of a¹, λ·a² and w
  bool profiles = true;       // rows and columns can be had at all
  bool pinned_strip = false;  // a second strip: a pinned key out of view
  bool overview = true;       // wanted when zoomed in
  float index_width = 0.0f;   // of the longest query index; the label room grows for it
};

// Empty rectangles are parts that found no room.
struct MapLayout {
  Rect tool_bar;
  Rect area;  // what the map may take
  Rect map, strip, pinned_strip;
  Rect key_labels, query_labels;
  Rect row_profile, row_text, row_ticks, row_foot;
  Rect column_profile, column_text;
  Rect bar;  // with its labels, the title above it
  Rect overview;
  Rect notes;  // lines of text below the bar
  Rect side, side_map, side_bar, side_below, side_title;
  MapWindow window;                    // resolved
  float cell_x = 1.0f, cell_y = 1.0f;  // logical pixels per cell
  double pixel_scale = 1.0;
  std::int64_t length = 1;
  std::int64_t rows = 0, keys = 0;  // 0: as length says

  [[nodiscard]] std::int64_t row_count() const { return rows > 0 ? rows : length; }
  [[nodiscard]] std::int64_t key_count() const { return keys > 0 ? keys : length; }
  [[nodiscard]] float key_pixel(double key) const;      // of a key's left edge
  [[nodiscard]] float query_pixel(double query) const;  // of a query's upper edge
  [[nodiscard]] double key_at(float x) const;           // fractions of cells
  [[nodiscard]] double query_at(float y) const;
  [[nodiscard]] Rect cell_rect(std::int64_t query, std::int64_t key) const;  // not clipped
  // The cell under a point of the map; nothing outside of it.
  struct Cell {
    std::int64_t query, key;
  };
  [[nodiscard]] std::optional<Cell> cell_under(Vec2 point) const;
  [[nodiscard]] bool sees_key(std::int64_t key) const;  // its centre is in the window
  [[nodiscard]] bool sees_query(std::int64_t query) const;
  [[nodiscard]] double device_pixels_per_cell() const;  // the smaller of the two
  [[nodiscard]] bool exact() const { return device_pixels_per_cell() >= 1.0 - 1e-6; }
  [[nodiscard]] bool numbers() const { return cell_x >= kNumberCellWidth && cell_y >= kNumberCellHeight; }
  [[nodiscard]] bool whole() const { return shows_whole(window, row_count(), key_count()); }
};

// Half-open ranges of cells that are at least partly visible.
struct CellRange {
  std::int64_t query0 = 0, query1 = 0, key0 = 0, key1 = 0;
  [[nodiscard]] std::int64_t count() const { return (query1 - query0) * (key1 - key0); }
};
[[nodiscard]] CellRange visible_cells(const MapLayout& layout);
// The window after the map was dragged by `pixels`.
[[nodiscard]] MapWindow panned_window(const MapLayout& layout, Vec2 pixels);
// The window moved so that the cell is in its middle, as far as the edges allow.
[[nodiscard]] MapWindow centred_window(const MapWindow& resolved, double query, double key, std::int64_t length);

// What of a tile is drawn for a wanted tile: `source` in texels of the tile at hand (which may be coarser), `target` in
// pixels, clipped to the map. Nothing where they do not meet.
struct TilePiece {
  Rect target, source;
};
[[nodiscard]] std::optional<TilePiece> tile_piece(const MapLayout& layout, const TileKey& wanted,
                                                  const TileKey& at_hand);

// Cells [begin, end) of a tile along its columns (rows).
struct TileSpan {
  double begin, end;
};
[[nodiscard]] TileSpan tile_columns(const TileKey& key);
[[nodiscard]] TileSpan tile_rows(const TileKey& key);

[[nodiscard]] TileView tile_view(const MapLayout& layout);

// The causal boundary in the map: nothing where it is out of view. `offset`: keys the boundary lies right of the
// diagonal (1 for the causal mask, 1 − window for the far edge of a sliding window).
struct Segment {
  Vec2 from, to;
};
[[nodiscard]] std::vector<Segment> diagonal_segments(const MapLayout& layout, std::int64_t offset);

// The lens: an odd number of cells each way in a masked corner, whole logical pixels each; nothing where cells are
// larger than 4 pixels or no corner has room. `causal_offset` as above (1).
struct LensLayout {
  Rect frame;  // 1 pixel around the cells
  std::int32_t cells = 0;
  float cell = 0.0f;
  Rect caption;
};
[[nodiscard]] std::optional<LensLayout> lay_out_lens(const MapLayout& layout, bool causal);

// A run of cells per device pixel along one axis: entry with the largest magnitude in [low, high) pixels of `extent`.
// Not-a-number where no entry is finite. For profiles and strips: `values` are one row or column of the whole map.
[[nodiscard]] std::vector<float> pool_to_pixels(std::span<const float> values, double begin, double end,
                                                std::size_t pixels);

}  // namespace headroom
