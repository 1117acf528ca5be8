// The row and the column of the crosshair beside the map. Main thread only.
#pragma once

#include <cstdint>
#include <span>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"

namespace headroom {

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

}  // namespace headroom
