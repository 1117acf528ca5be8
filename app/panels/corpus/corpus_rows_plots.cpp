#include "app/panels/corpus/corpus_rows_plots.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/panels/corpus/corpus_lines.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/plot/plot_frame.h"
#include "app/plot/series.h"
#include "core/base/capitals.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/corpus/corpus_rows.h"

namespace headroom {
namespace {

constexpr std::string_view kRho = "context_rms_relative";
constexpr std::size_t kBars = 64;
constexpr double kNormal95 = 1.959964;  // of a standard error, half of a 95 % interval

Color map_color(const Theme& theme, std::size_t map, std::size_t maps) {
  return maps < 2 ? theme.accent : map == 0 ? theme.first : theme.second;
}
std::string map_title(std::size_t map, std::size_t maps) {
  return maps < 2 ? "" : map == 0 ? "first map" : "second map";
}

// Why the shown quantity is not what is drawn.
void draw_instead(PanelContext& context, const CorpusView& view, bool own, Rect& body) {
  if (own || body.height() < kNumberLine) return;
  const Rect row = body.cut_top(kNumberLine);
  context.ui.label_at(row.x0, row.centre_y(),
                      quantity_title(view.ref) + " is of no rows; in its place:", context.theme().hint(), row.width());
}

// Bars of each map between the ends of all.
struct RowHistogram {
  std::vector<std::vector<RowBar>> bars;
  double low = 0.0, high = 1.0, most = 0.0;  // of the axes
};

RowHistogram row_histogram(const RowCounts& counts) {
  RowHistogram made;
  made.low = kInfinity, made.high = -kInfinity;
  for (const RowCounts::OfMap& map : counts.maps) {
    made.bars.push_back(row_bars(counts.sketched->bins, map.counts, kBars));
    if (made.bars.back().empty()) continue;
    made.low = std::min(made.low, made.bars.back().front().low);
    made.high = std::max(made.high, made.bars.back().back().high);
    for (const RowBar& bar : made.bars.back()) made.most = std::max(made.most, static_cast<double>(bar.count));
  }
  return made;
}

void draw_histogram(PanelContext& context, const RowCounts& counts, const RowHistogram& histogram, Rect area) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const bool log = counts.sketched->bins.logarithmic;
  AxisSpec x = axis_spec(histogram.low, histogram.high, log);
  x.title = std::string(counts.sketched->formula) +
            (counts.sketched->units == "1" ? "" : ", " + std::string(counts.sketched->units));
  AxisSpec y = axis_spec(0.0, 1.05 * histogram.most);
  y.title = "rows";
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), {18.0f, 10.0f, {}, {}});
  if (frame.inner.width() < 50.0f || frame.inner.height() < 40.0f) return;
  draw_plot_ground(painter, frame, theme);
  const std::size_t maps = counts.maps.size();
  {
    DataClip clip(painter, frame.inner);
    for (std::size_t map = 0; map < maps; ++map)
      for (const RowBar& bar : histogram.bars[map]) {
        const float x0 = frame.x.pixel(bar.low), x1 = frame.x.pixel(bar.high);
        const float gap = x1 - x0 >= 4.0f ? 1.0f : 0.0f;
        painter.fill_rect({x0, frame.y.pixel(static_cast<double>(bar.count)), x1 - gap, frame.inner.y1},
                          map_color(theme, map, maps).faded(maps < 2 ? 0.85f : 0.55f));
      }
    for (std::size_t map = 0; map < maps; ++map) {
      const RowCounts::OfMap& of = counts.maps[map];
      const double median = sketch_quantile(counts.sketched->bins, of.counts, of.least, of.most, 0.5);
      if (!std::isfinite(median)) continue;
      const float at = frame.x.pixel(median);
      painter.line({at, frame.inner.y0}, {at, frame.inner.y1}, theme.text, 1.0f);
    }
    // The upper end of the interval of a softmax map.
    if (counts.sketched->name == kRho && histogram.low < 1.0 && histogram.high > 1.0) {
      const float at = frame.x.pixel(1.0);
      painter.dashed_line({at, frame.inner.y0}, {at, frame.inner.y1}, theme.mark, 1.5f, 5.0f, 3.0f);
    }
  }
  draw_plot_axes(painter, frame, theme);
  const Interaction hit = context.ui.interact("rows", frame.inner, Cursor::Crosshair);
  if (!hit.hovered) return;
  const double pointed = frame.x.value(context.ui.input.pointer.x);
  std::string tip;
  for (std::size_t map = 0; map < maps; ++map)
    for (const RowBar& bar : histogram.bars[map]) {
      if (pointed < bar.low || pointed >= bar.high) continue;
      const double share = static_cast<double>(bar.count) / static_cast<double>(counts.maps[map].rows());
      tip += (tip.empty() ? short_text(bar.low) + " … " + short_text(bar.high) + "\n" : "\n") +
             (maps < 2 ? "" : map_title(map, maps) + "  ") + grouped_text(bar.count) + " rows, " +
             fixed_text(100.0 * share, 2) + " %";
    }
  if (!tip.empty())
    context.ui.tooltip(Rect::sized(context.ui.input.pointer.x - 6.0f, frame.inner.y0, 12.0f, frame.inner.height()),
                       tip);
}

void draw_row_numbers(PanelContext& context, const RowCounts& counts, std::size_t map, Rect& body) {
  const Theme& theme = context.theme();
  const RowCounts::OfMap& of = counts.maps[map];
  const SketchBins& bins = counts.sketched->bins;
  const auto quantile = [&](double p) { return sketch_quantile(bins, of.counts, of.least, of.most, p); };
  const std::string name = map_title(map, counts.maps.size());
  number_line(context, body, name.empty() ? "median" : name, short_text(quantile(0.5)),
              "5 … 95 %: " + short_text(quantile(0.05)) + " … " + short_text(quantile(0.95)), theme.text);
  number_line(context, body, "all", short_text(of.least) + " … " + short_text(of.most),
              grouped_text(of.rows()) + (of.rows() == 1 ? " row" : " rows"), theme.text2);
  if (map == 0) {
    context.facts.set("corpus.rows", static_cast<double>(of.rows()));
    context.facts.set("corpus.rows_median", quantile(0.5));
  }
}

void draw_counts(PanelContext& context, const CorpusView& view, const CorpusRows& rows, Rect body) {
  const SketchedQuantity* own = sketch_of(view.ref);
  auto found = own == nullptr ? rows.counts.end() : rows.counts.find(std::string(own->name));
  const bool shown = found != rows.counts.end();
  if (!shown) found = rows.counts.find(std::string(kRho));
  if (found == rows.counts.end()) {
    draw_note(context, body,
              rows.step < 0 ? "The file counts no rows." : "A series counts no rows: open the file of one checkpoint.");
    return;
  }
  const RowCounts& counts = found->second;
  draw_instead(context, view, shown, body);
  heading_line(context, body, capitalised(std::string(counts.sketched->long_name)), "of all sequences");
  const RowHistogram& histogram =
      kept_for(context.ui.kept_value("row bars"), std::tuple(view.corpus.rows, found->first),
               [&] { return row_histogram(counts); });
  if (!(histogram.low < histogram.high)) {
    draw_note(context, body, "This head has this number in no row.");
    return;
  }
  const float numbers = 2.0f * kNumberLine * static_cast<float>(counts.maps.size()) + 6.0f;
  const bool room = body.height() > numbers + 100.0f;
  const Rect plot = body.cut_top(std::min(body.height() - (room ? numbers : 0.0f), 0.9f * body.width()));
  draw_histogram(context, counts, histogram, plot);
  if (!room) return;
  body.cut_top(6.0f);
  for (std::size_t map = 0; map < counts.maps.size(); ++map) draw_row_numbers(context, counts, map, body);
}

// A curve's points where it has any: in the middle of its bins, which are apart as logarithms are.
struct DrawnCurve {
  std::vector<double> x, mean, low, high;
};
struct DrawnCurves {
  std::vector<DrawnCurve> maps;
  double low = kInfinity, high = -kInfinity, most_keys = 1.0;
};

DrawnCurves drawn_curves(const CorpusRows& rows, const KeyCurve& curve) {
  // What is no signed number ends where it does.
  const bool lambda = curve.curve->name == "lambda", weight = curve.curve->name == "first_key_weight";
  const double least = lambda ? -kInfinity : 0.0, most = weight ? 1.0 : kInfinity;
  DrawnCurves made;
  for (const KeyCurve::OfMap& of : curve.maps) {
    DrawnCurve one;
    for (std::size_t bin = 0; bin < of.mean.size(); ++bin) {
      const CurveBin& keys = rows.visible[bin];
      const double error = std::isfinite(of.error[bin]) ? kNormal95 * of.error[bin] : 0.0;
      one.x.push_back(std::sqrt(static_cast<double>(keys.first) * static_cast<double>(keys.last)));
      one.mean.push_back(of.mean[bin]);
      one.low.push_back(std::max(of.mean[bin] - error, least));
      one.high.push_back(std::min(of.mean[bin] + error, most));
      if (!std::isfinite(of.mean[bin])) continue;
      made.low = std::min(made.low, one.low.back()), made.high = std::max(made.high, one.high.back());
      made.most_keys = std::max(made.most_keys, one.x.back());
    }
    made.maps.push_back(std::move(one));
  }
  return made;
}

void draw_key_curves(PanelContext& context, const CorpusRows& rows, const KeyCurve& curve, const DrawnCurves& drawn,
                     Rect area) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Range range = nice_range(drawn.low, drawn.high > drawn.low ? drawn.high : drawn.low + 1e-6, false);
  AxisSpec x = axis_spec(1.0, std::max(drawn.most_keys, 2.0), true);
  x.title = "keys that a row sees, n_i";
  AxisSpec y = axis_spec(range.low, range.high);
  y.title = std::string(curve.curve->formula) +
            (curve.curve->units == "1" ? "" : ", " + std::string(curve.curve->units)) + ", mean of sequences' means";
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), {18.0f, 10.0f, {}, {}});
  if (frame.inner.width() < 50.0f || frame.inner.height() < 40.0f) return;
  draw_plot_ground(painter, frame, theme);
  const std::size_t maps = drawn.maps.size();
  // Where rows of uncorrelated values would begin: the lower end of the interval.
  std::vector<double> low_end;
  if (curve.curve->name == kRho || curve.curve->name == "weight_l2")
    for (const double n : drawn.maps.front().x) low_end.push_back(1.0 / std::sqrt(n));
  if (!low_end.empty()) draw_dashed_curve(painter, frame, drawn.maps.front().x, low_end, theme.mark, 1.0f, 5.0f, 3.0f);
  for (std::size_t map = 0; map < maps; ++map) {
    const DrawnCurve& one = drawn.maps[map];
    draw_band(painter, frame, one.x, one.low, one.high, map_color(theme, map, maps).faded(0.22f));
    draw_curve(painter, frame, one.x, one.mean, map_color(theme, map, maps), 2.0f);
  }
  if (!low_end.empty()) {
    LabelSpace space(frame.inner);
    for (const DrawnCurve& one : drawn.maps)
      for (const std::vector<double>* const line : {&one.mean, &one.low, &one.high})
        for (const std::vector<Vec2>& piece : curve_pieces(frame, one.x, *line)) space.block_line(piece, 2.0f);
    draw_curve_name(painter, frame, drawn.maps.front().x, low_end, "1/√n_i", theme.text2, space);
  }
  draw_plot_axes(painter, frame, theme);
  const Interaction hit = context.ui.interact("keys", frame.inner, Cursor::Crosshair);
  if (!hit.hovered) return;
  const std::vector<double>& places = drawn.maps.front().x;
  std::size_t nearest = 0;
  for (std::size_t bin = 1; bin < places.size(); ++bin)
    if (std::abs(frame.x.pixel(places[bin]) - context.ui.input.pointer.x) <
        std::abs(frame.x.pixel(places[nearest]) - context.ui.input.pointer.x))
      nearest = bin;
  const CurveBin& keys = rows.visible[nearest];
  std::string tip = keys.first == keys.last ? grouped_text(keys.first) + (keys.first == 1 ? " key" : " keys")
                                            : grouped_text(keys.first) + "–" + grouped_text(keys.last) + " keys";
  for (std::size_t map = 0; map < maps; ++map) {
    const KeyCurve::OfMap& of = curve.maps[map];
    tip += "\n" + (maps < 2 ? "" : map_title(map, maps) + "  ") +
           (std::isfinite(of.mean[nearest]) ? short_text(of.mean[nearest]) : "–") +
           (std::isfinite(of.error[nearest]) ? " ± " + short_text(of.error[nearest]) : "");
  }
  context.ui.tooltip(
      {frame.x.pixel(places[nearest]) - 6.0f, frame.inner.y0, frame.x.pixel(places[nearest]) + 6.0f, frame.inner.y1},
      tip);
}

void draw_curves(PanelContext& context, const CorpusView& view, const CorpusRows& rows, Rect body) {
  if (rows.curves.empty()) {
    draw_note(context, body, "The file has no curves.", rows.step < 0 ? "It was made without --curves." : "");
    return;
  }
  const CurveQuantity* own = curve_of(view.ref);
  auto found = own == nullptr ? rows.curves.end() : rows.curves.find(std::string(own->name));
  const bool shown = found != rows.curves.end();
  if (!shown) found = rows.curves.find(std::string(kRho));
  if (found == rows.curves.end()) found = rows.curves.begin();
  const KeyCurve& curve = found->second;
  draw_instead(context, view, shown, body);
  heading_line(context, body, capitalised(std::string(curve.curve->long_name)), "");
  const DrawnCurves& drawn = kept_for(context.ui.kept_value("key curves"), std::tuple(view.corpus.rows, found->first),
                                      [&] { return drawn_curves(rows, curve); });
  if (!(drawn.low <= drawn.high)) {
    draw_note(context, body, "This head has this number in no row.");
    return;
  }
  const std::size_t maps = curve.maps.size();
  const bool room = body.height() > 2.0f * kNumberLine + 100.0f;
  draw_key_curves(
      context, rows, curve, drawn,
      body.cut_top(std::min(body.height() - (room ? 2.0f * kNumberLine + 6.0f : 0.0f), 0.9f * body.width())));
  context.facts.set("corpus.keys", static_cast<double>(rows.visible.back().last));
  context.facts.set("corpus.keys_mean", curve.maps.front().mean.back());
  if (!room) return;
  body.cut_top(6.0f);
  const Theme& theme = context.theme();
  const auto note = [&](const std::string& text) {
    const Rect row = body.cut_top(kNumberLine);
    context.ui.label_at(row.x0, row.centre_y(), text, theme.hint(), row.width());
  };
  if (maps > 1) {
    Rect row = body.cut_top(kNumberLine);
    for (std::size_t map = 0; map < maps; ++map)
      row.x0 += context.ui.label_at(row.x0, row.centre_y(), map_title(map, maps),
                                    theme.body(map_color(theme, map, maps)), row.width()) +
                12.0f;
  }
  note("Ribbon: ± 1.96 s.e. over sequences");
}

}  // namespace

void draw_corpus_rows(PanelContext& context, const CorpusView& view, Rect body) {
  const std::shared_ptr<const CorpusRows> rows = rows_of(view.corpus, *view.head);
  if (!rows) {
    draw_note(context, body,
              view.corpus.growing()             ? "Rows are counted in the file, which is being made."
              : view.corpus.rows_failed.empty() ? "The rows are being read."
                                                : view.corpus.rows_failed);
    return;
  }
  if (body.height() < 110.0f) return;
  if (context.state.view.corpus.side == CorpusSide::Rows)
    draw_counts(context, view, *rows, body);
  else
    draw_curves(context, view, *rows, body);
}

}  // namespace headroom
