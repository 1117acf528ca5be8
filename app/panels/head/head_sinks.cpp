// Sinks: key 0, the sink set, attention received by key. Logits: largest and smallest per query, histogram, outliers.
#include "app/panels/head/head_sinks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/figures/head_levels.h"
#include "app/panels/head/head_view.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/named_values.h"
#include "app/plot/plot_frame.h"
#include "app/plot/series.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/measure/quantity.h"

namespace headroom {
namespace {

constexpr Color kPlain{0, 0, 0, 0};
constexpr std::size_t kMostSinkRows = 20000;

// Of the sequence that the layer's rows (keys) are of.
std::string token_at(const HeadPanelView& view, TokenAxis axis, std::int64_t position) {
  const RunSnapshot& run = view.run;
  if (!run.prompt || position < 0 || static_cast<std::size_t>(position) >= run.prompt->ids.size()) return "";
  if (const std::string* text = axis_text(run, axis, position)) return visible_token(*text);
  return axis == TokenAxis::Tokens ? "id " + std::to_string(run.prompt->ids[static_cast<std::size_t>(position)]) : "";
}

// "0 “␣the”": a token that a click pins as the key; returns where the next may begin.
float draw_key_link(const HeadPanelView& view, float x, float y, float right, std::int64_t key) {
  PanelContext& context = view.context;
  const Theme& theme = context.theme();
  const TextStyle number{Face::Mono, 11.0f, theme.text}, word{Face::Sans, 11.0f, theme.text2};
  const std::string index = std::to_string(key);
  const std::string text =
      elide_middle(token_at(view, view.layer.axes.keys, key), 64.0f, context.ui.measure(), word.face, word.size);
  const float index_width = context.ui.width(index, number), width = index_width + 5.0f + context.ui.width(text, word);
  if (x + width > right) return right + 1.0f;
  const Rect area{x - 3.0f, y - 8.0f, x + width + 3.0f, y + 8.0f};
  const Interaction hit = context.ui.interact("key " + index, area, Cursor::Hand);
  if (hit.hovered) {
    context.hover.key = key;
    context.painter().fill_rect(area, theme.hover, 2.0f);
  }
  if (hit.clicked) context.ui.run("pin - " + index);
  context.painter().text_at(x, y, index, number);
  context.painter().text_at(x + index_width + 5.0f, y, text, word);
  return x + width + 12.0f;
}

// `values` over their positions, as points; every k-th where there are very many, each the largest of its k.
struct Positions {
  std::vector<double> x, y;
};
Positions positions_of(std::span<const float> values, bool largest = true) {
  Positions out;
  const std::size_t every = 1 + values.size() / kMostSinkRows;
  for (std::size_t i = 0; i < values.size(); i += every) {
    std::size_t best = i;
    for (std::size_t j = i; j < std::min(values.size(), i + every); ++j)
      if (std::isnan(values[best]) || (largest ? values[j] > values[best] : values[j] < values[best])) best = j;
    out.x.push_back(static_cast<double>(best));
    out.y.push_back(static_cast<double>(values[best]));
  }
  return out;
}

void draw_received(HeadPanelView& view, Rect area) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const auto rows = static_cast<std::size_t>(view.layer.length);
  const std::span<const float> both = view.layer.row_values("keys/attention_received", view.head.head);
  const std::array<std::span<const float>, 2> parts = {map_part(both, 0, rows), view.pair() || !view.program.has_first()
                                                                                    ? map_part(both, 1, rows)
                                                                                    : std::span<const float>()};
  if (parts[0].empty() && parts[1].empty()) {
    draw_note(context, area, "The run kept no attention received per key.");
    return;
  }
  const AxisSpec y = axis_spec(1e-4, 1.0, true);
  AxisSpec x = axis_spec(0.0, std::max(1.0, static_cast<double>(rows) - 1.0));
  x.whole = x.high_label = true;
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure());
  if (frame.inner.width() < 30.0f || frame.inner.height() < 20.0f) return;
  draw_plot_ground(painter, frame, theme);
  LabelSpace space(frame.inner);
  const std::array<ReferenceLine, 1> lines = {
      {{true, context.state.view.heads.threshold, theme.warn, LineStyle::Dashed, "ε", 1.0f}}};
  draw_lines(painter, frame, lines, space);
  for (std::size_t map = 0; map < 2; ++map) {
    if (std::ranges::none_of(parts[map], [](float value) { return std::isfinite(value); })) continue;
    Positions points = positions_of(parts[map]);
    for (double& value : points.y) value = std::max(value, 1e-4);  // what is less stands on the axis
    draw_cloud(painter, frame, points.x, points.y,
               view.pair() ? (map == 0 ? theme.first : theme.second) : theme.accent);
  }
  const auto mark = [&](std::optional<std::int64_t> key, Color color) {
    if (key)
      painter.line({frame.x.pixel(static_cast<double>(*key)), frame.inner.y0},
                   {frame.x.pixel(static_cast<double>(*key)), frame.inner.y1}, color, 1.0f);
  };
  mark(context.state.hover.key, theme.text3);
  mark(context.state.view.selection.key, theme.accent);
  draw_plot_axes(painter, frame, theme);
  const Interaction hit = context.ui.interact("received", frame.inner, Cursor::Crosshair);
  if (hit.hovered) {
    const auto key = static_cast<std::int64_t>(
        std::clamp(std::lround(frame.x.value(context.ui.input.pointer.x)), 0L, static_cast<long>(rows) - 1));
    context.hover.key = key;
    if (hit.clicked) context.ui.run("pin - " + std::to_string(key));
  }
}

}  // namespace

void draw_sinks(HeadPanelView& view, Rect area) {
  PanelContext& context = view.context;
  const Theme& theme = context.theme();
  const auto text = [](double value) { return fixed_text(value, 3); };
  std::vector<NamedValue> values;
  if (view.pair()) {
    values = {{"α₀", text(view.value("sink_score", 0)), theme.first},
              {"", text(view.value("sink_score", 1)), theme.second},
              {"net", text(view.value("sink_score_net", 0)), kPlain},
              {"share of |w|", text(view.value("sink_score_absolute", 0)), kPlain}};
  } else {
    values = {{"α₀", text(view.value("sink_score", view.program.has_first() ? 0 : 1)), kPlain}};
  }
  draw_named_values(context, area.cut_top(18.0f), values);
  const std::array<NamedValue, 1> null = {{{"uniform attention", readout_text(view.run.sink_null), theme.warn}}};
  draw_named_values(context, area.cut_top(18.0f), null);

  const std::size_t map = view.program.has_first() ? 0 : 1;
  Rect row = area.cut_top(18.0f);
  const double position = view.value("top_sink_position", map);
  if (position >= 0.0) {
    const std::string name = "top sink";
    context.painter().text_at(row.x0, row.centre_y(), name, theme.hint());
    const float x = row.x0 + context.ui.width(name, theme.hint()) + 8.0f;
    context.ui.push_id("top");
    const float next = draw_key_link(view, x, row.centre_y(), row.x1 - 44.0f, static_cast<std::int64_t>(position));
    context.ui.pop_id();
    if (next <= row.x1)
      context.painter().text_at(row.x1, row.centre_y(), text(view.value("top_sink_score", map)),
                                {Face::Mono, 11.0f, theme.text}, Painter::Align::Right);
  }
  row = area.cut_top(18.0f);
  std::vector<NamedValue> shares;
  const std::vector<std::int64_t>& points = top_k_points();
  for (const std::size_t k : {std::size_t{0}, std::size_t{2}, std::size_t{4}}) {
    const double share = view.value("top_key_mass", map * points.size() + k);
    shares.push_back({(k == 0 ? "share of the top " : "top ") + std::to_string(points[k]),
                      std::isnan(share) ? "–" : fixed_text(100.0 * share, 1) + " %", kPlain});
  }
  draw_named_values(context, row, shares);
  row = area.cut_top(18.0f);
  float x = row.x0 + 2.0f;
  for (std::size_t rank = 0; rank < 5 && x < row.x1; ++rank) {
    const double key = view.value("top_key_position", map * static_cast<std::size_t>(kRanks) + rank);
    if (!(key >= 0.0)) break;
    x = draw_key_link(view, x, row.centre_y(), row.x1, static_cast<std::int64_t>(key));
  }
  draw_received(view, area);
}

void draw_logits(HeadPanelView& view, Rect area) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const HeadSeries& series = view.series;
  const std::size_t rows = series.rows();
  const std::span<const float> largest = view.layer.row_values("rows/logit_max", view.head.head);
  const std::span<const float> smallest = view.layer.row_values("rows/logit_min", view.head.head);
  const std::size_t only = view.program.has_first() ? 0 : 1;
  const auto number = [](double value) { return fixed_text(value, 1); };
  double spread = 0.0, counted = 0.0;
  if (largest.size() == 2 * rows && smallest.size() == 2 * rows)
    for (std::size_t i = 0; i < rows; ++i)
      if (series.faint[i] == 0)
        spread += static_cast<double>(largest[only * rows + i]) - static_cast<double>(smallest[only * rows + i]),
            counted += 1.0;
  const std::array<NamedValue, 3> values = {{{"max", number(view.value("logit_max", only)), kPlain},
                                             {"min", number(view.value("logit_min", only)), kPlain},
                                             {"mean range", counted > 0.0 ? number(spread / counted) : "–", kPlain}}};
  draw_named_values(context, area.cut_top(18.0f), values);
  Rect list = area.cut_bottom(18.0f * static_cast<float>(std::min<std::size_t>(3, series.outliers.size())) + 22.0f);
  if (largest.size() != 2 * rows || smallest.size() != 2 * rows || rows == 0) {
    draw_note(context, area, "The run kept no logits per query.");
    return;
  }
  double low = kInfinity, high = -kInfinity;
  for (std::size_t i = only * rows; i < (view.pair() ? 2 : only + 1) * rows; ++i) {
    if (std::isfinite(smallest[i])) low = std::min(low, static_cast<double>(smallest[i]));
    if (std::isfinite(largest[i])) high = std::max(high, static_cast<double>(largest[i]));
  }
  if (!std::isfinite(low) || !std::isfinite(high)) {
    draw_note(context, area, "No logit is finite.");
    return;
  }
  const Range range = nice_range(low, std::max(high, low + 1e-6), false);
  const AxisSpec y = axis_spec(range.low, range.high);
  AxisSpec x = axis_spec(0.0, std::max(1.0, static_cast<double>(rows) - 1.0));
  x.whole = x.high_label = true;
  PlotRoom room;
  const float margin = view.narrow ? 38.0f : 48.0f;
  room.right = margin + 8.0f;
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), room);
  if (frame.inner.width() >= 30.0f && frame.inner.height() >= 20.0f) {
    draw_plot_ground(painter, frame, theme);
    const Rect side = frame.right_margin(6.0f, margin);
    painter.fill_rect(Rect::sized(side.x0 - 1.0f, side.y0, 1.0f, side.height()), theme.faint);
    for (std::size_t map = 0; map < 2; ++map) {
      if (map == 0 ? !view.program.has_first() : !view.program.has_second()) continue;
      const Color color = view.pair() ? (map == 0 ? theme.first : theme.second) : theme.accent;
      const Positions top = positions_of(largest.subspan(map * rows, rows)),
                      bottom = positions_of(smallest.subspan(map * rows, rows), false);
      draw_cloud(painter, frame, top.x, top.y, color);
      draw_cloud(painter, frame, bottom.x, bottom.y, color.faded(0.5f));
      const std::span<const float> counts = view.layer.row_values("hist/logit", view.head.head);
      const kernels::UniformBins bins = logit_bins();
      const auto size = static_cast<std::size_t>(bins.bins);
      if (counts.size() != 2 * size) continue;
      Histogram shown;
      for (std::size_t b = 0; b < size; ++b) {
        const double from = bins.low + bins.width * static_cast<double>(b);
        if (from + bins.width < range.low || from > range.high) continue;
        if (!is_whole_bin(b, size, low < bins.low, high >= bins.low + bins.width * static_cast<double>(size))) continue;
        if (shown.edges.empty()) shown.edges.push_back(from);
        shown.edges.push_back(from + bins.width);
        shown.counts.push_back(static_cast<double>(counts[map * size + b]));
      }
      if (!shown.counts.empty())
        draw_bars(painter, horizontal_bars(shown, frame.y, side), side, color.faded(view.pair() ? 0.5f : 0.75f));
    }
    if (const auto query = context.state.view.selection.query)
      painter.line({frame.x.pixel(static_cast<double>(*query)), frame.inner.y0},
                   {frame.x.pixel(static_cast<double>(*query)), frame.inner.y1}, theme.accent, 1.0f);
    draw_plot_axes(painter, frame, theme);
    const Interaction hit = context.ui.interact("logits", frame.inner, Cursor::Crosshair);
    if (hit.hovered) {
      const auto query = static_cast<std::int64_t>(
          std::clamp(std::lround(frame.x.value(context.ui.input.pointer.x)), 0L, static_cast<long>(rows) - 1));
      context.hover.query = query;
      if (hit.clicked) context.ui.run("pin " + std::to_string(query) + " -");
    }
  }

  context.ui.label({list.x0, list.y0 + 16.0f}, "largest, with query and key", theme.hint(), list.width());
  list.cut_top(22.0f);
  for (const HeadSeries::Outlier& one : series.outliers) {
    const Rect row = list.cut_top(18.0f);
    if (row.height() < 18.0f) break;
    const std::string place =
        "query " + std::to_string(one.query) + (one.key >= 0 ? "  key " + std::to_string(one.key) : "");
    const Interaction hit = context.ui.interact(
        "outlier " + std::to_string(one.query) + (one.component == 0 ? "a" : "b"), row, Cursor::Hand);
    if (hit.hovered) {
      painter.fill_rect(row.inset(-4.0f, 0.0f), theme.hover, 2.0f);
      context.hover.query = one.query;
      if (one.key >= 0) context.hover.key = one.key;
    }
    if (hit.clicked)
      context.ui.run("pin " + std::to_string(one.query) + " " + (one.key >= 0 ? std::to_string(one.key) : "-"));
    const Color color = view.pair() ? (one.component == 0 ? theme.first : theme.second) : theme.text;
    painter.text_at(row.x0 + 44.0f, row.centre_y(), number(one.logit), {Face::Mono, 11.0f, color},
                    Painter::Align::Right);
    context.ui.label({row.x0 + 56.0f, row.centre_y() + 4.0f},
                     place + (one.key >= 0 ? "  " + token_at(view, view.layer.axes.rows, one.query) + " → " +
                                                 token_at(view, view.layer.axes.keys, one.key)
                                           : ""),
                     {Face::Sans, 11.0f, theme.text2}, row.x1 - row.x0 - 56.0f);
  }
}

}  // namespace headroom
