#include "app/panels/head/head_rounding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/named_values.h"
#include "app/plot/plot_frame.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr std::size_t kMostCounts = 20000;

// N₁ of each row; every k-th where there are very many, each the largest of its k. Rows without one are left out.
void add_counts(std::span<const float> counts, std::vector<double>& x, std::vector<double>& y) {
  const std::size_t every = 1 + counts.size() / kMostCounts;
  for (std::size_t i = 0; i < counts.size(); i += every) {
    float most = 0.0f;
    for (std::size_t j = i; j < std::min(counts.size(), i + every); ++j) most = std::max(most, counts[j]);
    if (!(most >= 1.0f)) continue;
    x.push_back(static_cast<double>(i));
    y.push_back(static_cast<double>(most));
  }
}

}  // namespace

void draw_rounding(HeadPanelView& view, Rect area) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const std::size_t only = view.program.has_first() ? 0 : 1;
  const auto number = [](double value, int decimals) { return std::isnan(value) ? "–" : fixed_text(value, decimals); };
  const double several = view.value("rounds_to_one_several", only);
  const std::array<NamedValue, 2> counts = {
      {{"mean N₁", number(view.value("rounds_to_one_mean", only), 2), {0, 0, 0, 0}},
       {"rows with N₁ ≥ 2", std::isnan(several) ? "–" : fixed_text(100.0 * several, 1) + " %", {0, 0, 0, 0}}}};
  draw_named_values(context, area.cut_top(18.0f), counts);
  const double range = view.value("logit_max", only) - view.value("logit_min", only);
  const std::array<NamedValue, 2> beside = {
      {{"sink α₀", number(view.value("sink_score", only), 3), {0, 0, 0, 0}},
       {"logits",
        number(view.value("logit_min", only), 1) + " … " + number(view.value("logit_max", only), 1) +
            (std::isfinite(range) ? ", " + fixed_text(range, 1) + " apart" : ""),
        {0, 0, 0, 0}}}};
  draw_named_values(context, area.cut_top(18.0f), beside);
  // Of runs that measured it alone.
  const double bias_t = view.value("rounding_bias_t", only);
  if (std::isfinite(bias_t)) {
    const std::array<NamedValue, 2> bias = {{{"bias, t", number(bias_t, 2), {0, 0, 0, 0}},
                                             {"of RMS",
                                              fixed_text(100.0 * view.value("rounding_bias", only), 3) + " %, error " +
                                                  fixed_text(100.0 * view.value("rounding_noise", only), 2) + " %",
                                              {0, 0, 0, 0}}}};
    draw_named_values(context, area.cut_top(18.0f), bias);
  } else if (area.height() > 90.0f) {
    const Rect line = area.cut_top(18.0f);
    context.ui.label_at(line.x0, line.centre_y(), "bias of the sums: Run, Measure rounding; analyze --rounding",
                        theme.hint(), line.width());
  }
  const std::span<const float> rows = view.layer.row_values("rows/rounds_to_one", view.head.head);
  const std::size_t count = view.series.rows();
  if (rows.size() != 2 * count || count == 0) {
    draw_note(context, area, "The run kept no counts per row.");
    return;
  }
  float most = 1.0f;
  for (const float value : rows) most = std::max(most, value);
  const AxisSpec y =
      axis_spec(1.0, std::max(10.0, std::pow(10.0, std::ceil(std::log10(static_cast<double>(most))))), true);
  AxisSpec x = axis_spec(0.0, std::max(1.0, static_cast<double>(count) - 1.0));
  x.whole = x.high_label = true;
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure());
  if (frame.inner.width() < 30.0f || frame.inner.height() < 20.0f) return;
  draw_plot_ground(painter, frame, theme);
  for (std::size_t map = 0; map < 2; ++map) {
    if (map == 0 ? !view.program.has_first() : !view.program.has_second()) continue;
    std::vector<double> at, value;
    add_counts(rows.subspan(map * count, count), at, value);
    draw_cloud(painter, frame, at, value, view.pair() ? (map == 0 ? theme.first : theme.second) : theme.accent);
  }
  draw_plot_axes(painter, frame, theme);
}

}  // namespace headroom
