// What only some heads have: λ over position or by layer, the gain of V1's norm, gates, the mass given to nothing.
#include "app/panels/head/head_lambda.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/figures/layer_lambdas.h"
#include "app/panels/head/head_view.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/panels/parts/named_values.h"
#include "app/plot/plot_frame.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr std::size_t kMostLambdas = 20000;

// A quantity of the rows over their positions, its histogram as the margin.
void draw_over_position(HeadPanelView& view, Rect area, std::span<const float> values, Color color, Range range) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  std::vector<double> x_values, y_values, all;
  const std::size_t every = 1 + values.size() / kMostLambdas;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = static_cast<double>(values[i]);
    all.push_back(value);
    if (std::isfinite(value)) range.low = std::min(range.low, value), range.high = std::max(range.high, value);
    if (i % every != 0) continue;
    x_values.push_back(static_cast<double>(i));
    y_values.push_back(value);
  }
  if (std::ranges::none_of(all, [](double value) { return std::isfinite(value); })) {
    draw_note(context, area, "No row is finite.");
    return;
  }
  AxisSpec x = axis_spec(0.0, std::max(1.0, static_cast<double>(values.size()) - 1.0));
  x.whole = x.high_label = true;
  const AxisSpec y = axis_spec(range.low, range.high);
  PlotRoom room;
  const float margin = view.narrow ? 38.0f : 48.0f;
  room.right = margin + 8.0f;
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), room);
  if (frame.inner.width() < 30.0f || frame.inner.height() < 20.0f) return;
  draw_plot_ground(painter, frame, theme);
  draw_cloud(painter, frame, x_values, y_values, color, {}, values.size() < 64 ? 4.0f : 2.0f);
  const auto mark = [&](std::optional<std::int64_t> query, Color of) {
    if (!query || *query < 0 || static_cast<std::size_t>(*query) >= values.size()) return;
    const float pixel = frame.x.pixel(static_cast<double>(*query));
    painter.line({pixel, frame.inner.y0}, {pixel, frame.inner.y1}, of, 1.0f);
    const float value = values[static_cast<std::size_t>(*query)];
    if (std::isfinite(value)) painter.disc({pixel, frame.y.pixel(static_cast<double>(value))}, 3.5f, of);
  };
  mark(context.state.hover.query, theme.text3);
  mark(context.state.view.selection.query, theme.accent);
  draw_plot_axes(painter, frame, theme);
  const Rect side = frame.right_margin(6.0f, margin);
  painter.fill_rect(Rect::sized(side.x0 - 1.0f, side.y0, 1.0f, side.height()), theme.faint);
  const Histogram counts = histogram(all, range.low, range.high,
                                     static_cast<std::size_t>(std::clamp(frame.inner.height() / 5.0f, 8.0f, 40.0f)));
  draw_bars(painter, horizontal_bars(counts, frame.y, side), side, color.faded(0.75f));
  const Interaction hit = context.ui.interact("positions", frame.inner, Cursor::Crosshair);
  if (hit.hovered) {
    const auto last = static_cast<long>(values.size()) - 1;
    const auto query =
        static_cast<std::int64_t>(std::clamp(std::lround(frame.x.value(context.ui.input.pointer.x)), 0L, last));
    context.hover.query = query;
    if (hit.clicked) context.ui.run("pin " + std::to_string(query) + " -");
  }
}

// V1: λ of each layer as a disc that hangs on where it began.
void draw_by_layer(HeadPanelView& view, Rect area) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const std::vector<LayerLambda>& discs = kept_for(view.memory.piece("layer lambdas"), view.head, [&] {
    std::vector<HeadRef> heads{view.head};  // its own λ first
    for (const std::int64_t layer : view.run.layers)
      for (const std::int64_t head : view.run.heads) heads.push_back({layer, head});
    std::vector<LayerLambda> found = layer_lambdas(view.run, heads);
    std::ranges::stable_sort(found, {}, [](const LayerLambda& disc) { return disc.head.layer; });
    return found;
  });
  double low = 0.0, high = 1.0;
  for (const LayerLambda& disc : discs)
    low = std::min(low, disc.value), high = std::max({high, disc.value, disc.first});
  const std::array<NamedValue, 2> values = {
      {{"layer " + std::to_string(view.layer.layer) + "  λ", fixed_text(view.value("lambda_mean", 0), 3), theme.lambda},
       {"λ init", fixed_text(view.layer.lambda_init, 3), {0, 0, 0, 0}}}};
  draw_named_values(context, area.cut_top(18.0f), values);
  if (discs.empty()) return;
  const double first = static_cast<double>(view.run.layers.front()), last = static_cast<double>(view.run.layers.back());
  AxisSpec x = axis_spec(first - 0.5, last + 0.5);
  x.whole = true;
  const PlotFrame frame = lay_out_plot(area, x, axis_spec(low, 1.15 * high), context.ui.measure());
  if (frame.inner.width() < 30.0f || frame.inner.height() < 20.0f) return;
  draw_plot_ground(painter, frame, theme);
  std::vector<double> layers, starts;
  for (const LayerLambda& disc : discs)
    layers.push_back(static_cast<double>(disc.head.layer)), starts.push_back(disc.first);
  draw_dashed_curve(painter, frame, layers, starts, theme.text2, 1.5f, 5.0f, 3.0f);
  painter.push_clip(frame.inner);
  for (const LayerLambda& disc : discs) {
    const auto layer = static_cast<double>(disc.head.layer);
    const Vec2 at = frame.at(layer, disc.value);
    const bool mine = disc.head == view.head;
    if (std::isfinite(disc.first)) painter.line(frame.at(layer, disc.first), at, theme.lambda.faded(0.5f), 1.0f);
    painter.disc(at, 3.0f, mine ? theme.accent : theme.lambda);
    if (mine) painter.ring(at, 5.5f, theme.accent, 1.0f);
  }
  painter.pop_clip();
  draw_plot_axes(painter, frame, theme);
}

}  // namespace

void draw_lambda(HeadPanelView& view, Rect area) {
  if (view.series.v1 && view.program.lambda == LambdaSource::LayerScalar) {
    draw_by_layer(view, area);
    return;
  }
  draw_over_position(view, area, view.series.lambda, view.context.theme().lambda, {0.0, 1.0});
}

void draw_gate(HeadPanelView& view, Rect area) {
  const HeadSeries& series = view.series;
  draw_over_position(view, area, series.gate.empty() ? series.implicit : series.gate, view.context.theme().accent,
                     {0.0, 1.0});
}

void draw_gain(HeadPanelView& view, Rect area) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const HeadSeries& series = view.series;
  const double cap = 1.0 / std::sqrt(series.norm_epsilon);
  const double root = std::sqrt(*std::ranges::max_element(series.visible));
  std::vector<double> gains;
  double low = 1.0, high = 1.2 * std::max(cap, root);
  for (std::size_t i = 0; i < series.gain.size(); ++i) {
    const double gain = static_cast<double>(series.gain[i]);
    if (series.faint[i] != 0 || !std::isfinite(gain)) continue;
    gains.push_back(gain);
    if (gain > 0.0) low = std::min(low, gain);
    high = std::max(high, gain);
  }
  const double at_cap = 100.0 * static_cast<double>(series.gains_at_cap) / static_cast<double>(series.gains);
  const std::array<NamedValue, 3> values = {
      {{"median", fixed_text(view.value("norm_gain_median", 0), 1), {0, 0, 0, 0}},
       {"max", fixed_text(view.value("norm_gain_max", 0), 1), {0, 0, 0, 0}},
       {"at the cap", series.gains > 0 ? fixed_text(at_cap, 0) + " %" : "–", {0, 0, 0, 0}}}};
  draw_named_values(context, area.cut_top(18.0f), values);
  Rect notes = area.cut_bottom(34.0f);
  const Range range{low, high};
  const Histogram counts = histogram(gains, range.low, range.high, 40, true);
  const PlotFrame frame = lay_out_plot(area, axis_spec(range.low, range.high, true),
                                       axis_spec(0.0, std::max(1.0, 1.1 * counts.largest())), context.ui.measure());
  if (frame.inner.width() >= 30.0f && frame.inner.height() >= 20.0f) {
    draw_plot_ground(painter, frame, theme);
    painter.push_clip(frame.inner);
    const Rect beyond{frame.x.pixel(cap), frame.inner.y0, frame.inner.x1, frame.inner.y1};
    if (!beyond.empty()) painter.fill_rect(beyond, theme.warn.faded(0.10f));
    painter.pop_clip();
    Rect bars = frame.inner;
    bars.y0 = frame.y.pixel(counts.largest());
    draw_bars(painter, vertical_bars(counts, frame.x, bars), bars, theme.accent.faded(0.75f));
    LabelSpace space(frame.inner);
    const std::array<ReferenceLine, 2> lines = {
        {{false, cap, theme.warn, LineStyle::Solid, "cap 1/√ε " + fixed_text(cap, 0), 1.5f},
         {false, root, theme.text, LineStyle::Dashed, "√n " + fixed_text(root, 1), 1.5f}}};
    draw_lines(painter, frame, lines, space);
    draw_plot_axes(painter, frame, theme);
  }
  const auto query = context.state.view.selection.query;
  context.ui.label({notes.x0, notes.y0 + 12.0f},
                   "ε = " + readout_text(series.norm_epsilon) + "; the cap binds for RMS < " +
                       readout_text(std::sqrt(series.norm_epsilon)),
                   theme.hint(), notes.width());
  std::string second = "√n: uniform map, values without a mean";
  if (query && *query >= 0 && static_cast<std::size_t>(*query) < series.gain.size())
    second = "row " + std::to_string(*query) + ": gain " +
             readout_text(static_cast<double>(series.gain[static_cast<std::size_t>(*query)]));
  context.ui.label({notes.x0, notes.y0 + 28.0f}, second, theme.hint(), notes.width());
}

}  // namespace headroom
