// The table of intervals above the plot over n_i: each with how it is drawn, what it says and the shares of the rows
// below, inside and above.
#include "app/panels/head/head_intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include "app/figures/head_bounds.h"
#include "app/panels/head/head_view.h"
#include "app/panels/panel.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kLine = 15.0f, kBelow = 3.0f, kSwatch = 14.0f, kNumberColumn = 42.0f;

std::string share_text(double share) { return std::isnan(share) ? "–" : fixed_text(100.0 * share, 1); }

// A line as the plot draws it, or points where each row has its own end.
void draw_swatch(PanelContext& context, const RowInterval& interval, float x, float y) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  if (interval.low.per_row() || interval.high.per_row()) {
    for (const Vec2 at : {Vec2{1.0f, 2.0f}, Vec2{4.0f, -1.0f}, Vec2{7.0f, 1.0f}, Vec2{9.0f, -2.0f}})
      painter.fill_rect(Rect::sized(x + at.x, y + at.y, 2.0f, 2.0f), theme.lambda);
  } else if (interval.own) {
    painter.line({x, y}, {x + 10.0f, y}, interval.name == "own" ? theme.lambda : theme.text, 1.5f);
  } else {
    painter.dashed_line({x, y}, {x + 10.0f, y}, theme.text, 1.5f, 4.0f, 2.0f);
  }
}

}  // namespace

float interval_table_height(const HeadPanelView& view) {
  const RowIntervals named = name_intervals(view.program, rms_tab(view.context.state.view.head.rms));
  return kLine * static_cast<float>(1 + named.all.size()) + kBelow;
}

void draw_interval_table(HeadPanelView& view, const RowIntervals& intervals, Rect area) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const std::array<float, 3> right = {area.x1 - 2.0f * kNumberColumn, area.x1 - kNumberColumn, area.x1};
  const float names_end = right[0] - kNumberColumn + 4.0f;
  const Rect head = area.cut_top(kLine);
  constexpr std::array<const char*, 3> kNames = {"below", "inside", "above"};
  for (std::size_t i = 0; i < 3; ++i)
    painter.text_at(right[i], head.centre_y(), kNames[i], theme.hint(), Painter::Align::Right);
  context.facts.set("rms.tab", context.state.view.head.rms);
  context.facts.set("rms.not_finite", static_cast<double>(intervals.not_finite));
  const double least = view.series.visible.empty() ? static_cast<double>(view.run.min_row) : view.series.least;
  const std::string rows = "% of rows nᵢ ≥ " + fixed_text(least, 0);
  if (intervals.not_finite > 0) {
    const std::string lost =
        grouped_text(intervals.not_finite) + " of " + grouped_text(intervals.rows) + " rows not finite";
    context.ui.icon(Icon::Warning, {head.x0 + 5.0f, head.centre_y()}, 11.0f, theme.warn);
    context.ui.label_at(head.x0 + 14.0f, head.centre_y(), lost, {Face::Sans, 11.0f, theme.warn},
                        names_end - head.x0 - 14.0f);
  } else if (context.ui.width(rows, theme.hint()) <= names_end - head.x0) {
    painter.text_at(head.x0, head.centre_y(), rows, theme.hint());
  }
  for (const RowInterval& interval : intervals.all) {
    const Rect row = area.cut_top(kLine);
    const float y = row.centre_y();
    draw_swatch(context, interval, row.x0, y);
    float x = row.x0 + kSwatch;
    x += context.ui.label_at(x, y, interval.name, theme.body(theme.text2), names_end - x) + 8.0f;
    const TextStyle style{Face::Sans, 11.0f, theme.text3};
    if (context.ui.width(interval.text, style) <= names_end - x) painter.text_at(x, y, interval.text, style);
    const std::array<double, 3> shares = {interval.shares.below, interval.shares.inside, interval.shares.above};
    for (std::size_t i = 0; i < 3; ++i)
      painter.text_at(right[i], y, share_text(shares[i]),
                      {Face::Mono, 11.0f, std::isnan(shares[i]) ? theme.text3 : theme.text}, Painter::Align::Right);
    std::string name = interval.name;
    std::ranges::replace(name, ' ', '_');
    for (std::size_t i = 0; i < 3; ++i) context.facts.set("rms." + name + "." + kNames[i], 100.0 * shares[i]);
    std::string tip = interval.name + "  " + interval.text + "\n" + interval.tip;
    if (view.program.gated) tip += "\nBefore the gate, which scales each channel by 0 to 1.";
    context.ui.tooltip(row, tip);
  }
}

}  // namespace headroom
