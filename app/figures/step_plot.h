// Plots of series by step as values: up to millions of steps, drawn from their smallest and largest value per pixel
// column, so that no spike is lost; what lies off the axis is said. They know no window. Layout is pure and safe from
// any thread; drawing as the painter says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/plot/plot_frame.h"
#include "app/plot/series.h"
#include "core/training/step_series.h"

namespace headroom {

struct StepCurve {
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

struct StepPlot {
  std::string id, title, hint;        // hint: right of the title, elided
  std::vector<StepCurve> curves;      // later ones over earlier ones
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
[[nodiscard]] Range step_range(const StepPlot& plot, const Axis& steps);

// What of a series exceeds the axis: the highest value and its step; empty: nothing does.
struct OffAxis {
  float value = 0.0f;
  std::int64_t step = 0;
  std::vector<float> pixels;  // along x, at least 14 pixels apart
};
[[nodiscard]] std::optional<OffAxis> off_axis(const PlotFrame& frame, const std::vector<StepCurve>& curves);

// Drawing, in this order; `pieces` are those of the curve.
void draw_step_band(Painter& painter, const PlotFrame& frame, const StepCurve& curve);
void draw_step_curve(Painter& painter, const PlotFrame& frame, const StepCurve& curve,
                     const std::vector<std::vector<Vec2>>& pieces, const Theme& theme);
void draw_step_points(Painter& painter, const PlotFrame& frame, const StepPlot& plot);
// Above the axes: the steps at which something was kept, and what exceeds the axis.
void draw_step_marks(Painter& painter, const PlotFrame& frame, const std::vector<std::int64_t>& kept,
                     const std::optional<OffAxis>& off, const Theme& theme);
// Each curve's value at the step, in its colour, where the axes show it.
void draw_step_values(Painter& painter, const PlotFrame& frame, const StepPlot& plot, std::int64_t step,
                      const Theme& theme);
// The names that stand at the ends of curves.
[[nodiscard]] std::vector<EndLabel> step_ends(const StepPlot& plot);

}  // namespace headroom
