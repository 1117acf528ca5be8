// Labels of queries and keys round the map, the texts and curves of its profiles, its colour bar. Main thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/panels/map_cells.h"

namespace headroom {

// What the labels point out.
struct MapMarks {
  std::optional<std::int64_t> hovered_query, hovered_key, pinned_query, pinned_key;
  [[nodiscard]] std::optional<std::int64_t> query() const { return hovered_query ? hovered_query : pinned_query; }
  [[nodiscard]] std::optional<std::int64_t> key() const { return hovered_key ? hovered_key : pinned_key; }
};

// Keys that may be labelled, most important first: hovered, pinned, key 0, then of every 8 pixels the key that receives
// most, in that order. `strip_x`, `pinned_x`: where key 0 and a pinned key out of view stand; NaN: nowhere.
struct KeyCandidate {
  std::int64_t key = 0;
  float x = 0.0f;
  bool strong = false;
};
[[nodiscard]] std::vector<KeyCandidate> key_candidates(const MapLayout& layout, const MapMarks& marks,
                                                       std::span<const float> received);
void draw_key_labels(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const MapMarks& marks);
void draw_query_labels(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                       const MapMarks& marks);
// Width of the longest index beside the map.
[[nodiscard]] float query_index_width(const TextMeasure& measure, std::int64_t length);

// Bars of one row or column of a map, along what is in view of it: of one device pixel, or one a cell where cells are
// large.
struct ProfileBars {
  Rect area;
  float zero = 0.0f;  // y of a row's baseline, x of a column's
  ColorScale scale;   // lengths are positions on it: the profile has the map's scale
  Color positive, negative;
  const ColorScale* colours = nullptr;  // a row's bars in the colours of the map
};
void draw_row_bars(PanelContext& context, const MapLayout& layout, std::span<const float> row, const ProfileBars& bars,
                   bool numbers = false);
void draw_column_bars(PanelContext& context, const MapLayout& layout, std::span<const float> column,
                      const ProfileBars& bars);
// Ticks of keys at the upper edge of `area` with their indices below, none left of `least_x`.
void draw_key_ticks(PanelContext& context, const MapLayout& layout, Rect area, float least_x);

// The row of the crosshair below the map, and the numbers of it. Differential heads with room show a¹, λ·a² and w.
struct RowShown {
  std::int64_t query = -1;
  RowNumbers numbers;
  bool there = false;  // its values have arrived
};
RowShown draw_row_profile(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                          const MapMarks& marks, const ColorScale& scale, bool three);
void draw_column_profile(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                         const MapMarks& marks, const ColorScale& scale);
// The bar: its ends are dragged to change the range, a double click makes it automatic.
void draw_map_bar(PanelContext& context, Rect outer, const MapRange& range, const std::string& symbol, bool editable);

}  // namespace headroom
