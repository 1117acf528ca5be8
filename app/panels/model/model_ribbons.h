// Quantities by layer as ribbons: median, quartiles and extremes of the heads of each layer. The layout is pure;
// drawing on the main thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "app/plot/plot_frame.h"
#include "app/plot/series.h"

namespace headroom {

struct Ribbon {
  std::vector<double> layers, low, lower, median, upper, high;  // per layer; NaN where it is not computed
};
[[nodiscard]] Ribbon make_ribbon(const RunSnapshot& run, const HeadColumn& column);

// The ribbon with its median on a ground with grid lines; the axes are left to the caller. The frame, empty where there
// is no room.
PlotFrame draw_ribbon(PanelContext& context, Rect area, const Ribbon& ribbon, Range range, Color color,
                      const PlotRoom& room, std::span<const ReferenceLine> lines, float least_gap = 30.0f);

// The quantities that are shown, those that have values first.
[[nodiscard]] std::vector<std::string> ribbon_quantities(const RunSnapshot& run, std::size_t count);

// As many as fit, in `columns` columns.
void draw_ribbons(PanelContext& context, RunCache& memory, Rect area, std::size_t columns);

}  // namespace headroom
