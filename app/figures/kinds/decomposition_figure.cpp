// Why heads are quiet or loud: log ρ = log e + log r̃ + ½ log κ over the rows of one or two heads, and over layers.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/figures/head_series.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_beyond.h"
#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "app/figures/row_axis.h"
#include "app/figures/row_curve.h"
#include "app/figures/title_line.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr std::size_t kMostTermHeads = 2;
constexpr float kTermBand = 0.15f;
// Nats that the axis spans at least: what float32 rounds, some 10⁻⁷ of these, is not seen.
constexpr double kLeastSpan = 0.02;

// Solid lines first: where two lie on each other, both show.
struct TermStyle {
  const char *series, *name;
  MarkColor color;
  float width;
  LineDash dash;
};
constexpr std::array<TermStyle, kTerms> kTermStyles = {
    {{"log rho", "log *ρ*", ink::kNet, 1.2f, kSolidLine},
     {"log e", "log *e*", ink::kFirst, 1.0f, kSolidLine},
     {"log r", "log *r̃*", ink::kSecond, 1.0f, kLongDash},
     {"half log kappa", "½ log *κ*", ink::kKappa, 1.0f, kShortDash}}};

std::array<std::vector<double>, kTerms> head_terms(const LayerSnapshot& layer, std::int64_t head) {
  LogTerms terms =
      log_terms(layer.row_values("rows/context_rms", head), layer.row_values("rows/weight_l2", head),
                layer.row_values("rows/uncorrelated_rms", head), layer.row_values("rows/value_rms_mean", head));
  return {std::move(terms.rho), std::move(terms.e), std::move(terms.r), std::move(terms.half_kappa)};
}

// A term over rows or layers; by layer also how many heads there are.
struct TermLine {
  RowCurve curve;
  std::vector<std::int64_t> heads{};

  // `quartiles`: of the layer's heads.
  void add(double layer, const std::vector<double>& quartiles, std::int64_t count) {
    curve.add(layer, quartiles[1], quartiles[0], quartiles[2], -1);
    heads.push_back(count);
  }
};

class TermPanel final : public FigurePanel {
 public:
  HeadRef head{-1, -1};  // of its rows; −1: of all, by layer
  std::array<TermLine, kTerms> lines;
  PageAxis x, y;
  // Of a panel with another at its left, which has the axis and its words: what it says beside that one, and what where
  // it stands alone, as on a composed page.
  RichText beside, alone;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y_axis(), inner.y, page), end_name_room(term_names(), page), 0.0f, below_axis(x, page)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    const std::string of = head.layer < 0 ? std::string() : head_text(head);
    painter.line({inner.x0, up.pixel(0.0)}, {inner.x1, up.pixel(0.0)}, ink::kGuide, page.style.pt(0.5f));
    painter.push_clip(inner.inset(-page.style.pt(1.0f)));
    for (std::size_t t = 0; t < kTerms; ++t) {
      painter.begin_series({"", of, std::string(kTermStyles[t].series) + " quartiles"});
      const RowCurve& curve = lines[t].curve;
      draw_page_band(painter, along, up, curve.place, curve.lower, curve.upper,
                     kTermStyles[t].color.mark.faded(kTermBand));
      painter.end_series();
    }
    std::vector<EndName> ends;
    for (std::size_t t = 0; t < kTerms; ++t) {
      const TermStyle& term = kTermStyles[t];
      const std::vector<Vec2> points = placed_points(along, up, lines[t].curve.place, lines[t].curve.median);
      painter.begin_series({"", of, term.series});
      draw_page_line(painter, points, term.color.mark, term.width, term.dash, page);
      painter.end_series();
      float end = std::numeric_limits<float>::quiet_NaN();
      for (const Vec2& point : points)
        if (std::isfinite(point.y)) end = std::clamp(point.y, inner.y0, inner.y1);
      ends.push_back({rich(term.name), term.color.text, end});
    }
    painter.pop_clip();
    draw_extremes(painter, inner, along, up, page);
    draw_end_names(painter, inner, ends, page);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y_axis(), page);
    painter.end_plot();
    if (title.empty())
      draw_rich(painter, free_title_line(*this, frame, page).start(), own_title(frame, page), page.style.title());
  }

  float title_written(const PanelFrame& frame, const Page& page) const override {
    return title.empty() ? rich_width(page.measure, own_title(frame, page), page.style.title()) : 0.0f;
  }

  void add_data(FigureData& data) const override {
    for (std::size_t t = 0; t < kTerms; ++t) {
      const RowCurve& curve = lines[t].curve;
      for (std::size_t i = 0; i < curve.place.size(); ++i) {
        FigureMark mark;
        mark.panel = id, mark.series = kTermStyles[t].series, mark.kind = "line";
        mark.layer = head.layer < 0 ? std::llround(curve.place[i]) : head.layer, mark.head = head.head;
        mark.row = curve.row[i], mark.x = curve.place[i], mark.y = curve.median[i];
        mark.low = curve.lower[i], mark.high = curve.upper[i];
        mark.n = i < lines[t].heads.size() ? lines[t].heads[i] : -1;
        data.add(std::move(mark));
      }
    }
  }

  std::string caption() const override { return sentence; }

 private:
  // Where a line reaches beyond the axis: its farthest point there.
  void draw_extremes(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page) const {
    LabelSpace space(inner, page.style.pt(1.0f));
    for (std::size_t t = 0; t < kTerms; ++t)
      for (const bool high : {false, true}) {
        const RowCurve& line = lines[t].curve;
        std::size_t farthest = line.median.size();
        for (std::size_t i = 0; i < line.median.size(); ++i) {
          if (!(high ? line.median[i] > y.high : line.median[i] < y.low)) continue;
          if (farthest == line.median.size() ||
              (high ? line.median[i] > line.median[farthest] : line.median[i] < line.median[farthest]))
            farthest = i;
        }
        if (farthest == line.median.size()) continue;
        painter.begin_series(
            {"", head.layer < 0 ? std::string() : head_text(head), std::string(kTermStyles[t].series) + " beyond"});
        draw_beyond(painter, page, space, inner, {along.pixel(line.place[farthest]), up.pixel(line.median[farthest])},
                    rich(short_text(line.median[farthest])), kTermStyles[t].color);
        painter.end_series();
      }
  }
  // What stands in the title line of a panel without a title, as far as there is room.
  [[nodiscard]] RichText own_title(const PanelFrame& frame, const Page& page) const {
    const RichText& words = bare_y ? beside : alone;
    const float room = free_title_line(*this, frame, page).width() - page.style.mm(2.0f);
    if (rich_width(page.measure, words, page.style.title()) <= room) return words;
    if (bare_y) leave_out(page, words);
    return bare_y ? RichText() : rich("nats");
  }
  static std::vector<RichText> term_names() {
    std::vector<RichText> names;
    for (const TermStyle& term : kTermStyles) names.push_back(rich(term.name));
    return names;
  }
  [[nodiscard]] PageAxis y_axis() const {
    PageAxis axis = y;
    axis.bare = bare_y;
    return axis;
  }
};

// Rows of which one of the four terms is 0 or not finite.
std::int64_t rows_without_terms(const std::array<std::vector<double>, kTerms>& terms) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < terms[0].size(); ++i)
    count += std::ranges::all_of(terms, [&](const auto& term) { return std::isfinite(term[i]); }) ? 0 : 1;
  return count;
}

std::string gap_sentence(std::int64_t rows, const char* what) {
  if (rows == 0) return {};
  return " " + grouped_text(rows) + (rows == 1 ? " row" : " rows") + " in which *e*, *r̃* or RMS is 0 or not finite " +
         what + ".";
}

// `again`: the panel before it says what the terms are.
std::unique_ptr<TermPanel> head_panel(const RunSnapshot& run, HeadRef head, bool again) {
  const LayerSnapshot& layer = *run.layer(head.layer);
  const HeadSeries series = make_head_series(run, layer, head.head);
  const auto terms = head_terms(layer, head.head);
  auto panel = std::make_unique<TermPanel>();
  panel->kind = "decomposition", panel->name = "head", panel->head = head;
  panel->title = rich("log *ρ*_{*i*} and its terms, nats"), panel->brief = rich("nats");
  panel->x = page_row_axis(series);
  bool medians = false;
  for (std::size_t t = 0; t < kTerms; ++t) {
    panel->lines[t].curve = series.terms[t];
    medians = medians || std::isfinite(series.terms[t].first_median());
  }
  panel->sentence = again ? "The same of " + head_text(head) + "; "
                          : "log *ρ*_{*i*} = log *e*_{*i*} + log *r̃*_{*i*} + ½ log *κ*_{*i*} of " + head_text(head) +
                                ", natural logarithms: *e* = ‖*w*‖₂, *r̃* the RMS of the values that the head reads, "
                                "weighted by *w*², in units of *r̄*, *κ* what the sum of correlated values gains; ";
  panel->sentence += grouped_text(static_cast<std::int64_t>(series.rows())) + " rows";
  if (medians && series.by_position)
    panel->sentence += ", medians and quartiles (bands) of pieces of equal length";
  else if (medians)
    panel->sentence +=
        ", one by one up to *n*_{*i*} = " +
        std::to_string(static_cast<std::int64_t>(std::ceil(series.terms[kRhoTerm].first_median() - 1.0))) +
        ", then medians and quartiles (bands) of the rows with *n* within a factor 1.33";
  panel->sentence += "." + gap_sentence(rows_without_terms(terms), "are gaps");
  return panel;
}

// Means over the eligible rows of each head: what the last panel is of.
struct MeansOfHead {
  HeadRef head;
  std::array<double, kTerms> mean{kNaN, kNaN, kNaN, kNaN};
  std::int64_t left_out = 0;
};

std::vector<MeansOfHead> all_means(const RunSnapshot& run, const DrawnHeads& drawn) {
  std::vector<MeansOfHead> all;
  for (const std::int64_t index : drawn.layers) {
    const LayerSnapshot* layer = run.layer(index);
    if (layer == nullptr || layer->visible.empty()) continue;
    for (const std::int64_t head : drawn.heads) {
      const std::int64_t place = layer->head_index(head);
      const auto terms = head_terms(*layer, head);
      if (place < 0 || terms[0].empty()) continue;
      const auto at = static_cast<std::size_t>(place);
      const std::vector<std::int64_t>& visible = layer->visible[layer->visible.size() > at ? at : 0];
      const std::int64_t least = std::min(run.min_row, *std::ranges::max_element(visible));
      MeansOfHead one{{index, head}};
      std::array<double, kTerms> sum{};
      std::int64_t rows = 0;
      for (std::size_t i = 0; i < terms[0].size() && i < visible.size(); ++i) {
        if (visible[i] < least) continue;
        if (!std::ranges::all_of(terms, [&](const auto& term) { return std::isfinite(term[i]); })) {
          ++one.left_out;
          continue;
        }
        for (std::size_t t = 0; t < kTerms; ++t) sum[t] += terms[t][i];
        ++rows;
      }
      if (rows > 0)
        for (std::size_t t = 0; t < kTerms; ++t) one.mean[t] = sum[t] / static_cast<double>(rows);
      all.push_back(one);
    }
  }
  return all;
}

std::unique_ptr<TermPanel> layer_panel(const RunSnapshot& run, const DrawnHeads& drawn,
                                       const std::vector<MeansOfHead>& means) {
  auto panel = std::make_unique<TermPanel>();
  panel->kind = "decomposition", panel->name = "layers";
  panel->title = rich("means over rows, nats"), panel->brief = rich("nats");
  std::int64_t heads = 0, left_out = 0;
  for (const MeansOfHead& one : means) heads += std::isfinite(one.mean[0]) ? 1 : 0, left_out += one.left_out;
  panel->right = rich(grouped_text(heads) + (heads == 1 ? " head" : " heads"));
  const std::int64_t first = drawn.layers.front(), last = drawn.layers.back();
  for (std::size_t t = 0; t < kTerms; ++t)
    for (std::int64_t layer = first; layer <= last; ++layer) {
      std::vector<double> values;
      for (const MeansOfHead& one : means)
        if (one.head.layer == layer && std::isfinite(one.mean[t])) values.push_back(one.mean[t]);
      const std::vector<double> found = quantiles(values, std::array{0.25, 0.5, 0.75});
      if (!std::ranges::binary_search(drawn.layers, layer)) {
        panel->lines[t].add(static_cast<double>(layer), {kNaN, kNaN, kNaN}, 0);  // a gap
        continue;
      }
      panel->lines[t].add(static_cast<double>(layer), found, std::ssize(values));
    }
  const double room = first == last ? 0.5 : 0.015 * static_cast<double>(last - first);
  panel->x = {static_cast<double>(first) - room, static_cast<double>(last) + (first == last ? 0.5 : 0.0)};
  panel->x.whole = true, panel->x.title = rich(layers_title(drawn.layers, drawn.all_layers));
  panel->sentence = "Means of the same terms over the rows with *n*_{*i*} ≥ " + std::to_string(run.min_row) +
                    " of each head; line and band: median and quartiles over the heads of a layer, " +
                    grouped_text(heads) + " heads in all";
  if (!drawn.whole(run)) panel->sentence += " (of those that are drawn; the file has more)";
  panel->sentence += "." + gap_sentence(left_out, "are left out");
  return panel;
}

// Without a choice: the head that reads the smallest values, and the one that spreads its weights most.
std::vector<HeadRef> usual_term_heads(const std::vector<MeansOfHead>& means) {
  std::vector<HeadRef> heads;
  for (const std::size_t term : {kRTerm, kETerm}) {
    const MeansOfHead* least = nullptr;
    for (const MeansOfHead& one : means)
      if (std::isfinite(one.mean[term]) && (least == nullptr || one.mean[term] < least->mean[term])) least = &one;
    if (least != nullptr && std::ranges::find(heads, least->head) == heads.end()) heads.push_back(least->head);
  }
  return heads;
}

Result<void> has_terms(const FigureRun& run, std::int64_t layer_index, std::int64_t head) {
  for (const char* name : {"rows/context_rms", "rows/weight_l2", "rows/uncorrelated_rms", "rows/value_rms_mean"}) {
    const LayerSnapshot* layer = run.run->layer(layer_index);
    if (layer == nullptr || layer->row_values(name, head).empty())
      return lacks(run, "decomposition", "/" + std::string(name), "written with --only summary",
                   "run analyze again without --only summary");
  }
  return {};
}

}  // namespace

Result<void> check_decomposition(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const std::vector<HeadRef> heads,
               chosen_heads(run, choice, {{run.run->layers.front(), run.run->heads.front()}}));
  for (const HeadRef& head : heads) {
    HEADROOM_TRY_VOID(has_terms(run, head.layer, head.head));
  }
  HEADROOM_TRY_VOID(drawn_heads(run, choice));
  return {};
}

Result<Figure> make_decomposition(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& one = runs.front();
  const RunSnapshot& run = *one.run;
  HEADROOM_TRY_VOID(check_decomposition(one, choice));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(one, choice));
  const std::vector<MeansOfHead> means = all_means(run, drawn);
  HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(one, choice, usual_term_heads(means)));
  if (heads.size() > kMostTermHeads)
    return Error(
        ErrorCode::InvalidArgument,
        "decomposition is drawn of at most two heads beside all layers; --head has " + std::to_string(heads.size()));
  Figure figure;
  if (choice.heads.empty() && !heads.empty())
    figure.notes.push_back(one.name() + ": " + head_text(heads.front()) + " reads the smallest values" +
                           (heads.size() > 1 ? ", " + head_text(heads.back()) + " spreads its weights most" : "") +
                           "; --head chooses others");
  std::vector<std::unique_ptr<TermPanel>> panels;
  for (const HeadRef& head : heads) {
    panels.push_back(head_panel(run, head, !panels.empty()));
    name_head(*panels.back(), run, head, choice);
    if (choice.names) panels.back()->title = panels.back()->brief;
  }
  if (drawn.layers.size() * drawn.heads.size() > 1) panels.push_back(layer_panel(run, drawn, means));
  // One y axis throughout.
  double low = 0.0, high = 0.0;
  bool any = false;
  for (const auto& panel : panels)
    for (const TermLine& line : panel->lines)
      for (const std::vector<double>* part : {&line.curve.median, &line.curve.lower, &line.curve.upper})
        for (const double value : *part)
          if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value), any = true;
  if (!any) return Error(ErrorCode::Unsupported, "decomposition: no row of " + one.name() + " has a finite log ρ");
  if (high - low < kLeastSpan) low = std::min(low, -0.5 * kLeastSpan), high = std::max(high, 0.5 * kLeastSpan);
  const Range range = nice_range(low, high, false);
  std::vector<TermPanel*> all;  // as the figure has them
  for (auto& panel : panels) {
    panel->y = {range.low, range.high};
    HEADROOM_TRY_VOID(set_range(panel->y, choice));
    panel->sentence += beyond_sentence(
        std::ranges::count_if(panel->lines,
                              [&](const TermLine& line) {
                                return std::ranges::any_of(
                                    line.curve.median, [&](double v) { return v < panel->y.low || v > panel->y.high; });
                              }),
        "term reaches", "terms reach");
    all.push_back(panel.get());
    figure.panels.push_back(std::move(panel));
  }
  arrange(figure, choice, figure.panels.size() > 1 ? 174.0 : 84.0, 120.0, 57.0);
  for (const std::vector<std::size_t>& row : figure.rows)
    for (std::size_t i = 1; i < row.size(); ++i) {
      TermPanel& panel = *all[row[i]];
      panel.bare_y = true;
      panel.alone = std::exchange(panel.title, {}), panel.brief = {};
      if (panel.head.layer < 0) panel.beside = rich("means over rows");
    }
  return figure;
}

}  // namespace headroom
