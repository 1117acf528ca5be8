// Attention sinks: the sink score of every head by layer, how much attention the most attended keys hold, and the
// value drain of the heads with the largest scores.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/figures/head_levels.h"
#include "app/figures/kinds/sink_intervals.h"
#include "app/figures/kinds/sink_keys.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_beyond.h"
#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "app/plot/label_layout.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

constexpr double kBeside = 0.24;   // of a layer, between the maps of a pair
constexpr float kRowPitch = 3.0f;  // millimetres, of the heads that are listed
constexpr float kColumn = 1.1f;    // points: marks of one map and layer that are nearer to the next are thinner
constexpr double kMmOfPoint = 25.4 / 72.0;

bool some_finite(const std::vector<double>& values) {
  return std::ranges::any_of(values, [](double v) { return std::isfinite(v); });
}

// One map of all heads.
struct SinkSeries {
  QuantityRef quantity;
  std::string name;  // "first"
  MarkColor color;
  int marker = 0;              // disc, square, diamond
  LineDash dash = kSolidLine;  // of its median: in print without colours it is told apart
  double shift = 0.0;          // along the layers
  std::vector<double> values;  // [layers, heads]
  std::vector<double> lower, median, upper;
  std::int64_t above = 0, finite = 0;
};

class SinkLayersPanel final : public FigurePanel {
 public:
  DrawnHeads drawn;
  std::vector<HeadRef> chosen;
  std::vector<SinkSeries> series;
  double epsilon = 0.3, null_value = kNaN;
  bool image = false;  // of its points
  RichText null_name;
  PageAxis x, y;
  std::string sentence;

  [[nodiscard]] bool on_axis(double score) const { return score >= y.low && score <= y.high; }

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y, inner.y, page), right_of_layers(x, inner, page), page.style.pt(1.0f), below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override { return {page.style.mm(22.0f), page.style.mm(16.0f)}; }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    Rect inner = frame.inner;
    const bool strip = drawn.layers.size() == 1;
    if (strip) inner.x1 = inner.x0 + style.mm(kStrip);
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(frame.inner, style.pt(1.0f));
    if (strip) space.block(inner);
    const bool pooled = drawn.heads.size() > 1 && !strip;
    painter.push_clip(inner);
    for (const SinkSeries& one : series)
      if (pooled) draw_band(painter, one, along, up);
    painter.pop_clip();
    draw_levels(painter, inner, up, page, space);
    for (const SinkSeries& one : series) draw_heads(painter, one, along, up, page, space);
    for (const SinkSeries& one : series)
      if (pooled) draw_median(painter, inner, one, along, up, page, space);
    for (const SinkSeries& one : series) draw_scores_beyond(painter, inner, one, along, up, page, space);
    draw_names(painter, frame.inner, inner, along, up, page, space, strip);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const SinkSeries& one : series) {
      for (std::size_t i = 0; i < one.values.size(); ++i) {
        FigureMark mark;
        mark.panel = id, mark.series = quantity_text(one.quantity), mark.kind = "point";
        mark.layer = layer_of(i), mark.head = drawn.heads[i % drawn.heads.size()];
        mark.x = static_cast<double>(mark.layer), mark.y = one.values[i];
        data.add(std::move(mark));
      }
      for (std::size_t l = 0; drawn.heads.size() > 1 && l < drawn.layers.size(); ++l) {
        FigureMark mark;
        mark.panel = id, mark.series = quantity_text(one.quantity) + " median", mark.kind = "line";
        mark.layer = drawn.layers[l], mark.x = static_cast<double>(mark.layer);
        mark.y = one.median[l], mark.low = one.lower[l], mark.high = one.upper[l];
        mark.n = static_cast<std::int64_t>(drawn.heads.size());
        data.add(std::move(mark));
      }
    }
  }

  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] std::int64_t layer_of(std::size_t i) const { return drawn.layers[i / drawn.heads.size()]; }
  [[nodiscard]] bool is_chosen(std::size_t i) const {
    const HeadRef head{layer_of(i), drawn.heads[i % drawn.heads.size()]};
    return !chosen.empty() && chosen.front() == head;
  }
  [[nodiscard]] std::vector<double> places(double shift) const {
    std::vector<double> at;
    for (std::size_t l = 0; l < drawn.layers.size(); ++l) at.push_back(static_cast<double>(l) + shift);
    return at;
  }
  [[nodiscard]] Vec2 point(const SinkSeries& one, std::size_t i, const Axis& along, const Axis& up) const {
    const std::size_t layer = i / drawn.heads.size();
    return {along.pixel(static_cast<double>(layer) + one.shift), up.pixel(one.values[i])};
  }

  void draw_band(Painter& painter, const SinkSeries& one, const Axis& along, const Axis& up) const {
    painter.begin_series({quantity_text(one.quantity), "", one.name + " quartiles"});
    draw_page_band(painter, along, up, places(one.shift), one.lower, one.upper, median_color(one).faded(0.16f));
    painter.end_series();
  }

  void draw_levels(Painter& painter, const Rect& inner, const Axis& up, const Page& page, LabelSpace& space) const {
    draw_page_level(painter, inner, up, epsilon, "threshold", ink::kBlack, kBoundDash, space, page);
    draw_page_level(painter, inner, up, null_value, "uniform", ink::kNull, kDots, space, page);
  }

  void draw_heads(Painter& painter, const SinkSeries& one, const Axis& along, const Axis& up, const Page& page,
                  LabelSpace& space) const {
    const Color color = series.size() > 1 ? one.color.mark : ink::kOthers.mark;
    const float column = std::abs(along.to - along.from) / static_cast<float>(drawn.layers.size() * series.size());
    float radius = page.style.pt(one.values.size() > 100 ? 0.9f : 1.2f);
    if (column < page.style.pt(kColumn)) radius = std::clamp(0.45f * column, page.style.pt(0.25f), radius);
    painter.begin_series({quantity_text(one.quantity), "", one.name});
    std::vector<Vec2> points;
    for (std::size_t i = 0; i < one.values.size(); ++i)
      if (on_axis(one.values[i]) && !is_chosen(i)) points.push_back(point(one, i, along, up));
    draw_points(painter, page, image, along, up, radius, points, 0.9f, [&](Painter& to, Vec2 at, float opacity) {
      draw_page_marker(to, at, one.marker, radius, color.faded(opacity));
    });
    for (const Vec2& at : points) space.block(Rect{at.x - radius, at.y - radius, at.x + radius, at.y + radius});
    painter.end_series();
  }

  void draw_scores_beyond(Painter& painter, const Rect& inner, const SinkSeries& one, const Axis& along, const Axis& up,
                          const Page& page, LabelSpace& space) const {
    std::vector<BeyondMark> beyond;
    for (std::size_t i = 0; i < one.values.size(); ++i)
      if (const double score = one.values[i]; std::isfinite(score) && !on_axis(score))
        beyond.push_back({point(one, i, along, up).x, score, score > y.high});
    painter.begin_series({quantity_text(one.quantity), "", one.name + " beyond"});
    draw_all_beyond(painter, page, space, inner, beyond, series.size() > 1 ? one.color : ink::kOthers);
    painter.end_series();
  }

  void draw_median(Painter& painter, const Rect& inner, const SinkSeries& one, const Axis& along, const Axis& up,
                   const Page& page, LabelSpace& space) const {
    painter.push_clip(inner);
    painter.begin_series({quantity_text(one.quantity), "", one.name + " median"});
    const std::vector<Vec2> line = placed_points(along, up, places(one.shift), one.median);
    draw_page_line(painter, line, median_color(one), series.size() > 1 ? 0.8f : 1.1f, one.dash, page);
    block_page_line(space, line, page.style.pt(1.2f));
    painter.end_series();
    painter.pop_clip();
  }
  [[nodiscard]] Color median_color(const SinkSeries& one) const {
    return series.size() > 1 ? one.color.mark : ink::kSecond.mark;
  }

  void draw_names(Painter& painter, const Rect& whole, const Rect& inner, const Axis& along, const Axis& up,
                  const Page& page, LabelSpace& space, bool strip) const {
    const PageStyle& style = page.style;
    // The head that is asked for comes last and lies above all others.
    for (const SinkSeries& one : series)
      for (std::size_t i = 0; i < one.values.size(); ++i) {
        if (!is_chosen(i) || !on_axis(one.values[i])) continue;
        const Vec2 at = point(one, i, along, up);
        const float radius = style.pt(1.4f);
        painter.begin_series({quantity_text(one.quantity), head_text(chosen.front()), one.name});
        draw_page_marker(painter, at, one.marker, radius, ink::kHead.mark);
        painter.end_series();
        space.block(Rect{at.x - radius, at.y - radius, at.x + radius, at.y + radius});
        if (&one != &series.front()) continue;
        const RichText label = rich(head_text(chosen.front()));
        const float width = rich_width(page.measure, label, style.text());
        const auto put = [&](float gap) {
          return try_label(painter, page, space, label, style.on_lines(ink::kHead.text),
                           places_beside(at, width, style.pt(gap), page));
        };
        if (!put(3.0f) && !put(6.0f) && !put(10.0f)) leave_out(page, label);
      }
    const auto name_level = [&](double value, const RichText& label, Color color, bool from_right) {
      if (!(value >= y.low && value <= y.high)) return true;
      const float at = up.pixel(value), width = rich_width(page.measure, label, style.text());
      std::vector<Vec2> here = places_along(inner, at, width, from_right, page);
      if (strip) {
        here.clear();
        for (const float lift : {0.0f, -0.8f, -1.2f, 0.8f, 1.2f})
          here.push_back({inner.x1 + style.pt(3.0f), at + (0.36f + lift) * style.size()});
      }
      for (const float lift : {1.0f, 2.0f, 3.0f})
        for (const float share : {1.0f, 0.75f, 0.5f, 0.25f, 0.0f})
          here.push_back({whole.x0 + style.pt(3.0f) + share * (whole.width() - width - style.pt(6.0f)),
                          at - style.pt(3.0f) - lift * style.size()});
      return try_label(painter, page, space, label, style.on_lines(color), here);
    };
    const RichText threshold = rich("*ε* = " + short_text(epsilon));
    if (!name_level(epsilon, threshold, ink::kBlack, false)) leave_out(page, threshold);
    // In a small panel shorter.
    const RichText value = rich(" = " + short_text(null_value));
    const std::array<RichText, 3> nulls = {rich("uniform, ") + null_name + value,
                                           rich("uniform " + short_text(null_value)), rich("uniform")};
    bool named = !std::isfinite(null_value);
    for (const RichText& label : nulls) named = named || name_level(null_value, label, ink::kNull, true);
    if (!named) leave_out(page, nulls.front());
  }
};

// The heads with the largest sinks, one a line: the score, and what of the values key 0 has.
class SinkHeadsPanel final : public FigurePanel {
 public:
  struct Row {
    HeadRef head;
    double score = 0.0, drain = kNaN;
  };
  std::vector<Row> listed;  // largest first
  std::optional<HeadRef> chosen;
  QuantityRef score;
  bool drains = false;  // some head has one
  PageAxis x;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2) const override {
    const float axis_name = page.style.pt(4.5f) + page.style.title_size();
    return {names_width(page) + page.style.pt(4.0f), page.style.pt(4.0f), page.style.pt(1.0f),
            below_axis(x, page) + axis_name};
  }
  Vec2 least_inner(const Page& page) const override {
    // Their names may begin below those of the heads.
    const float both = names_size(page) - names_width(page);
    return {std::max(page.style.mm(16.0f), both), 1.02f * page.style.size() * static_cast<float>(listed.size())};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    PageAxis down{-0.5, static_cast<double>(listed.size()) - 0.5};
    const Axis along = placed_axis(x, inner.x0, inner.x1), rows = placed_axis(down, inner.y0, inner.y1);
    painter.begin_plot({id, kind, along, rows});
    const auto row = [&](std::size_t i) { return rows.pixel(static_cast<double>(i)); };
    for (std::size_t i = 0; i < listed.size(); ++i)
      painter.line({inner.x0, row(i)}, {along.pixel(listed[i].score), row(i)}, Color::hex(0xcfcfcf), style.pt(0.5f));
    painter.line({inner.x0, inner.y0}, {inner.x0, inner.y1}, ink::kGuide, style.pt(0.5f));
    // The open diamond holds the disc where both are at one place.
    const auto both = [&](std::size_t i) {
      return std::abs(along.pixel(listed[i].drain) - along.pixel(listed[i].score)) < style.pt(1.5f);
    };
    painter.begin_series({"value_drain", "", "value drain"});
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (!std::isfinite(listed[i].drain)) continue;
      const Vec2 at{along.pixel(listed[i].drain), row(i)};
      draw_page_marker(painter, at, 2, style.pt(both(i) ? 2.7f : 2.0f), ink::kFirst.text);
    }
    painter.end_series();
    for (std::size_t i = 0; i < listed.size(); ++i)
      if (std::isfinite(listed[i].drain))
        draw_page_marker(painter, {along.pixel(listed[i].drain), row(i)}, 2, style.pt(both(i) ? 1.9f : 1.15f),
                         ink::kWhite);
    painter.begin_series({quantity_text(score), "", "sink score"});
    for (std::size_t i = 0; i < listed.size(); ++i)
      painter.disc({along.pixel(listed[i].score), row(i)}, style.pt(both(i) ? 1.2f : 1.5f), color_of(listed[i]).mark);
    painter.end_series();
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const Color color = color_of(listed[i]).text;
      painter.text_at(inner.x0 - style.pt(4.0f), row(i), head_text(listed[i].head),
                      style.text(color == ink::kDeep.text ? ink::kBlack : color), Painter::Align::Right);
    }
    draw_x_axis(painter, inner, x, page);
    const float baseline = inner.y1 + below_axis(x, page) + style.pt(4.5f) + 0.72f * style.title_size();
    draw_rich(painter, {inner.x1, baseline}, score_name(), style.title(ink::kDeep.text), Painter::Align::Right);
    const float free = inner.width() - names_size(page);
    if (drains)
      draw_rich(painter, {inner.x0 + std::min(0.0f, free), baseline}, drain_name(), style.title(ink::kFirst.text));
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (std::size_t i = 0; i < listed.size(); ++i)
      for (const bool drained : {false, true}) {
        FigureMark mark;
        mark.panel = id, mark.series = drained ? "value_drain" : quantity_text(score), mark.kind = "point";
        mark.layer = listed[i].head.layer, mark.head = listed[i].head.head;
        mark.x = drained ? listed[i].drain : listed[i].score, mark.y = static_cast<double>(i);
        if (std::isfinite(mark.x)) data.add(std::move(mark));
      }
  }

  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] MarkColor color_of(const Row& row) const {
    return chosen && *chosen == row.head ? ink::kHead : ink::kDeep;
  }
  [[nodiscard]] float names_width(const Page& page) const {
    float widest = 0.0f;
    for (const Row& row : listed)
      widest = std::max(widest, page.measure.width(head_text(row.head), Face::Sans, page.style.size()));
    return widest;
  }
  // Of what stands below the axis.
  [[nodiscard]] float names_size(const Page& page) const {
    const float of_score = rich_width(page.measure, score_name(), page.style.title());
    if (!drains) return of_score;
    return of_score + rich_width(page.measure, drain_name(), page.style.title()) + page.style.mm(2.5f);
  }
  static RichText drain_name() { return rich("◇ ‖*v*_{0}‖ / mean ‖*v*‖"); }
  static RichText score_name() { return rich("● *α*_{0}"); }
};

SinkSeries sink_series(const RunSnapshot& run, const DrawnHeads& drawn, const std::string& quantity,
                       const std::string& name, MarkColor color, int marker, double epsilon) {
  SinkSeries one;
  one.quantity = sinks_quantity(quantity), one.name = name, one.color = color, one.marker = marker;
  one.values = sinks_values(run, one.quantity, drawn);
  for (const double v : one.values) {
    one.finite += std::isfinite(v) ? 1 : 0;
    one.above += v > epsilon ? 1 : 0;
  }
  std::vector<std::vector<double>> q = layer_quantiles(one.values, drawn.heads.size(), std::array{0.25, 0.5, 0.75});
  one.lower = std::move(q[0]), one.median = std::move(q[1]), one.upper = std::move(q[2]);
  return one;
}

Result<std::unique_ptr<SinkLayersPanel>> sink_layers(const RunSnapshot& run, const DrawnHeads& drawn,
                                                     const FigureChoice& choice) {
  auto panel = std::make_unique<SinkLayersPanel>();
  panel->kind = "sinks", panel->name = "layers", panel->weight = drawn.layers.size() == 1 ? 34.0f : 66.0f;
  panel->drawn = drawn, panel->chosen = choice.heads, panel->epsilon = choice.epsilon;
  panel->series.push_back(sink_series(run, drawn, "sink_score[first]", "first", ink::kFirst, 0, choice.epsilon));
  auto second = sink_series(run, drawn, "sink_score[second]", "second", ink::kSecond, 1, choice.epsilon);
  second.dash = kLongDash;
  const bool pair = second.finite > 0;
  if (pair) {
    panel->series.push_back(std::move(second));
    panel->series.push_back(sink_series(run, drawn, "sink_score_net", "net", ink::kNet, 2, choice.epsilon));
    for (std::size_t i = 0; i < 3; ++i) panel->series[i].shift = (static_cast<double>(i) - 1.0) * kBeside;
  }
  panel->title = rich("sink score *α*_{0}"), panel->brief = rich("*α*_{0}");
  std::string counts;
  const SinkSeries& first = panel->series.front();
  if (pair) {
    constexpr std::array<const char*, 3> kMarkers = {"● ", "■ ", "◆ "};
    for (std::size_t i = 0; i < 3; ++i) {
      const SinkSeries& one = panel->series[i];
      panel->series_names.push_back({rich(kMarkers[i] + one.name + " " + grouped_text(one.above)), one.color.text});
      counts += (i == 0   ? ""
                 : i == 2 ? " and "
                          : ", ") +
                std::string("in the ") + one.name + " map " + grouped_text(one.above) + " of " +
                grouped_text(one.finite);
    }
    panel->right = rich("of " + grouped_text(first.finite) + " > *ε*");
  } else {
    counts = grouped_text(first.above) + " of " + grouped_text(first.finite);
    panel->right = rich(counts + " > *ε*");
  }
  std::size_t marks = 0;
  for (const SinkSeries& one : panel->series) marks += one.values.size();
  panel->image = as_image(choice, marks);
  const QuantityRef score = first.quantity;
  panel->null_value = null_level(run, score);
  const double lone = 1.0 / static_cast<double>(std::max<std::int64_t>(run.length, 1));
  const bool causal = !(std::abs(panel->null_value - lone) < 1e-6 * lone) || run.length == 1;
  panel->null_name = rich(causal ? "*H*_{*n*}/*n*" : "1/*n*");
  double low = 0.0;
  for (const SinkSeries& one : panel->series)
    for (const double v : one.values)
      if (std::isfinite(v)) low = std::min(low, v);
  panel->x = layer_axis(drawn.layers, drawn.all_layers);
  panel->y = {low < 0.0 ? std::max(-1.0, 1.06 * low) : 0.0, 1.0};
  HEADROOM_TRY_VOID(set_range(panel->y, choice));
  std::int64_t beyond = 0;
  for (const SinkSeries& one : panel->series)
    beyond += std::ranges::count_if(one.values, [&](double v) { return std::isfinite(v) && !panel->on_axis(v); });
  std::string& text = panel->sentence;
  text = "Sink score *α*_{0} of every head by layer, the mean weight that rows give key 0: " + counts +
         " heads above the dashed *ε* = " + short_text(choice.epsilon) + ".";
  if (pair) text += " First and second map: the two maps of a differential head; net: their weighted difference *w*.";
  if (drawn.heads.size() > 1 && drawn.layers.size() > 1)
    text += std::string(" ") + (pair ? "Lines and bands" : "Blue") + ": median and quartiles over the " +
            std::to_string(drawn.heads.size()) + " heads of a layer.";
  if (std::isfinite(panel->null_value)) {
    text += " Dotted: uniform attention, " + std::string(causal ? "*H*_{*n*}/*n*" : "1/*n*") + " = " +
            short_text(panel->null_value);
    text += causal ? ", *H*_{*n*} = 1 + 1/2 + … + 1/*n*." : ".";
  }
  if (const auto lacking = std::ssize(first.values) - first.finite; lacking > 0)
    text += " Not drawn: " + std::to_string(lacking) + " heads without a value.";
  text += beyond_sentence(beyond, "score lies", "scores lie") + drawn_share(run, drawn);
  return panel;
}

std::unique_ptr<SinkHeadsPanel> sink_heads(const RunSnapshot& run, const DrawnHeads& drawn, const FigureChoice& choice,
                                           bool pair) {
  auto panel = std::make_unique<SinkHeadsPanel>();
  panel->kind = "sinks", panel->name = "heads", panel->weight = drawn.layers.size() == 1 ? 30.0f : 27.0f;
  panel->score = sinks_quantity("sink_score[first]");
  if (!choice.heads.empty()) panel->chosen = choice.heads.front();
  const QuantityRef drain = sinks_quantity("value_drain");
  for (const std::int64_t layer : drawn.layers)
    for (const std::int64_t head : drawn.heads)
      if (const double score = head_value(run, panel->score, layer, head); std::isfinite(score))
        panel->listed.push_back({{layer, head}, score, head_value(run, drain, layer, head)});
  std::ranges::stable_sort(panel->listed, [](const auto& a, const auto& b) { return a.score > b.score; });
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, choice.top));
  if (panel->listed.size() > most) panel->listed.resize(most);
  double high = 1.0;
  for (const auto& row : panel->listed) {
    panel->drains = panel->drains || std::isfinite(row.drain);
    if (std::isfinite(row.drain)) high = std::max(high, 1.03 * row.drain);
  }
  panel->x = {0.0, high};
  panel->title = rich((panel->listed.size() > 1 ? "the " + std::to_string(panel->listed.size()) + " largest"
                                                : std::string("the head")) +
                      (pair ? ", first map" : ""));
  panel->sentence = "The heads with the largest *α*_{0}" + std::string(pair ? " of the first map" : "") + ": the score";
  if (panel->drains)
    panel->sentence +=
        ", and the value drain ‖*v*_{0}‖ / mean ‖*v*‖, which is 1 where key 0 has a value like any other and small "
        "where attending it adds little";
  panel->sentence += ".";
  return panel;
}

}  // namespace

Result<void> check_sinks(const FigureRun& run, const FigureChoice& choice) {
  if (is_corpus(run)) return check_sink_intervals(run, choice);
  HEADROOM_TRY_VOID(chosen_heads(run, choice, {}));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(run, choice));
  if (!some_finite(sinks_values(*run.run, sinks_quantity("sink_score[first]"), drawn)))
    return Error(ErrorCode::Unsupported,
                 "sink_score: no head of " + run.name() + " has a value (no row of these layers sees key 0)");
  return {};
}

Result<Figure> make_sinks(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& one = runs.front();
  if (is_corpus(one)) return make_sink_intervals(one, choice);
  HEADROOM_TRY_VOID(check_sinks(one, choice));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(one, choice));
  Figure figure;
  HEADROOM_TRY(std::unique_ptr<SinkLayersPanel> layers, sink_layers(*one.run, drawn, choice));
  const bool pair = layers->series.size() > 1;
  const std::size_t columns = drawn.layers.size() * layers->series.size();
  figure.panels.push_back(std::move(layers));
  figure.panels.push_back(sink_keys(*one.run, drawn, pair));
  auto heads = sink_heads(*one.run, drawn, choice, pair);
  const double least = 15.0 + kRowPitch * static_cast<double>(heads->listed.size());
  figure.panels.push_back(std::move(heads));
  // The strips of one layer leave their titles less room.
  const double side_by_side = drawn.layers.size() > 1 ? 165.0 : pair ? 200.0 : 172.0;
  arrange(figure, choice, 174.0, side_by_side, std::max(57.0, least));
  // In between, the wide one above the two that are narrow; so too where all maps of many layers want the whole width.
  const bool crowded =
      static_cast<double>(columns) * static_cast<double>(kColumn) * kMmOfPoint > 0.36 * figure.width_mm;
  if ((figure.rows.size() == 3 || (crowded && !choice.height_mm)) && figure.width_mm >= 110.0) {
    figure.rows = {{0}, {1, 2}};
    if (!choice.height_mm) figure.height_mm = 2.0 * std::max(52.0, least);
  }
  return figure;
}

}  // namespace headroom
