#include "app/panels/model/model_ribbons.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "app/figures/head_levels.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/plot/plot_frame.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"
#include "core/run/head_values.h"

namespace headroom {

Ribbon make_ribbon(const RunSnapshot& run, const HeadColumn& column) {
  static constexpr std::array<double, 5> kPoints = {0.0, 0.25, 0.5, 0.75, 1.0};
  const std::vector<std::vector<double>> at = layer_quantiles(column.values, run.heads.size(), kPoints);
  return {{run.layers.begin(), run.layers.end()}, at[0], at[1], at[2], at[3], at[4]};
}

PlotFrame draw_ribbon(PanelContext& context, Rect area, const Ribbon& ribbon, Range range, Color color,
                      const PlotRoom& room, std::span<const ReferenceLine> lines, float least_gap) {
  if (ribbon.layers.empty()) return {};
  AxisSpec x = axis_spec(ribbon.layers.front(), std::max(ribbon.layers.back(), ribbon.layers.front() + 1.0));
  x.whole = x.high_label = true;
  AxisSpec y = axis_spec(range.low, range.high);
  y.least_gap = least_gap;
  Painter& painter = context.painter();
  PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), room);
  if (frame.inner.width() < 30.0f || frame.inner.height() < 16.0f) return {};
  draw_plot_ground(painter, frame, context.theme());
  draw_band(painter, frame, ribbon.layers, ribbon.low, ribbon.high, color.faded(0.16f));
  draw_band(painter, frame, ribbon.layers, ribbon.lower, ribbon.upper, color.faded(0.30f));
  LabelSpace space(frame.inner);
  draw_lines(painter, frame, lines, space);
  draw_curve(painter, frame, ribbon.layers, ribbon.median, color, 2.0f);
  return frame;
}

std::vector<std::string> ribbon_quantities(const RunSnapshot& run, std::size_t count) {
  static constexpr std::string_view kNames[] = {
      "sink_score",         "context_rms_relative_mean", "value_drain", "weight_l2_mean",
      "logit_max",          "entropy_normalized_mean",   "lambda_mean", "output_cancellation_mean",
      "negative_mass_mean", "norm_gain_median",          "gate_mean",   "coherence_mean",
      "induction_score"};
  // A differential model's own quantities come before what every model has.
  const bool differential = std::ranges::any_of(
      run.data, [](const auto& layer) { return layer != nullptr && layer->kind.starts_with("diff"); });
  std::vector<std::string> names;
  for (const std::string_view name : kNames) {
    if (differential && (name == "value_drain" || name == "entropy_normalized_mean")) continue;
    const QuantityInfo* info = find_quantity_info(name);
    if (info == nullptr) continue;
    const std::vector<double> values = head_values(run, {info, info->default_index});
    if (std::ranges::any_of(values, [](double v) { return std::isfinite(v); })) names.emplace_back(name);
    if (names.size() == count) break;
  }
  return names;
}

namespace {

// The kind of figure that shows a quantity by layer; empty: of none.
std::string_view figure_of_ribbon(std::string_view quantity) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kKinds = {
      {{"context_rms_relative_mean", "rms-layers"},
       {"sink_score", "sinks"},
       {"logit_max", "logits"},
       {"lambda_mean", "lambda"},
       {"norm_gain_median", "norm-gain"}}};
  for (const auto& [name, kind] : kKinds)
    if (name == quantity) return kind;
  return "";
}

void draw_one(PanelContext& context, RunCache& memory, const std::string& name, Rect area) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const RunSnapshot& run = *memory.run();
  const HeadColumn& column = memory.column(name);
  const QuantityInfo& info = *column.ref.info;
  context.ui.label({area.x0 + 26.0f, area.y0 + 12.0f}, quantity_heading(column.ref), theme.plot_title(),
                   area.width() - 26.0f);
  area.cut_top(18.0f);
  const Ribbon ribbon = make_ribbon(run, column);
  Range range{0.0, 1.0};
  if (info.natural && column.low >= info.natural->low && column.high <= info.natural->high)
    range = *info.natural;
  else if (column.finite > 0)
    range = nice_range(std::min(0.0, column.low), std::max(column.high, column.low + 1e-9), false);
  PlotRoom room;
  room.left = 30.0f;
  room.right = 10.0f;
  std::vector<ReferenceLine> lines;
  const HeadLevels levels = head_levels(run, column.ref, context.state.view.heads.threshold);
  for (const std::optional<double>& level : {levels.threshold, levels.reference})
    if (level) lines.push_back({true, *level, theme.text, LineStyle::Solid, "", 1.0f});
  const PlotFrame frame = draw_ribbon(context, area, ribbon, range, theme.second, room, lines);
  if (frame.inner.empty()) return;
  painter.push_clip(frame.inner.inset(-3.0f));
  const auto dot = [&](HeadRef head, float radius, Color color) {
    const double value = head_value(run, column.ref, head.layer, head.head);
    if (std::isfinite(value) && value >= range.low && value <= range.high)
      painter.disc(frame.at(static_cast<double>(head.layer), value), radius, color);
  };
  for (const HeadRef head : context.state.view.heads.lasso) dot(head, 2.0f, theme.accent);
  if (context.state.hover.head) dot(*context.state.hover.head, 3.0f, theme.text);
  if (context.state.view.selection.head) dot(*context.state.view.selection.head, 3.5f, theme.accent);
  painter.pop_clip();
  draw_plot_axes(painter, frame, theme);

  if (levels.threshold && !levels.own && *levels.threshold >= range.low && *levels.threshold <= range.high)
    painter.text_at(frame.inner.x1 + 3.0f, frame.y.pixel(*levels.threshold), "ε", {Face::Sans, 10.0f, theme.text2});

  if (const std::string kind(figure_of_ribbon(name)); !kind.empty())
    context.ui.context_menu("menu " + name, frame.inner, [&] {
      return std::vector<MenuItem>{{"Export this plot as a figure…", "", "figure.screen " + kind, false, false, {}}};
    });
  const Interaction hit = context.ui.interact("ribbon " + name, frame.inner, Cursor::Hand);
  if (!hit.hovered) return;
  const auto layer = static_cast<std::int64_t>(std::lround(frame.x.value(context.ui.input.pointer.x)));
  const auto found = std::ranges::find(run.layers, layer);
  if (found == run.layers.end()) return;
  const auto l = static_cast<std::size_t>(found - run.layers.begin());
  // The head whose value is nearest to the pointer.
  std::optional<std::size_t> nearest;
  float best = 1e9f;
  for (std::size_t h = 0; h < run.heads.size(); ++h) {
    const double value = column.values[l * run.heads.size() + h];
    if (!std::isfinite(value)) continue;
    const float distance = std::abs(frame.y.pixel(value) - context.ui.input.pointer.y);
    if (distance < best) best = distance, nearest = h;
  }
  if (!nearest) return;
  const HeadRef head{layer, run.heads[*nearest]};
  context.hover.head = head;
  context.ui.tooltip(
      Rect::sized(frame.x.pixel(static_cast<double>(layer)) - 4.0f, frame.inner.y0, 8.0f, frame.inner.height()),
      "layer " + std::to_string(layer) + ": median " + number_text(info, ribbon.median[l]) + ", " +
          number_text(info, ribbon.low[l]) + " … " + number_text(info, ribbon.high[l]) +
          "\nnearest: " + head_text(head));
  if (hit.clicked) context.ui.run(select_command(context.state, head));
}

}  // namespace

void draw_ribbons(PanelContext& context, RunCache& memory, Rect area, std::size_t columns) {
  const RunSnapshot& run = *memory.run();
  const float least = 76.0f;
  const std::size_t rows = std::max<std::size_t>(1, static_cast<std::size_t>(area.height() / (least + 10.0f)));
  const std::vector<std::string> names =
      ribbon_quantities(run, std::min<std::size_t>(rows * columns, columns == 1 ? 8 : 6));
  if (names.empty() || area.height() < 60.0f) return;
  const std::size_t used_rows = (names.size() + columns - 1) / columns;
  const float height = std::min(200.0f, area.height() / static_cast<float>(used_rows));
  const float width = area.width() / static_cast<float>(columns);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t row = i / columns, column = i % columns;
    const float x = area.x0 + static_cast<float>(column) * width, y = area.y0 + static_cast<float>(row) * height;
    draw_one(context, memory, names[i], Rect::sized(x, y, width - (columns > 1 ? 12.0f : 0.0f), height - 8.0f));
  }
}

}  // namespace headroom
