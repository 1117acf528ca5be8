// One plot of the training view (figures/step_plot.h) with the pointer and the cursor that all of them share. Main
// thread only.
#pragma once

#include "app/figures/step_plot.h"
#include "app/panels/panel.h"

namespace headroom {

// The x axis that all plots share, in steps.
struct StepAxis {
  double low = 0.0, high = 1.0;
  bool log = false;
};
[[nodiscard]] StepAxis step_axis(const State& state);

// Draws into `area`, with one cursor: the pointer's step goes to context.hover.step, a press or drag to the command
// training.step, the wheel to training.zoom.
void draw_training_plot(PanelContext& context, Rect area, const StepPlot& plot);

}  // namespace headroom
