// What DIFF V1's head norm multiplies contexts with: the gain of each row of a head over its visible keys, and the
// gains of all heads by layer.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/figures/head_series.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_beyond.h"
#include "app/figures/page_labels.h"
#include "app/figures/quantile_sticks.h"
#include "app/figures/running_quantiles.h"
#include "app/plot/label_layout.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr const char* kGainRows = "rows/norm_gain";
constexpr double kFarCap = 8.0;  // times all else: on the axis it would leave the rows no room

std::int64_t least_visible(const RunSnapshot& run, const std::vector<std::int64_t>& visible) {
  return std::min(run.min_row, std::ranges::max(visible));
}

const std::vector<std::int64_t>* visible_keys(const LayerSnapshot& layer, std::int64_t head) {
  const std::int64_t index = layer.head_index(head);
  if (index < 0 || layer.visible.empty()) return nullptr;
  const auto at = static_cast<std::size_t>(index);
  return &(layer.visible.size() > at ? layer.visible[at] : layer.visible.front());
}

struct GainRow {
  std::int64_t row = 0;
  double n = 0.0, gain = 0.0;
  bool counted = true;
};

// Dashed, with its name where it is free; an arrow with it where it lies far above.
void draw_cap(Painter& painter, const Rect& inner, const Axis& up, double cap, const Page& page, LabelSpace& space) {
  if (!std::isfinite(cap)) return;
  const PageStyle& style = page.style;
  const float at = up.pixel(cap);
  const RichText name = rich("1/√{*ε*} = " + short_text(cap));
  if (draw_beyond(painter, page, space, inner, {inner.x0 + 0.06f * inner.width(), at}, name, ink::kNet)) return;
  painter.dashed_line({inner.x0, at}, {inner.x1, at}, ink::kBlack, style.pt(0.7f), style.pt(5.0f), style.pt(3.0f));
  space.block(Rect{inner.x0, at - style.pt(0.4f), inner.x1, at + style.pt(0.4f)});
  std::vector<Vec2> places;
  for (const float share : {0.03f, 0.2f, 0.4f, 0.6f})
    for (const float rise : {-0.45f, 1.15f})
      places.push_back({inner.x0 + share * inner.width(), at + rise * style.size()});
  put_label(painter, page, space, name, style.on_lines(ink::kBlack), places);
}

class GainRowsPanel final : public FigurePanel {
 public:
  HeadRef head;
  std::vector<GainRow> drawn;
  RunningQuantiles median;
  double cap = kNaN, last_n = 2.0;
  std::int64_t counted = 0, at_cap = 0, min_row = 1;
  bool image = false;
  PageAxis x, y;
  std::string sentence;

  [[nodiscard]] bool on_axis(double gain) const { return gain >= y.low && gain <= y.high; }

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y, inner.y, page), std::max(page.style.pt(4.0f), beyond_axis(x, inner.x, page)), 0.0f,
            below_axis(x, page)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.0f));
    const float radius = style.pt(last_n <= 100.0 ? 1.2f : 0.85f);
    for (const GainRow& row : drawn)
      if (on_axis(row.gain)) space.block(Rect::sized(along.pixel(row.n) - 1.0f, up.pixel(row.gain) - 1.0f, 2.0f, 2.0f));
    for (const bool counts : {false, true}) {
      painter.begin_series({kGainRows, head_text(head), counts ? "rows" : "rows not counted"});
      const Color color = counts ? ink::kHead.mark : ink::kNotCounted.mark;
      std::vector<Vec2> places;
      for (const GainRow& row : drawn)
        if (row.counted == counts && on_axis(row.gain)) places.push_back({along.pixel(row.n), up.pixel(row.gain)});
      draw_points(painter, page, image, along, up, radius, places, 0.55f,
                  [&](Painter& to, Vec2 at, float opacity) { to.disc(at, radius, color.faded(opacity)); });
      painter.end_series();
    }
    std::vector<BeyondMark> beyond;
    for (const GainRow& row : drawn)
      if (!on_axis(row.gain)) beyond.push_back({along.pixel(row.n), row.gain, row.gain > y.high});
    painter.begin_series({kGainRows, head_text(head), "beyond"});
    draw_all_beyond(painter, page, space, inner, beyond, ink::kHead);
    painter.end_series();
    painter.begin_series({"", "", "bounds"});
    std::vector<Vec2> root;
    for (int i = 0; i <= 64; ++i) {
      const double n = std::pow(last_n, i / 64.0);
      if (on_axis(std::sqrt(n))) root.push_back({along.pixel(n), up.pixel(std::sqrt(n))});
    }
    painter.polyline(root, ink::kBlack, style.pt(0.7f));
    space.block_line(root, style.pt(2.0f));
    draw_cap(painter, inner, up, cap, page, space);
    painter.end_series();
    std::vector<Vec2> line, places;
    for (std::size_t i = 0; i < median.n.size(); ++i)
      line.push_back({along.pixel(median.n[i]), up.pixel(median.median[i])});
    if (line.size() > 1) {
      painter.push_clip(inner);
      painter.begin_series({kGainRows, head_text(head), "median"});
      painter.polyline(line, ink::kHeadMedian, style.pt(1.0f));
      painter.end_series();
      painter.pop_clip();
      std::erase_if(line, [&](Vec2 at) { return !on_plot(inner, at); });
      for (const Vec2& at : line)
        for (const float rise : {-0.6f, 1.3f, -1.4f, 2.2f, -2.4f})
          places.push_back({std::min(at.x, inner.x1 - style.pt(24.0f)), at.y + rise * style.size()});
      put_led_label(painter, page, space, rich("median"), style.on_lines(ink::kHeadMedian), places, line);
    }
    places.clear();
    for (const float share : {0.5f, 0.35f, 0.65f, 0.2f, 0.8f})
      if (!root.empty()) {
        const Vec2 at = root[static_cast<std::size_t>(share * static_cast<float>(root.size() - 1))];
        for (const float aside : {3.0f, -16.0f})
          places.push_back({at.x + style.pt(aside), at.y + (aside > 0.0f ? 1.1f : -0.5f) * style.size()});
      }
    put_label(painter, page, space, rich("√{*n*_{*i*}}"), style.on_lines(ink::kBlack), places);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    const auto mark = [&](const char* series, const char* form) {
      FigureMark one;
      one.panel = id, one.series = series, one.kind = form, one.layer = head.layer, one.head = head.head;
      return one;
    };
    for (const GainRow& row : drawn) {
      FigureMark one = mark(row.counted ? "rows" : "rows not counted", "point");
      one.row = row.row, one.x = row.n, one.y = row.gain;
      data.add(std::move(one));
    }
    for (std::size_t i = 0; i < median.n.size(); ++i) {
      FigureMark one = mark("median", "line");
      one.x = median.n[i], one.y = median.median[i];
      data.add(std::move(one));
    }
  }

  std::string caption() const override { return sentence; }
};

struct GainColumn {
  std::int64_t layer = 0;
  QuantileStick stick;
};

class GainLayersPanel final : public FigurePanel {
 public:
  std::vector<GainColumn> columns;
  double cap = kNaN;
  PageAxis x, y;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    const float end = std::max(page.style.pt(4.0f), beyond_axis(x, 0.7f * inner.x, page));
    return {left_of_axis(y, inner.y, page), end, 0.0f, below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override {
    return {std::max(page.style.mm(20.0f), page.style.pt(1.1f) * static_cast<float>(columns.size())),
            page.style.mm(12.0f)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.0f));
    std::vector<QuantileStick> sticks;
    for (const GainColumn& column : columns) sticks.push_back(column.stick);
    draw_quantile_sticks(painter, page, space, inner, along, up, kGainRows, sticks);
    painter.begin_series({"", "", "bounds"});
    draw_cap(painter, inner, up, cap, page, space);
    painter.end_series();
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const GainColumn& column : columns)
      for (const auto& [series, form, low, high] :
           {std::tuple("1–99 %", "line", 0, 4), std::tuple("quartiles", "bar", 1, 3),
            std::tuple("median", "point", 2, 2)}) {
        if (column.stick.rows == 0) continue;
        FigureMark mark;
        mark.panel = id, mark.series = series, mark.kind = form, mark.layer = column.layer;
        mark.x = static_cast<double>(column.layer), mark.n = column.stick.rows;
        if (low == high)
          mark.y = column.stick.q[static_cast<std::size_t>(low)];
        else
          mark.low = column.stick.q[static_cast<std::size_t>(low)],
          mark.high = column.stick.q[static_cast<std::size_t>(high)];
        data.add(std::move(mark));
      }
  }

  std::string caption() const override { return sentence; }
};

// The head whose norm raises its rows most, where none is named.
std::vector<HeadRef> usual_gain_head(const RunSnapshot& run) {
  HeadRef best{run.layers.front(), run.heads.front()};
  double most = -1.0;
  for (const std::int64_t layer : run.layers)
    for (const std::int64_t head : run.heads)
      if (const double gain = run.at("norm_gain_median", layer, head); std::isfinite(gain) && gain > most)
        most = gain, best = {layer, head};
  return {best};
}

}  // namespace

Result<void> check_norm_gain(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(run, choice));
  HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(run, choice, {}));
  bool rows = false;
  for (const std::int64_t l : drawn.layers)
    if (const LayerSnapshot* layer = run.run->layer(l))
      for (const std::int64_t head : drawn.heads) {
        rows = rows || !layer->row_values("rows/context_rms", head).empty();
        if (std::isfinite(run.run->at("norm_gain_median", l, head)) && !layer->row_values(kGainRows, head).empty())
          return {};
      }
  if (rows) return Error(ErrorCode::Unsupported, "norm-gain: no head of " + run.name() + " has a head norm (DIFF V1)");
  return lacks(run, "norm-gain", "/rows/norm_gain", "written with --only summary",
               "run analyze again without --only summary");
}

Result<Figure> make_norm_gain(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& one = runs.front();
  const RunSnapshot& run = *one.run;
  HEADROOM_TRY_VOID(check_norm_gain(one, choice));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(one, choice));
  HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(one, choice, usual_gain_head(run)));
  const HeadRef head = heads.front();
  Figure figure;
  if (choice.heads.empty())
    figure.notes.push_back(one.name() + ": " + head_text(head) + " is drawn, the largest median gain");
  const LayerSnapshot* layer = run.layer(head.layer);
  const std::span<const float> gains = layer ? layer->row_values(kGainRows, head.head) : std::span<const float>();
  const std::vector<std::int64_t>* visible = layer ? visible_keys(*layer, head.head) : nullptr;
  if (gains.empty() || !visible || !std::isfinite(run.at("norm_gain_median", head.layer, head.head)))
    return Error(ErrorCode::Unsupported, "norm-gain: " + head_text(head) + " of " + one.name() + " has no head norm");

  auto rows = std::make_unique<GainRowsPanel>();
  GainRowsPanel& a = *rows;
  a.kind = "norm-gain", a.name = "head", a.head = head;
  name_head(a, run, head, choice);
  a.title = rich("gain of the head norm, 1/√{RMS² + *ε*}"), a.brief = rich("gain of the head norm");
  const HeadSeries series = make_head_series(run, *layer, head.head);
  a.cap = 1.0 / std::sqrt(series.norm_epsilon), a.counted = series.gains, a.at_cap = series.gains_at_cap;
  const std::int64_t least = least_visible(run, *visible);
  a.min_row = least;
  std::vector<double> n, counted;
  double low = kInfinity, high = 1.0;
  for (std::size_t i = 0; i < std::min(gains.size(), visible->size()); ++i) {
    const auto gain = static_cast<double>(gains[i]);
    if (!std::isfinite(gain) || !(gain > 0.0)) continue;
    const GainRow row{static_cast<std::int64_t>(i), static_cast<double>((*visible)[i]), gain, (*visible)[i] >= least};
    if (row.counted) n.push_back(row.n), counted.push_back(gain);
    low = std::min(low, gain), high = std::max(high, gain);
    a.last_n = std::max(a.last_n, row.n);
    a.drawn.push_back(row);
  }
  if (std::ssize(counted) >= 30)
    a.median = running_quantiles(n, counted, static_cast<double>(std::max<std::int64_t>(least, 1)));
  a.x = {1.0, a.last_n, true}, a.x.high_label = true, a.x.title = rich("visible keys *n*_{*i*}");
  a.image = as_image(choice, a.drawn.size());
  a.sentence = "Gain 1/√{RMS_{*i*}² + *ε*} of the head norm of " + head_text(head) + " over visible keys *n*_{*i*}; " +
               grouped_text(a.counted) + " rows with *n*_{*i*} ≥ " + std::to_string(least) + " count" +
               (least > 1 ? " (grey: the others)" : "") +
               ". Solid √{*n*_{*i*}}: the gain of a uniform mean of uncorrelated values of RMS 1";

  auto layers = std::make_unique<GainLayersPanel>();
  GainLayersPanel& b = *layers;
  b.kind = "norm-gain", b.name = "layers", b.cap = a.cap, b.x = layer_axis(drawn.layers, drawn.all_layers);
  b.title = rich("gain by layer"),
  b.right = rich(std::to_string(drawn.heads.size()) + (drawn.heads.size() == 1 ? " head" : " heads"));
  for (const std::int64_t l : drawn.layers) {
    GainColumn column;
    column.layer = l;
    std::vector<double> all;
    if (const LayerSnapshot* each = run.layer(l))
      for (const std::int64_t h : drawn.heads) {
        const std::span<const float> values = each->row_values(kGainRows, h);
        const std::vector<std::int64_t>* seen = visible_keys(*each, h);
        for (std::size_t i = 0; seen && i < std::min(values.size(), seen->size()); ++i)
          if ((*seen)[i] >= least_visible(run, *seen) && std::isfinite(values[i]))
            all.push_back(static_cast<double>(values[i]));
      }
    column.stick.rows = std::ssize(all);
    const std::vector<double> q = quantiles(all, kStickAt);
    std::copy(q.begin(), q.end(), column.stick.q.begin());
    if (column.stick.rows > 0) low = std::min(low, q.front()), high = std::max(high, q.back());
    b.columns.push_back(column);
  }
  high = std::max(high, std::sqrt(a.last_n));
  bool far = a.cap > kFarCap * high;
  if (std::isfinite(a.cap) && !far) high = std::max(high, a.cap);
  a.y = {low / std::pow(high / low, 0.05), high * std::pow(high / low, 0.12), true};
  HEADROOM_TRY_VOID(set_range(a.y, choice));
  b.y = a.y, far = far || a.cap > a.y.high;
  a.sentence +=
      std::string(far ? "; the most that *ε* allows lies above the axis (arrow), "
                      : "; dashed: the most that *ε* allows, ") +
      "where " + grouped_text(a.at_cap) + " rows are within 1 %." +
      beyond_sentence(std::ranges::count_if(a.drawn, [&](const GainRow& row) { return !a.on_axis(row.gain); }),
                      "row lies", "rows lie");
  b.sentence = "The same of all eligible rows of " + std::to_string(drawn.heads.size()) +
               (drawn.heads.size() == 1 ? " head" : " heads") +
               " of a layer: line from the 1st to the 99th percentile, bar between the quartiles, dot at the median.";
  std::vector<QuantileStick> sticks;
  for (const GainColumn& column : b.columns) sticks.push_back(column.stick);
  b.sentence += beyond_sentence(sticks_beyond(sticks, b.y.low, b.y.high), "median lies", "medians lie");
  b.weight = 0.8f;
  figure.panels.push_back(std::move(rows));
  figure.panels.push_back(std::move(layers));
  arrange(figure, choice, 174.0, 120.0, 57.0);
  return figure;
}

}  // namespace headroom
