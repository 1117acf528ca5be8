#include "app/panels/training/training_curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/panels/parts/kept.h"
#include "app/panels/training/training_parts.h"
#include "app/plot/series.h"
#include "core/base/format.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kTitleRow = 18.0f;  // above a plot
constexpr double kZoomPerNotch = 1.25;

// Curves in pixels are worked out again only where the data, the axes or the room are others: not for a cursor that
// moves.
const std::vector<std::vector<Vec2>>& pieces_of(Ui& ui, const std::string& id, const PlotFrame& frame,
                                                const StepCurve& curve) {
  const std::tuple of(curve.owner, curve.series, frame.inner,
                      std::array{frame.x.low, frame.x.high, frame.y.low, frame.y.high}, frame.x.log, frame.y.log);
  return kept_for(ui.kept_value(id), of, [&] { return column_pieces(frame, *curve.series); });
}

// What the axis of a plot follows from, and what exceeds it: likewise.
struct KeptRange {
  Range range;
  std::optional<OffAxis> off = {};
  bool fresh = true;  // what exceeds it is not known
};

KeptRange& range_of_plot(Ui& ui, const StepPlot& plot, const Axis& steps) {
  std::vector<std::pair<const StepSeries*, std::shared_ptr<const void>>> series;
  for (const StepCurve& curve : plot.curves) series.emplace_back(curve.series, curve.owner);
  const std::tuple of(std::move(series), plot.points, std::array{steps.low, steps.high}, steps.log,
                      std::array{steps.from, steps.to}, plot.line);
  return kept_for(ui.kept_value("range " + plot.id), of, [&] { return KeptRange{step_range(plot, steps)}; });
}

void draw_cursor(PanelContext& context, const PlotFrame& frame, const StepPlot& plot) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  const DataClip clip(painter, {frame.inner.x0 - 5.0f, frame.inner.y0, frame.inner.x1 + 5.0f, frame.inner.y1});
  const auto line = [&](std::int64_t step, Color color) -> std::optional<float> {
    const auto at = static_cast<double>(step);
    if ((frame.x.log && at <= 0.0) || at < frame.x.low || at > frame.x.high) return {};
    const float x = frame.x.pixel(at);
    painter.line({x, frame.inner.y0}, {x, frame.inner.y1}, color, 1.0f);
    return x;
  };
  if (state.hover.step) line(*state.hover.step, theme.text3);
  const std::int64_t step = state.training_step();
  if (line(step, theme.accent)) draw_step_values(painter, frame, plot, step, theme);
}

void take_pointer(PanelContext& context, const PlotFrame& frame, const StepPlot& plot) {
  Ui& ui = context.ui;
  const State& state = context.state;
  const Interaction hit = ui.interact("plot " + plot.id, frame.inner, Cursor::Crosshair);
  const auto step_at = [&](float x) {
    const double value = frame.x.value(std::clamp(x, frame.inner.x0, frame.inner.x1));
    return std::clamp<std::int64_t>(std::llround(value), 0, state.last_training_step());
  };
  if (hit.hovered || hit.held) context.hover.step = step_at(ui.input.pointer.x);
  if (hit.double_clicked) {
    ui.run("training.zoom all");
  } else if ((hit.held || hit.pressed) && step_at(ui.input.pointer.x) != state.training_step()) {
    ui.run("training.step " + std::to_string(step_at(ui.input.pointer.x)));
  }
  if (hit.wheel != 0.0f) {
    // The step under the pointer stays where it is.
    const double factor = std::pow(kZoomPerNotch, -static_cast<double>(hit.wheel));
    const double share = static_cast<double>((ui.input.pointer.x - frame.inner.x0) / frame.inner.width());
    const bool log = frame.x.log;
    const double a = log ? std::log(frame.x.low) : frame.x.low, b = log ? std::log(frame.x.high) : frame.x.high;
    const double at = a + share * (b - a), span = (b - a) * factor;
    double low = at - share * span, high = at + (1.0 - share) * span;
    if (log) low = std::exp(low), high = std::exp(high);
    low = std::max(0.0, std::floor(low));
    high = std::min(static_cast<double>(state.last_training_step()), std::ceil(high));
    if (log && low <= 1.0) low = 0.0;
    if (high - low >= 4.0) ui.run(format("training.zoom %.0f %.0f", low, high));
  }
  ui.context_menu("menu " + plot.id, frame.inner, [&] {
    const TrainingView& view = state.view.training;
    return std::vector<MenuItem>{
        {"Steps on a linear axis", "", "training.x linear", !view.log_steps, false, {}},
        {"Steps on a log axis", "", "training.x log", view.log_steps, false, {}},
        {"Each seed", "", "training.seeds each", !view.seed_range, true, {}},
        {"Seeds as their range", "", "training.seeds range", view.seed_range, false, {}},
        {"All steps", "", "training.zoom all", false, true, {}},
        {"Export the curves as a figure…", "", "figure.screen map", false, true, {}},
    };
  });
}

}  // namespace

StepAxis step_axis(const State& state) {
  const TrainingView& view = state.view.training;
  StepAxis axis{0.0, static_cast<double>(std::max<std::int64_t>(1, state.last_training_step())), view.log_steps};
  if (view.range && view.range->first < axis.high) {
    axis.low = view.range->first;
    axis.high = std::min(axis.high, view.range->second);
  }
  if (axis.log) {
    axis.low = std::max(1.0, axis.low);
    axis.high = std::max(axis.high, axis.low + 1.0);
  }
  return axis;
}

void draw_training_plot(PanelContext& context, Rect area, const StepPlot& plot) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Rect title = area.cut_top(kTitleRow);
  const float named = ui.label_at(title.x0, title.centre_y(), plot.title, theme.plot_title(), title.width());
  const float hint_room = title.width() - named - 14.0f;
  if (hint_room > 60.0f)
    ui.label_at(title.x1, title.centre_y(), plot.hint, theme.hint(), hint_room, Painter::Align::Right);

  const std::vector<EndLabel> ends = step_ends(plot);
  PlotRoom room;
  room.left = 40.0f;
  room.right = std::min(std::max(14.0f, end_label_room(ends, ui.measure())), 0.34f * area.width());
  const StepAxis steps = step_axis(context.state);
  AxisSpec x = axis_spec(steps.low, steps.high, steps.log);
  x.whole = !steps.log;
  x.high_label = true;
  Axis axis{steps.low, steps.high, steps.log, area.x0 + 40.0f, area.x1 - room.right};
  if (axis.to - axis.from < 20.0f || area.height() < 44.0f) return;
  KeptRange& kept = range_of_plot(ui, plot, axis);
  const Range range = kept.range;
  AxisSpec y = axis_spec(range.low, range.high, plot.log_y);
  y.high_label = true;
  const PlotFrame frame = lay_out_plot(area, x, y, ui.measure(), room);
  if (frame.inner.empty()) return;
  draw_plot_ground(painter, frame, theme);
  for (const StepCurve& curve : plot.curves) draw_step_band(painter, frame, curve);
  LabelSpace space(frame.inner);
  if (plot.line && *plot.line >= frame.y.low && *plot.line <= frame.y.high) {
    const std::vector<ReferenceLine> lines = {{true, *plot.line, theme.text3, LineStyle::Dashed, plot.line_name, 1.0f}};
    draw_lines(painter, frame, lines, space);
  }
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const StepCurve& curve = plot.curves[i];
    const std::string id = "curve " + plot.id + " " + std::to_string(i);
    draw_step_curve(painter, frame, curve, pieces_of(ui, id, frame, curve), theme);
  }
  draw_step_points(painter, frame, plot);
  draw_plot_axes(painter, frame, theme);
  if (std::exchange(kept.fresh, false)) kept.off = off_axis(frame, plot.curves);
  draw_step_marks(painter, frame, kept_steps(context.state), kept.off, theme);
  if (kept.off) context.facts.set("training." + plot.id + ".off", static_cast<double>(kept.off->value));
  draw_ends(painter, frame, ends);
  draw_cursor(context, frame, plot);
  take_pointer(context, frame, plot);
  context.facts.set("training." + plot.id + ".x0", static_cast<double>(frame.inner.x0));
  context.facts.set("training." + plot.id + ".x1", static_cast<double>(frame.inner.x1));
  context.facts.set("training." + plot.id + ".y", static_cast<double>(frame.inner.centre_y()));
}

}  // namespace headroom
