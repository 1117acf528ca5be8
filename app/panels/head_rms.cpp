// Context RMS over visible keys against its bounds, the shares of rows below, inside and above, the premise.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/panels/head_sections.h"
#include "app/plot/number_text.h"
#include "app/plot/plot_frame.h"
#include "app/plot/series.h"

namespace headroom {
namespace {

struct RmsSubject {
  std::span<const float> values;
  bool bounded = false;  // ρ and ‖w‖₂ have the interval; raw RMS has it in units of the values only
  const char* none;      // why there is nothing
};

RmsSubject subject_of(const HeadPanelView& view) {
  const std::string& rms = view.context.state.view.head.rms;
  if (rms == "raw") return {view.series.rms, false, "The run kept no context RMS per row."};
  if (rms == "weights") return {view.series.weight_l2, true, "The run kept no ‖w‖₂ per row."};
  return {view.series.rho, true, "The run kept no ρ per row."};
}

// Rows to draw: all, or every k-th where there are very many.
constexpr std::size_t kMostRmsRows = 40000;

template <typename T>
std::vector<double> thinned(std::span<const T> values, std::size_t every) {
  std::vector<double> out;
  for (std::size_t i = 0; i < values.size(); i += every) out.push_back(static_cast<double>(values[i]));
  return out;
}

bool constant(std::span<const float> values) {
  return !values.empty() && std::ranges::all_of(values, [&](float v) { return v == values.front(); });
}

struct BoundCurves {
  std::vector<double> x, one, low, high;  // over a log grid of n
};

BoundCurves bound_curves(double most, double lambda) {
  BoundCurves curves;
  for (int i = 0; i <= 64; ++i) {
    const double n = std::pow(most, static_cast<double>(i) / 64.0);
    curves.x.push_back(n);
    curves.one.push_back(1.0 / std::sqrt(n));
    curves.low.push_back((lambda < 0.0 ? 1.0 - lambda : std::abs(1.0 - lambda)) / std::sqrt(n));
    curves.high.push_back(lambda < 0.0 ? 1.0 - lambda : std::sqrt(1.0 + lambda * lambda));
  }
  return curves;
}

constexpr float kSwitchHeight = 18.0f;

std::array<Choice, 3> switch_choices(const HeadPanelView& view) {
  const std::string rms = view.context.state.view.head.rms;
  return {{{"ρ", "head.rms relative", rms == "relative", ""},
           {"raw", "head.rms raw", rms == "raw", ""},
           {"‖w‖₂", "head.rms weights", rms == "weights", ""}}};
}

void draw_shares(HeadPanelView& view, Rect row) {
  constexpr std::size_t kVariant = 2;  // of the axis bound
  const auto share = [&](const char* name) {
    const double value = view.value(name, kVariant);
    return std::isnan(value) ? std::string("–") : fixed_text(100.0 * value, 1) + " %";
  };
  const std::array<NamedValue, 3> values = {{{"below", share("rows_below_bound"), {0, 0, 0, 0}},
                                             {"inside", share("rows_inside_bound"), {0, 0, 0, 0}},
                                             {"above", share("rows_above_bound"), {0, 0, 0, 0}}}};
  draw_named_values(view.context, row, values);
  // Which rows these are, where there is room.
  const Theme& theme = view.context.theme();
  float used = 0.0f;
  for (const NamedValue& one : values)
    used += view.context.ui.width(one.name, theme.hint()) +
            view.context.ui.width(one.value, {Face::Mono, 11.0f, theme.text}) + 18.0f;
  const std::string rows = "rows nᵢ ≥ " + std::to_string(view.series.min_row);
  if (used + view.context.ui.width(rows, theme.hint()) <= row.width())
    view.context.painter().text_at(row.x1, row.centre_y(), rows, theme.hint(), Painter::Align::Right);
}

void draw_premise(HeadPanelView& view, Rect row) {
  PanelContext& context = view.context;
  const Theme& theme = context.theme();
  const double share = view.value("value_mean_share", 0);
  if (std::isnan(share)) return;
  const double most = view.series.visible.empty() ? static_cast<double>(view.run.length)
                                                  : *std::ranges::max_element(view.series.visible);
  const double product = share * most;
  const bool fails = !(product < 0.1);
  const std::string number = product >= 10.0 ? fixed_text(product, 0) : readout_text(product);
  const std::string full = fails ? "premise fails: value mean share m·n = " + number + ", limit 0.1"
                                 : "premise holds: value mean share m·n = " + number + " < 0.1";
  const std::string brief = (fails ? "premise fails: m·n = " : "premise holds: m·n = ") + number;
  const TextStyle style{Face::Sans, 11.0f, fails ? theme.warn : theme.text3};
  float x = row.x0;
  if (fails) {
    context.ui.icon(Icon::Warning, {x + 6.0f, row.centre_y()}, 12.0f, theme.warn);
    x += 17.0f;
  }
  const bool fits = context.ui.width(full, style) <= row.x1 - x;
  context.ui.label({x, row.centre_y() + 4.0f}, fits ? full : brief, style, row.x1 - x);
  context.ui.tooltip(
      row, "The interval holds for values that are uncorrelated and of zero mean.\nm = ‖mean v‖² / mean ‖v‖² " +
               std::string("enters multiplied by n: above 0.1 the interval says little about this head."));
}

}  // namespace

float rms_switch_width(const HeadPanelView& view) {
  return view.context.ui.segmented({0.0f, 0.0f}, kSwitchHeight, switch_choices(view), false);
}

void draw_rms(HeadPanelView& view, Rect area) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const HeadSeries& series = view.series;
  const RmsSubject subject = subject_of(view);

  const float width = rms_switch_width(view);
  if (width <= area.width())
    context.ui.segmented({area.x1 - width, area.y0 - kSwitchHeight - 2.0f}, kSwitchHeight, switch_choices(view));
  draw_shares(view, area.cut_top(16.0f));
  area.cut_top(4.0f);
  draw_premise(view, area.cut_bottom(18.0f));
  if (subject.values.empty()) {
    draw_note(context, area, subject.none, "A run made here keeps the rows of each layer, as far as memory allows.");
    return;
  }

  const double most = std::max(2.0, *std::ranges::max_element(series.visible));
  double low = std::numeric_limits<double>::infinity(), high = 0.0;
  for (const float value : subject.values)
    if (value > 0.0f && std::isfinite(value))
      low = std::min(low, static_cast<double>(value)), high = std::max(high, static_cast<double>(value));
  if (!(high > 0.0)) {
    draw_note(context, area, "Every row is zero.", "The head gives nothing to the stream.");
    return;
  }
  if (subject.bounded) {
    // The bounds belong into the picture, down to 1/√n.
    high = std::max(high, series.pair ? 1.5 : 1.2);
    low = std::min(low, 0.6 / std::sqrt(most));
    low = std::max(low, 1e-4);
  }
  const Range y_range = nice_range(low, high, true);
  AxisSpec x = axis_spec(1.0, most, true), y = axis_spec(y_range.low, y_range.high, true);
  x.high_label = true;
  y.low_label = true;
  PlotRoom room;
  const float margin = view.narrow ? 38.0f : 48.0f;
  room.right = margin + 8.0f;
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), room);
  if (frame.inner.width() < 30.0f || frame.inner.height() < 24.0f) return;
  draw_plot_ground(painter, frame, theme);

  const bool one_lambda = series.pair && constant(series.lambda);
  const double lambda = one_lambda ? static_cast<double>(series.lambda.front()) : 0.0;
  const BoundCurves curves = bound_curves(most, lambda);
  const bool whole_low = !series.pair && view.program.sink == SinkSource::None;  // a softmax row: 1/√n … 1
  LabelSpace space(frame.inner);
  const std::size_t every = 1 + series.rows() / kMostRmsRows;
  const std::vector<double> n = thinned(std::span<const double>(series.visible), every);
  const std::vector<double> values = thinned(subject.values, every);
  const std::vector<double> row_low = thinned(std::span<const double>(series.low), every);
  const std::vector<double> row_high = thinned(std::span<const double>(series.high), every);
  std::vector<std::uint8_t> faint;
  for (std::size_t i = 0; i < series.rows(); i += every) faint.push_back(series.faint[i]);

  std::vector<double> counted;
  for (std::size_t i = 0; i < series.rows(); ++i)
    if (series.faint[i] == 0) counted.push_back(static_cast<double>(subject.values[i]));

  if (subject.bounded) {
    if (whole_low) {
      const std::vector<double> ones(curves.x.size(), 1.0);
      draw_band(painter, frame, curves.x, curves.one, ones, theme.text.faded(0.05f));
    } else if (one_lambda) {
      draw_band(painter, frame, curves.x, curves.low, curves.high, theme.text.faded(0.05f));
    }
  }
  double first_counted = most;
  for (std::size_t i = 0; i < series.rows(); ++i)
    if (series.faint[i] == 0) first_counted = std::min(first_counted, series.visible[i]);
  if (first_counted > 1.0) draw_veil(painter, frame, theme, 1.0, first_counted);

  const bool per_row = subject.bounded && !whole_low && !one_lambda;
  if (per_row) {
    draw_cloud(painter, frame, n, row_low, theme.lambda, faint);
    draw_cloud(painter, frame, n, row_high, theme.lambda, faint);
  }
  draw_cloud(painter, frame, n, values, theme.accent, faint);

  if (subject.bounded) {
    const std::vector<double> ones(curves.x.size(), 1.0);
    if (whole_low) {
      draw_curve(painter, frame, curves.x, curves.one, theme.text, 1.5f);
      draw_dashed_curve(painter, frame, curves.x, ones, theme.text, 1.5f, 5.0f, 3.0f);
    } else {
      draw_dashed_curve(painter, frame, curves.x, curves.one, theme.text, 1.5f, 5.0f, 3.0f);
    }
    if (one_lambda) {
      draw_curve(painter, frame, curves.x, curves.low, theme.lambda, 1.5f);
      draw_curve(painter, frame, curves.x, curves.high, theme.lambda, 1.5f);
      draw_curve_name(painter, frame, curves.x, curves.high, lambda < 0.0 ? "1+|λ|" : "√(1+λ²)", theme.lambda, space);
      draw_curve_name(painter, frame, curves.x, curves.low, lambda < 0.0 ? "(1+|λ|)/√nᵢ" : "|1−λ|/√nᵢ", theme.lambda,
                      space);
    } else if (per_row && series.pair) {
      draw_curve_name(painter, frame, curves.x, std::vector<double>(curves.x.size(), std::sqrt(2.0)), "√(1+λᵢ²)",
                      theme.lambda, space);
      std::vector<double> half;
      for (const double one : curves.one) half.push_back(0.25 * one);
      draw_curve_name(painter, frame, curves.x, half, "(1−λᵢ)/√nᵢ", theme.lambda, space);
    } else if (per_row) {
      draw_curve_name(painter, frame, curves.x, ones, "1 − sink share", theme.lambda, space);
    }
    draw_curve_name(painter, frame, curves.x, curves.one, "1/√nᵢ", theme.text, space);
  }
  draw_plot_axes(painter, frame, theme);

  // The histogram shares the axis; the bounds run through it.
  const Rect side = frame.right_margin(6.0f, margin);
  const Histogram counts =
      histogram(counted, y_range.low, y_range.high,
                static_cast<std::size_t>(std::clamp(frame.inner.height() / 5.0f, 8.0f, 60.0f)), true);
  painter.fill_rect(Rect::sized(side.x0 - 1.0f, side.y0, 1.0f, side.height()), theme.faint);
  draw_bars(painter, horizontal_bars(counts, frame.y, side), side, theme.accent.faded(0.75f));
  if (subject.bounded) {
    const double last_low =
        !series.low.empty() && !std::isnan(series.low.back()) ? series.low.back() : 1.0 / std::sqrt(most);
    const double last_high = one_lambda                                                ? curves.high.front()
                             : series.pair                                             ? std::sqrt(2.0)
                             : !series.high.empty() && !std::isnan(series.high.back()) ? series.high.back()
                                                                                       : 1.0;
    for (const double bound : {last_low, last_high})
      if (bound >= y_range.low && bound <= y_range.high) {
        const float y_pixel = frame.y.pixel(bound);
        painter.line({side.x0, y_pixel}, {side.x1, y_pixel}, theme.text, 1.0f);
      }
  }

  // The row under the pointer, in all panels.
  const Interaction hit = context.ui.interact("plot", frame.inner, Cursor::Crosshair);
  std::ptrdiff_t near = -1;
  if (hit.hovered) {
    near = nearest_point(frame, n, values, context.ui.input.pointer);
    if (near >= 0) {
      const std::size_t row = static_cast<std::size_t>(near) * every;
      context.hover.query = static_cast<std::int64_t>(row);
      context.ui.tooltip(
          Rect::sized(context.ui.input.pointer.x - 6.0f, context.ui.input.pointer.y - 6.0f, 12.0f, 12.0f),
          "query " + std::to_string(row) + "  nᵢ " + fixed_text(series.visible[row], 0) + "\n" +
              readout_text(static_cast<double>(subject.values[row])));
      if (hit.clicked) context.ui.run("pin " + std::to_string(row) + " -");
    }
  }
  const auto mark = [&](std::optional<std::int64_t> query, Color color) {
    if (!query || *query < 0 || static_cast<std::size_t>(*query) >= series.rows()) return;
    const auto row = static_cast<std::size_t>(*query);
    const double value = static_cast<double>(subject.values[row]);
    if (!(value >= y_range.low && value <= y_range.high)) return;
    painter.ring(frame.at(series.visible[row], value), 4.0f, color, 1.5f);
  };
  mark(context.state.view.selection.query, theme.text);
  mark(context.state.hover.query, theme.text2);
}

}  // namespace headroom
