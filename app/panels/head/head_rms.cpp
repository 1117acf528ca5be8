// Context RMS, ρ or ‖w‖₂ over visible keys against the intervals of each, and what these assume.
#include "app/panels/head/head_rms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/figures/head_bounds.h"
#include "app/figures/premise_rows.h"
#include "app/figures/row_axis.h"
#include "app/figures/row_curve.h"
#include "app/panels/head/head_intervals.h"
#include "app/panels/head/head_view.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/plot/plot_frame.h"
#include "app/plot/quantiles.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/run/premise.h"

namespace headroom {
namespace {

// What the tab shows, and why there is nothing where there is none.
std::span<const float> tab_values(const HeadSeries& series, RmsTab tab) {
  return tab == RmsTab::Raw ? series.rms : tab == RmsTab::Weights ? series.weight_l2 : series.rho;
}

const char* none_kept(RmsTab tab) {
  return tab == RmsTab::Raw       ? "The run kept no context RMS per row."
         : tab == RmsTab::Weights ? "The run kept no ‖w‖₂ per row."
                                  : "The run kept no ρ per row.";
}

// Rows to draw: all, or every k-th where there are very many.
constexpr std::size_t kMostRmsRows = 40000;

template <typename T>
std::vector<double> thinned(std::span<const T> values, std::size_t every) {
  std::vector<double> out;
  for (std::size_t i = 0; i < values.size(); i += every) out.push_back(static_cast<double>(values[i]));
  return out;
}

constexpr float kSwitchHeight = 18.0f, kBetweenNames = 12.0f;

std::array<Choice, 3> switch_choices(const HeadPanelView& view) {
  const std::string rms = view.context.state.view.head.rms;
  return {{{"ρ", "head.rms relative", rms == "relative", ""},
           {"raw", "head.rms raw", rms == "raw", ""},
           {"‖w‖₂", "head.rms weights", rms == "weights", ""}}};
}

const RunPremise& run_premise(HeadPanelView& view) {
  return kept_for(view.memory.piece("premise"), &view.run, [&] { return RunPremise(view.run); });
}

std::string premise_tooltip(const HeadPremise& premise, std::int64_t tests) {
  const std::string counts = "\nIn uniform attention the values count as " + short_text(premise.count) +
                             " uncorrelated ones of " + short_text(premise.visible) + ".";
  if (tests == 0)
    return "The interval holds for values that are uncorrelated and of zero mean.\nm = ‖mean v‖² / mean ‖v‖², times the "
           "visible keys n: uncorrelated values give 1, and less than " +
           short_text(premise.limit) + counts +
           "\nWhether they are uncorrelated: Run, Measure the premise of the bounds.";
  return "K = Σ RMS² / Σ q² is " + short_text(premise.coherence) + "; with random signs of the values " +
         short_text(premise.low) + " to " + short_text(premise.high) +
         " (95 % of 999 draws over this text).\np = " + short_text(premise.adjusted) + " among " +
         std::to_string(tests) + " heads (Benjamini and Hochberg), " + short_text(premise.p) + " alone." + counts +
         "\nIn the plot: blue, where 90 % of the draws put the rows; dotted, uniform attention.";
}

void draw_premise(HeadPanelView& view, Rect row) {
  PanelContext& context = view.context;
  const Theme& theme = context.theme();
  const RunPremise& premises = run_premise(view);
  const HeadPremise premise = premises.of(view.head.layer, view.head.head);
  const std::string words = premise_words(premise);
  if (words.empty()) return;
  const bool fails = premise.fails(), tested = premises.tests() > 0;
  const std::string number = tested ? "K = " + short_text(premise.coherence) : "m·n = " + short_text(premise.product),
                    besides =
                        tested ? " (random signs: " + short_text(premise.low) + " to " + short_text(premise.high) + ")"
                               : " (uncorrelated: 1)";
  const TextStyle style{Face::Sans, 11.0f, fails ? theme.warn : theme.text3};
  float x = row.x0;
  if (fails) {
    context.ui.icon(Icon::Warning, {x + 6.0f, row.centre_y()}, 12.0f, theme.warn);
    x += 17.0f;
  }
  const std::string whole = words + ", " + number + besides, some = words + ", " + number,
                    brief = fails ? "premise fails: " + number : some;
  const auto fits = [&](const std::string& text) { return context.ui.width(text, style) <= row.x1 - x; };
  context.ui.label({x, row.centre_y() + 4.0f}, fits(whole) ? whole : fits(some) ? some : brief, style, row.x1 - x);
  context.ui.tooltip(row, premise_tooltip(premise, premises.tests()));
}

// What the intervals of this tab assume.
void draw_footnote(HeadPanelView& view, RmsTab tab, Rect row) {
  if (tab == RmsTab::Relative) {
    draw_premise(view, row);
    return;
  }
  const bool weights = tab == RmsTab::Weights;
  const std::string full = weights ? "true for any values: a row outside its own would be a bug"
                                   : "no interval is promised for raw RMS; ρ is in units of the values",
                    brief = weights ? "true for any values" : "no interval is promised for raw RMS";
  const TextStyle style = view.context.theme().hint();
  view.context.ui.label({row.x0, row.centre_y() + 4.0f},
                        view.context.ui.width(full, style) <= row.width() ? full : brief, style, row.width());
}

// An end along the axis of the rows, for those that are curves.
struct EndCurve {
  std::vector<double> x, y;
};

EndCurve end_curve(const RowEnd& end, const HeadSeries& series) {
  EndCurve curve;
  curve.x = place_grid(series, 64);
  for (const double place : curve.x) curve.y.push_back(end.at(0, visible_at(series, place)));
  return curve;
}

// The plot of one tab while it is drawn.
struct RmsPlot {
  HeadPanelView& view;
  const RowIntervals& intervals;
  PlotFrame frame;
  std::size_t every = 1;
  std::vector<double> place;        // of the rows drawn
  std::vector<std::uint8_t> faint;  // likewise

  [[nodiscard]] Color color(const RowInterval& interval) const {
    const Theme& theme = view.context.theme();
    return interval.own && interval.name != "softmax" ? theme.lambda : theme.text;
  }
};

// The ground between the ends of the head's own interval, below everything.
void draw_wash(RmsPlot& plot) {
  const RowInterval& own = plot.intervals.own();
  if (own.low.per_row() || own.high.per_row()) return;
  const EndCurve low = end_curve(own.low, plot.view.series), high = end_curve(own.high, plot.view.series);
  draw_band(plot.view.context.painter(), plot.frame, low.x, low.y, high.y, plot.view.context.theme().text.faded(0.05f));
}

// Where --premise was measured: where 90 % of the draws of random signs put the rows, and what uniform attention would
// have, dotted.
void draw_measured_premise(RmsPlot& plot) {
  const HeadPanelView& view = plot.view;
  const PremiseRows& premise = kept_for(view.memory.piece("premise rows"), view.head,
                                        [&] { return premise_rows(view.layer, view.head.head, view.series); });
  Painter& painter = view.context.painter();
  const Theme& theme = view.context.theme();
  draw_band(painter, plot.frame, premise.low.n, premise.low.median, premise.high.median, theme.second.faded(0.28f));
  draw_dashed_curve(painter, plot.frame, premise.uniform.place, premise.uniform.value, theme.warn, 1.2f, 1.5f, 2.5f);
}

void draw_end_clouds(RmsPlot& plot) {
  Painter& painter = plot.view.context.painter();
  for (const RowInterval& interval : plot.intervals.all)
    for (const RowEnd* end : {&interval.low, &interval.high})
      if (end->per_row())
        draw_cloud(painter, plot.frame, plot.place, thinned(std::span<const double>(end->rows), plot.every),
                   plot.color(interval), plot.faint);
}

// An end that is a line, or the middle of one's cloud, which carries the name.
struct NamedEnd {
  const RowInterval* interval;
  const RowEnd* end;
  EndCurve curve;
};

std::vector<NamedEnd> named_ends(const RmsPlot& plot) {
  std::vector<NamedEnd> ends;
  // The head's own first, so that its names find room; an end that two intervals share is drawn once.
  for (auto interval = plot.intervals.all.rbegin(); interval != plot.intervals.all.rend(); ++interval)
    for (const RowEnd* end : {&interval->high, &interval->low}) {
      const auto same = [&](const NamedEnd& other) { return other.end->name == end->name; };
      if (!end->drawn() || std::ranges::any_of(ends, same)) continue;
      EndCurve curve;
      if (end->per_row()) {
        const RowCurve& middle = kept_for(plot.view.memory.piece("middle of " + end->name), plot.view.head,
                                          [&] { return row_curve(plot.view.series, end->rows); });
        curve = {middle.place, end == &interval->high ? middle.upper : middle.lower};
        for (std::size_t i = 0; i < curve.y.size(); ++i)  // a single row has its value alone
          if (!std::isfinite(curve.y[i])) curve.y[i] = middle.median[i];
      } else {
        curve = end_curve(*end, plot.view.series);
      }
      ends.push_back({&*interval, end, std::move(curve)});
    }
  return ends;
}

void draw_end_lines(RmsPlot& plot) {
  Painter& painter = plot.view.context.painter();
  const std::vector<NamedEnd> ends = named_ends(plot);
  // Names stand clear of each other, and of the lines too where there is room.
  LabelSpace clear(plot.frame.inner), names(plot.frame.inner);
  for (const NamedEnd& one : ends) {
    if (one.end->per_row()) continue;
    for (const std::vector<Vec2>& piece : curve_pieces(plot.frame, one.curve.x, one.curve.y))
      clear.block_line(piece, 2.0f);
    if (one.interval->own)
      draw_curve(painter, plot.frame, one.curve.x, one.curve.y, plot.color(*one.interval), 1.5f);
    else
      draw_dashed_curve(painter, plot.frame, one.curve.x, one.curve.y, plot.color(*one.interval), 1.5f, 5.0f, 3.0f);
  }
  for (const NamedEnd& one : ends) {
    const TextMeasure& measure = painter.measure();
    auto place = lay_out_curve_name(plot.frame, one.curve.x, one.curve.y, one.end->name, measure, clear);
    if (!place) place = lay_out_curve_name(plot.frame, one.curve.x, one.curve.y, one.end->name, measure, names);
    if (!place) continue;
    // Two names in one line are not read as one.
    const Rect apart{place->x0 - kBetweenNames, place->y0, place->x1 + kBetweenNames, place->y1};
    names.block(apart), clear.block(apart);
    painter.fill_rect(place->inset(-1.0f, 1.0f), plot.view.context.theme().panel.faded(0.8f), 2.0f);  // above points
    painter.text_at(place->x0, place->centre_y(), one.end->name, {Face::Sans, 11.0f, plot.color(*one.interval)});
  }
}

// Where the ends are at the last row, through the margin's histogram.
void draw_end_marks(RmsPlot& plot, Rect side) {
  const std::size_t rows = plot.view.series.rows();
  for (const RowInterval& interval : plot.intervals.all)
    for (const RowEnd* end : {&interval.low, &interval.high}) {
      const double value = end->drawn() && rows > 0 ? end->at(rows - 1, plot.view.series.visible.back()) : kNaN;
      if (!(value >= plot.frame.y.low && value <= plot.frame.y.high)) continue;
      const float y = plot.frame.y.pixel(value);
      plot.view.context.painter().line({side.x0, y}, {side.x1, y}, plot.color(interval), 1.0f);
    }
}

// Rows without a finite value have no place on the axis: they stand at its foot in the colour of cells that are none.
void draw_lost_rows(RmsPlot& plot, std::span<const double> values) {
  if (plot.intervals.not_finite == 0) return;
  Painter& painter = plot.view.context.painter();
  const Rect& inner = plot.frame.inner;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    const float x = plot.frame.x.pixel(plot.place[i]);
    painter.fill_rect({x - 1.0f, inner.y1 - 5.0f, x + 1.0f, inner.y1}, plot.view.context.theme().hatch);
  }
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
  const RmsTab tab = rms_tab(context.state.view.head.rms);
  const std::span<const float> rows = tab_values(series, tab);
  const RowIntervals& intervals = series.intervals[static_cast<std::size_t>(tab)];

  const float width = rms_switch_width(view);
  if (width <= area.width())
    context.ui.segmented({area.x1 - width, area.y0 - kSwitchHeight - 2.0f}, kSwitchHeight, switch_choices(view));
  draw_interval_table(view, intervals, area.cut_top(interval_table_height(view)));
  draw_footnote(view, tab, area.cut_bottom(18.0f));
  if (rows.empty()) {
    draw_note(context, area, none_kept(tab), "A run made here keeps the rows of each layer, as far as memory allows.");
    return;
  }

  const double most = std::max(2.0, *std::ranges::max_element(series.visible));
  double low = kInfinity, high = 0.0;
  for (const float value : rows)
    if (value > 0.0f && std::isfinite(value))
      low = std::min(low, static_cast<double>(value)), high = std::max(high, static_cast<double>(value));
  if (!(high > 0.0)) {
    const bool lost = std::ranges::none_of(rows, [](float value) { return std::isfinite(value); });
    draw_note(context, area, lost ? "No row is finite." : "Every row is zero.",
              lost ? "Weights or inputs of this layer are not numbers." : "The head gives nothing to the stream.");
    return;
  }
  // The ends belong into the picture, with room for the name above the highest line.
  double highest = 0.0;
  for (const RowInterval& interval : intervals.all)
    for (const RowEnd* end : {&interval.low, &interval.high}) {
      if (!end->drawn()) continue;
      const double at = end->per_row() ? quantile(end->rows, end == &interval.high ? 0.99 : 0.02) : end->at(0, most);
      if (!std::isfinite(at)) continue;
      high = std::max(high, 1.06 * at);
      if (!end->per_row()) highest = std::max(highest, at);
      if (at > 0.0) low = std::min(low, std::max(0.6 * at, 1e-4));
    }
  const double name_share = 17.0 / static_cast<double>(std::max(60.0f, area.height() - 30.0f));
  high = std::max(high, highest * std::pow(high / low, std::min(0.3, name_share)));
  const Range y_range = nice_range(low, high, true);
  const AxisSpec x = row_axis(series);
  AxisSpec y = axis_spec(y_range.low, y_range.high, true);
  y.low_label = true;
  PlotRoom room;
  const float margin = view.narrow ? 38.0f : 48.0f;
  room.right = margin + 8.0f;
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), room);
  if (frame.inner.width() < 30.0f || frame.inner.height() < 24.0f) return;
  draw_plot_ground(painter, frame, theme);

  RmsPlot plot{view, intervals, frame, 1 + series.rows() / kMostRmsRows, {}, {}};
  plot.place = thinned(std::span<const double>(series.place), plot.every);
  const std::vector<double> values = thinned(rows, plot.every);
  for (std::size_t i = 0; i < series.rows(); i += plot.every) plot.faint.push_back(series.faint[i]);
  std::vector<double> counted;
  for (std::size_t i = 0; i < series.rows(); ++i)
    if (series.faint[i] == 0) counted.push_back(static_cast<double>(rows[i]));
  draw_wash(plot);
  if (series.least > 1.0 && !series.by_position) draw_veil(painter, frame, theme, 1.0, series.least);
  if (tab == RmsTab::Relative && run_premise(view).tests() > 0) draw_measured_premise(plot);
  draw_end_clouds(plot);
  draw_cloud(painter, frame, plot.place, values, theme.accent, plot.faint);
  draw_lost_rows(plot, values);
  draw_end_lines(plot);
  draw_plot_axes(painter, frame, theme);

  // The histogram shares the axis; the ends run through it.
  const Rect side = frame.right_margin(6.0f, margin);
  const Histogram counts =
      histogram(counted, y_range.low, y_range.high,
                static_cast<std::size_t>(std::clamp(frame.inner.height() / 5.0f, 8.0f, 60.0f)), true);
  painter.fill_rect(Rect::sized(side.x0 - 1.0f, side.y0, 1.0f, side.height()), theme.faint);
  draw_bars(painter, horizontal_bars(counts, frame.y, side), side, theme.accent.faded(0.75f));
  draw_end_marks(plot, side);

  // The row under the pointer, in all panels.
  const Interaction hit = context.ui.interact("plot", frame.inner, Cursor::Crosshair);
  if (hit.hovered) {
    const std::ptrdiff_t near = nearest_point(frame, plot.place, values, context.ui.input.pointer);
    if (near >= 0) {
      const std::size_t row = static_cast<std::size_t>(near) * plot.every;
      context.hover.query = static_cast<std::int64_t>(row);
      context.ui.tooltip(
          Rect::sized(context.ui.input.pointer.x - 6.0f, context.ui.input.pointer.y - 6.0f, 12.0f, 12.0f),
          "query " + std::to_string(row) + "  nᵢ " + fixed_text(series.visible[row], 0) + "\n" +
              readout_text(static_cast<double>(rows[row])));
      if (hit.clicked) context.ui.run("pin " + std::to_string(row) + " -");
    }
  }
  const auto mark = [&](std::optional<std::int64_t> query, Color color) {
    if (!query || *query < 0 || static_cast<std::size_t>(*query) >= series.rows()) return;
    const auto row = static_cast<std::size_t>(*query);
    const double value = static_cast<double>(rows[row]);
    if (!(value >= y_range.low && value <= y_range.high)) return;
    painter.ring(frame.at(series.place[row], value), 4.0f, color, 1.5f);
  };
  mark(context.state.view.selection.query, theme.text);
  mark(context.state.hover.query, theme.text2);
}

}  // namespace headroom
