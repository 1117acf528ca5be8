// Context RMS over visible keys, before and after a change.
#include "app/panels/what_if/what_if_plots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "app/figures/row_axis.h"
#include "app/figures/row_curve.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/panels/what_if/what_if_subject.h"
#include "app/plot/series.h"

namespace headroom {

void draw_what_if_rms(PanelContext& context, CompareCache& memory, Rect area, const WhatIfSubject& subject) {
  if (area.width() < 80.0f || area.height() < 50.0f) return;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Rect title = area.cut_top(measure::kTitleToPlot);
  const HeadSeries* before_series =
      subject.layer_before && subject.base
          ? &memory.series(0, subject.base->data, *subject.layer_before, subject.head.head)
          : nullptr;
  const std::string heading =
                        "Context RMS ρ " + (before_series ? over_rows(*before_series, false) : "over visible keys nᵢ"),
                    hint = "median, quartiles";
  const float heading_width = context.ui.width(heading, theme.plot_title());
  context.ui.label_at(title.x0, title.centre_y(), heading, theme.plot_title(), title.width());
  if (heading_width + context.ui.width(hint, theme.hint()) + 16.0f <= title.width())
    painter.text_at(title.x1, title.centre_y(), hint, theme.hint(), Painter::Align::Right);
  if (!before_series) return;
  const HeadSeries& before = *before_series;
  const HeadSeries* after =
      subject.layer_after ? &memory.series(1, subject.after->data, *subject.layer_after, subject.head.head) : nullptr;
  if (before.rho.empty()) {
    draw_note(context, area, "The run kept no ρ per row.",
              "Rows of the layers measured first give way when memory is short.");
    return;
  }
  const RowCurve& first = before.relative;
  const RowCurve* second = after ? &after->relative : nullptr;
  if (after && after->by_position != before.by_position)  // along the axis of the run before the change
    second = &kept_for(context.ui.kept_value("rho after"),
                       std::tuple(subject.after->data, subject.layer_after, subject.head.head),
                       [&] { return row_curve(*after, after->rho, before.by_position); });
  const double most = std::max(2.0, *std::ranges::max_element(before.visible));
  double low = 0.6 / std::sqrt(most), high = 1.2;
  const auto hold = [&low, &high](const RowCurve& curve) {
    for (const auto* values : {&curve.lower, &curve.upper, &curve.median})
      for (const double value : *values)
        if (value > 0.0 && std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  };
  hold(first);
  if (second) hold(*second);
  const Range range = nice_range(std::max(low, 1e-4), high, true);
  const AxisSpec x = row_axis(before), y = axis_spec(range.low, range.high, true);
  const Color after_color = subject.stale ? theme.accent.faded(0.45f) : theme.accent;
  std::vector<EndLabel> ends = {{first.last(), "before", theme.text2}};
  if (second) ends.push_back({second->last(), "after", theme.accent});
  PlotRoom room;
  room.right = area.width() >= 200.0f ? end_label_room(ends, context.ui.measure()) : 4.0f;
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), room);
  if (frame.inner.width() < 30.0f || frame.inner.height() < 24.0f) return;
  draw_plot_ground(painter, frame, theme);
  if (!before.by_position && before.least > 1.0 && before.least < most)
    draw_veil(painter, frame, theme, 1.0, before.least);
  const std::vector<double> places = place_grid(before, 48), ones(places.size(), 1.0);
  std::vector<double> one;
  for (const double place : places) one.push_back(1.0 / std::sqrt(visible_at(before, place)));
  LabelSpace space(frame.inner);
  draw_curve(painter, frame, places, one, theme.text, 1.5f);
  draw_dashed_curve(painter, frame, places, ones, theme.text, 1.5f, 5.0f, 3.0f);
  const auto draw = [&](const RowCurve& curve, Color color) {
    draw_band(painter, frame, curve.place, curve.lower, curve.upper, color.faded(0.25f));
    draw_curve(painter, frame, curve.place, curve.median, color);
    for (const std::vector<Vec2>& piece : curve_pieces(frame, curve.place, curve.median)) space.block_line(piece, 2.0f);
  };
  draw(first, theme.text3);
  if (second) draw(*second, after_color);
  draw_curve_name(painter, frame, places, one, "1/√nᵢ", theme.text, space);
  draw_plot_axes(painter, frame, theme);
  if (room.right > 8.0f) draw_ends(painter, frame, ends);
}

}  // namespace headroom
