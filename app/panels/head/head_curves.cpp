// Curves over visible keys: the decomposition of ρ, cancellation, RMS through V1's norm.
#include "app/panels/head/head_curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "app/figures/row_axis.h"
#include "app/figures/row_curve.h"
#include "app/panels/head/head_view.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/plot/plot_frame.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

struct LabelledCurve {
  std::string name;
  const RowCurve* values;
  Color color;
  bool quartiles = false;
  float width = 1.5f;
};

// With their names at the right ends, `mean` among them. Rows that do not count lie under the veil.
PlotFrame draw_median_curves(HeadPanelView& view, Rect area, std::span<const LabelledCurve> curves, Range range,
                             bool log, std::span<const ReferenceLine> lines, const EndLabel& mean = {}) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  std::vector<EndLabel> ends;
  for (const LabelledCurve& curve : curves)
    if (std::isfinite(curve.values->last())) ends.push_back({curve.values->last(), curve.name, curve.color});
  if (ends.empty()) {
    draw_note(context, area, "No row is finite.");
    return {};
  }
  if (!mean.text.empty()) ends.push_back(mean);
  const AxisSpec x = row_axis(view.series), y = axis_spec(range.low, range.high, log);
  PlotRoom room;
  room.right = end_label_room(ends, context.ui.measure()) + 4.0f;
  room.top = 6.0f;
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), room);
  if (frame.inner.width() < 30.0f || frame.inner.height() < 24.0f) return frame;
  draw_plot_ground(painter, frame, theme);
  if (view.series.least > x.low && !view.series.by_position) draw_veil(painter, frame, theme, x.low, view.series.least);
  for (const LabelledCurve& curve : curves)
    if (curve.quartiles)
      draw_band(painter, frame, curve.values->place, curve.values->lower, curve.values->upper,
                curve.color.faded(0.22f));
  LabelSpace space(frame.inner);
  draw_lines(painter, frame, lines, space);
  for (const LabelledCurve& curve : curves)
    draw_curve(painter, frame, curve.values->place, curve.values->median, curve.color, curve.width);
  draw_plot_axes(painter, frame, theme);
  draw_ends(painter, frame, ends);
  return frame;
}

Range range_of(std::span<const LabelledCurve> curves, bool log) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const LabelledCurve& curve : curves)
    for (const std::vector<double>* part : {&curve.values->median, &curve.values->lower, &curve.values->upper}) {
      if (part != &curve.values->median && !curve.quartiles) continue;
      for (const double value : *part)
        if (std::isfinite(value) && (!log || value > 0.0)) low = std::min(low, value), high = std::max(high, value);
    }
  if (!(high >= low)) return {log ? 0.1 : 0.0, 1.0};
  return nice_range(low, high, log);
}

}  // namespace

void draw_decomposition(HeadPanelView& view, Rect area) {
  const Theme& theme = view.context.theme();
  const HeadSeries& series = view.series;
  const std::array<LabelledCurve, kTerms> curves = {{{"½ log κ", &series.terms[kKappaTerm], theme.kappa},
                                                     {"log e", &series.terms[kETerm], theme.first},
                                                     {"log r̃", &series.terms[kRTerm], theme.second},
                                                     {"log ρ", &series.terms[kRhoTerm], theme.accent, false, 2.0f}}};
  Range range = range_of(curves, false);
  range.low = std::min(range.low, -0.5);
  range.high = std::max(range.high, 0.5);
  const std::array<ReferenceLine, 1> zero = {{{true, 0.0, theme.faint, LineStyle::Solid, "", 1.0f}}};
  draw_median_curves(view, area, curves, range, false, zero);
  view.context.ui.tooltip(
      area,
      "Rows one by one, then running medians, natural logarithms; in each row the three terms add to "
      "log ρ.\n"
      "e = ‖w‖₂, r̃ = q/(e·r̄), κ = RMS²/q²");
}

void draw_cancellation(HeadPanelView& view, Rect area) {
  const Theme& theme = view.context.theme();
  const HeadSeries& series = view.series;
  std::vector<LabelledCurve> curves;
  if (!series.output_curve.empty()) curves.push_back({"output", &series.output_curve, theme.accent, true, 2.0f});
  curves.push_back({"energy", &series.energy_curve, theme.first, series.output_curve.empty()});
  curves.push_back({"weight", &series.weight_curve, theme.second});
  std::vector<ReferenceLine> lines = {{true, 1.0, theme.faint, LineStyle::Solid, "", 1.0f}};
  const double output = view.value("output_cancellation_mean", 0);
  EndLabel mean;
  if (series.output_curve.empty() && !std::isnan(output)) {
    lines.push_back({true, output, theme.accent, LineStyle::Dashed, "", 1.5f});
    mean = {output, "output " + fixed_text(output, 3), theme.accent};
  }
  Range range = range_of(curves, false);
  range.low = 0.0;
  range.high = std::max({1.2, range.high, std::isnan(output) ? 0.0 : 1.1 * output});
  draw_median_curves(view, area, curves, range, false, lines, mean);
}

void draw_through_norm(HeadPanelView& view, Rect area) {
  const Theme& theme = view.context.theme();
  const HeadSeries& series = view.series;
  RowCurve scaled = series.after_curve;
  const double factor = view.program.post_scale;
  for (double& value : scaled.median) value *= factor;
  std::vector<LabelledCurve> curves = {{"after the norm", &series.after_curve, theme.first},
                                       {"before", &series.before_curve, theme.accent, true, 2.0f}};
  if (factor != 1.0 && std::isfinite(factor))
    curves.insert(curves.begin() + 1, {"× (1 − λ init)", &scaled, theme.second});
  draw_median_curves(view, area, curves, range_of(curves, true), true, {});
}

}  // namespace headroom
