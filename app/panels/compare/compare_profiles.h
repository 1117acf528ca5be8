// Rows and columns of both runs on one axis. Main thread only.
#pragma once

#include <vector>

#include "app/panels/compare/compare_geometry.h"
#include "app/panels/compare/compare_maps.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/panel.h"

namespace headroom {

// Both rows (or columns) on one axis and the map's scale, of each key the shorter bar before the longer; either may be
// null. Nothing where the area is empty.
struct PairBars {
  Rect area;
  const std::vector<float>* a = nullptr;
  const std::vector<float>* b = nullptr;
  ColorScale scale;
  Color color_a, color_b;
  bool column = false;
};
void draw_pair_bars(PanelContext& context, const MapLayout& layout, const PairBars& bars);
// The row and the column of the crosshair in both runs and what they differ by, with sums and norms in numbers.
void draw_pair_profiles(PanelContext& context, const PairLayout& layout, const MapPair& pair, const MapMarks& marks);

}  // namespace headroom
