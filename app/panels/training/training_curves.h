// One plot of the training view: series of up to millions of steps, drawn from their smallest and largest value per
// pixel column, so that no spike is lost; what lies off the axis is said. Layout is pure; drawing on the main thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel.h"
#include "app/plot/plot_frame.h"
#include "core/training/step_series.h"

namespace headroom {

struct TrainingCurve {
  const StepSeries* series = nullptr;
  std::shared_ptr<const void> owner;  // keeps the series while what was worked out from it is kept
  Color color;
  float width = 1.0f;
  bool dotted = false;
  std::string name = {};                                       // at its end; empty: none
  std::optional<std::int64_t> diverged = {};                   // ✕ at its end
  const StepSeries *band_low = nullptr, *band_high = nullptr;  // a wash between them
  bool scales = true;                                          // counts for the axis; what exceeds it is marked
};

struct TrainingPlot {
  std::string id, title, hint;        // hint: right of the title, elided
  std::vector<TrainingCurve> curves;  // later ones over earlier ones
  bool log_y = false;                 // where all values are positive
  std::optional<Range> natural = {};  // the axis, whatever the values are
  std::optional<double> line = {};    // dashed: the gradient's clip, ε
  std::string line_name = {};
  std::vector<Vec2> points = {};  // step, value: rings, of the film strip's runs
  Color points_color = {};
};

// Lowest and highest value of each pixel column of the frame's x axis, as pixels: one point where they are the same.
// Where there are fewer values than columns every value is a point. Broken where a value is not finite, or not positive
// on a log axis. On a log x axis step 0 has no place.
[[nodiscard]] std::vector<std::vector<Vec2>> column_pieces(const PlotFrame& frame, const StepSeries& series);

// The axis of a plot: its natural one, else from the lowest value to what all but the highest 2 % of columns reach.
[[nodiscard]] Range training_range(const TrainingPlot& plot, const Axis& steps);

// What of a series exceeds the axis: the highest value and its step; empty: nothing does.
struct OffAxis {
  float value = 0.0f;
  std::int64_t step = 0;
  std::vector<float> pixels;  // along x, at least 14 pixels apart
};
[[nodiscard]] std::optional<OffAxis> off_axis(const PlotFrame& frame, const std::vector<TrainingCurve>& curves);

// The x axis that all plots share, in steps.
struct StepAxis {
  double low = 0.0, high = 1.0;
  bool log = false;
};
[[nodiscard]] StepAxis step_axis(const State& state);

// Draws into `area`, with one cursor: the pointer's step goes to context.hover.step, a press or drag to the command
// training.step, the wheel to training.zoom.
void draw_training_plot(PanelContext& context, Rect area, const TrainingPlot& plot);

}  // namespace headroom
