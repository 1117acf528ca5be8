// Where the parts of the what-if and the compare panel lie, and how maps that share a window are zoomed. Pure functions
// of plain values in logical pixels; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "app/panels/map/map_geometry.h"

namespace headroom {

// Positions of a run, which the tiles of its maps are counted in, and queries and keys of a map; 0: all positions.
struct MapExtent {
  std::int64_t length = 1, rows = 0, keys = 0;
  [[nodiscard]] std::int64_t row_count() const { return rows > 0 ? rows : length; }
  [[nodiscard]] std::int64_t key_count() const { return keys > 0 ? keys : length; }
};

// A map of `area` at most, its upper left corner there, with the window fitted into it: whole pixels a cell where that
// costs little. Only area, map, window, cells, length, rows and keys are set.
[[nodiscard]] MapLayout linked_map(Rect area, const MapWindow& window, const MapExtent& extent, double pixel_scale);
[[nodiscard]] inline MapLayout linked_map(Rect area, const MapWindow& window, std::int64_t length, double pixel_scale) {
  return linked_map(area, window, MapExtent{length}, pixel_scale);
}
// The window after `notches` of the wheel at a point of the map: a smaller or larger part of the same shape about it.
[[nodiscard]] MapWindow linked_zoom(const MapLayout& layout, Vec2 pointer, double notches);

struct PairLayoutRequest {
  Rect body;  // of the panel, below its title
  double pixel_scale = 1.0;
  std::int64_t length = 1;
  std::int64_t rows = 0, keys = 0;  // of the maps; 0: all positions
  MapWindow window;
  bool single = false;       // one map: swipe, flip, difference
  float index_width = 0.0f;  // of the longest query index
  [[nodiscard]] MapExtent extent() const { return {length, rows, keys}; }
};

// Maps that found no room are empty, and so are other parts.
struct PairLayout {
  Rect tool_bar;
  MapLayout first, second;     // what-if: before and after; compare: the small A and B
  MapLayout large;             // the one map, or the difference beside A and B
  Rect bar;                    // of the last map of the row
  Rect small_title;            // compare: above the small maps
  Rect first_row, second_row;  // what-if: profiles below the maps
  Rect row_text;
  // compare: below and right of the large map, both runs and what they differ by, then their numbers
  Rect row, row_difference, row_ticks, row_numbers;
  Rect column, column_difference, column_numbers;
  Rect plot, second_plot;  // below
};
[[nodiscard]] PairLayout lay_out_what_if(const PairLayoutRequest& request);
[[nodiscard]] PairLayout lay_out_compare(const PairLayoutRequest& request);

// The masked upper right corner of a causal map where nothing is drawn; empty if the window shows no such corner of
// this size.
[[nodiscard]] Rect masked_corner(const MapLayout& layout, bool causal, float width, float height);
// Captions stand there, at most so many lines of this height and least width, with a ground of their own.
inline constexpr std::size_t kCaptionLines = 4;
inline constexpr float kCaptionLine = 16.0f, kCaptionLeast = 8.0f;
// As far down as captions may reach, over the map's whole width; empty where the map has no room for one.
[[nodiscard]] Rect caption_band(const MapLayout& layout, bool causal);

}  // namespace headroom
