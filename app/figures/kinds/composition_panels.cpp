#include "app/figures/kinds/composition_panels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "app/figures/head_places.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

struct WayInk {
  MarkColor color;
  LineDash dash;
  int marker;
  float bow;  // of a line's length: those between the same heads do not lie on each other
  const char* sample;
};
// By kCompositionNames.
constexpr std::array<WayInk, 3> kWayInks = {
    WayInk{{Color::hex(0xe69f00), Color::hex(0x8f6200)}, kLongDash, 1, 0.18f, "– – Q"},
    WayInk{{ink::kBlack, ink::kBlack}, kSolidLine, 0, 0.09f, "— K"},
    WayInk{ink::kKappa, kShortDash, 2, -0.09f, "··· V"}};
constexpr float kThinEdge = 0.5f, kThickEdge = 1.3f;  // points, of what is as strong as chance and of the strongest
constexpr float kMapBow = 0.04f;                      // more for a second map
constexpr float kLeastCount = 0.7f;                   // where the axis of counts begins

using AllPairs = std::shared_ptr<const HeadPairsOfFile>;

std::string pair_series(const HeadPair& pair) {
  return (pair.way == 0 ? "q" : pair.way == 1 ? "k" : "v") + std::string("_composition");
}

// The later head is the mark's, the earlier one in its name.
FigureMark mark_of(const HeadPair& pair) {
  FigureMark mark;
  mark.series = pair_series(pair) + " of " + head_text(pair.from);
  mark.layer = pair.to.layer, mark.head = pair.to.head;
  if (pair.way < 2) mark.component = static_cast<std::int64_t>(pair.map);
  return mark;
}

// Dotted, with its name and value above the plot.
void draw_random(Painter& painter, const Rect& inner, const Axis& along, double value, const Page& page) {
  if (!(value >= along.low && value <= along.high)) return;
  const PageStyle& style = page.style;
  const float at = along.pixel(value);
  painter.begin_series({"composition_null", "", "random"});
  painter.dashed_line({at, inner.y0}, {at, inner.y1}, ink::kNull, style.pt(0.7f), style.pt(1.0f), style.pt(1.6f));
  painter.end_series();
  const RichText text = rich("random " + short_text(value));
  const float width = rich_width(page.measure, text, style.text());
  const float left = std::clamp(at - 0.5f * width, inner.x0, std::max(inner.x0, inner.x1 - width));
  draw_rich(painter, {left, inner.y0 - style.pt(2.0f)}, text, style.text(ink::kNull));
}

// Each head has a place, and each pair a line that bows a little, so that it does not pass through heads between.
class EdgesPanel final : public FigurePanel {
 public:
  AllPairs pairs;
  HeadPlaces places;
  std::optional<HeadRef> chosen;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2) const override {
    return {places.left(page), page.style.pt(2.0f), 0.0f, below_axis(places.across(), page)};
  }
  Vec2 least_inner(const Page& page) const override {
    return {std::max(page.style.mm(26.0f), page.style.mm(0.45f) * static_cast<float>(places.layers.size())),
            std::max(page.style.mm(12.0f), page.style.mm(0.25f) * static_cast<float>(places.heads.size()))};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis across = placed_axis(places.across(), inner.x0, inner.x1),
               down = placed_axis(places.down(), inner.y0, inner.y1);
    painter.begin_plot({id, kind, across, down});
    const float cell = std::min(inner.width() / static_cast<float>(places.layers.size()),
                                inner.height() / static_cast<float>(places.heads.size()));
    const float small = std::min(style.pt(0.8f), 0.3f * cell), large = std::min(style.pt(1.4f), 0.45f * cell);
    painter.begin_series({"", "", "heads"});
    for (const std::int64_t layer : places.layers)
      for (const std::int64_t head : places.heads) painter.disc(place({layer, head}, inner), small, ink::kGuide);
    painter.end_series();
    for (std::size_t way = 0; way < kWayInks.size(); ++way) {
      const WayInk& ink = kWayInks[way];
      for (auto pair = pairs->strongest.rbegin(); pair != pairs->strongest.rend(); ++pair) {
        if (pair->way != way) continue;
        painter.begin_series({pair_series(*pair), pair->heads(), pair->way_name()});
        draw_page_line(painter, bow(*pair, inner), ink.color.mark, thickness(*pair), ink.dash, page);
        painter.end_series();
      }
    }
    for (const HeadPair& pair : pairs->strongest)
      for (const HeadRef& head : {pair.from, pair.to}) painter.disc(place(head, inner), large, ink::kPoint);
    if (chosen && std::ranges::find(places.layers, chosen->layer) != places.layers.end() &&
        std::ranges::find(places.heads, chosen->head) != places.heads.end()) {
      painter.disc(place(*chosen, inner), 1.5f * large, ink::kWhite);
      painter.disc(place(*chosen, inner), 1.25f * large, ink::kHead.mark);
    }
    places.draw_numbers(painter, inner, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const HeadPair& pair : pairs->strongest) {
      FigureMark mark = mark_of(pair);
      mark.panel = id, mark.kind = "line", mark.y = pair.composition;
      data.add(std::move(mark));
    }
  }
  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] Vec2 place(HeadRef head, const Rect& inner) const {
    const auto l = std::ranges::find(places.layers, head.layer) - places.layers.begin(),
               h = std::ranges::find(places.heads, head.head) - places.heads.begin();
    return places.place(inner, static_cast<std::size_t>(l), static_cast<std::size_t>(h)).centre();
  }
  [[nodiscard]] float thickness(const HeadPair& pair) const {
    const double most = pairs->strongest.front().composition - pairs->null_value,
                 share = most > 0.0 ? (pair.composition - pairs->null_value) / most : 1.0;
    return kThinEdge + (kThickEdge - kThinEdge) * static_cast<float>(std::clamp(share, 0.0, 1.0));
  }
  [[nodiscard]] std::vector<Vec2> bow(const HeadPair& pair, const Rect& inner) const {
    constexpr int kSteps = 20;
    const Vec2 from = place(pair.from, inner), to = place(pair.to, inner), way = to - from;
    const float share = kWayInks[pair.way].bow + (pair.map > 0 ? kMapBow : 0.0f);
    const Vec2 aside{way.y * share, -way.x * share};
    std::vector<Vec2> line;
    for (int i = 0; i <= kSteps; ++i) {
      const float t = static_cast<float>(i) / kSteps;
      line.push_back(from + way * t + aside * (4.0f * t * (1.0f - t)));
    }
    line.back() = to;
    return line;
  }
};

class PairListPanel final : public FigurePanel {
 public:
  AllPairs pairs;
  std::optional<HeadRef> chosen;
  PageAxis x;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    const PageStyle& style = page.style;
    return {names_width(page) + ways_width(page) + style.pt(8.0f),
            std::max(style.pt(4.0f), most_beyond_axis(x, inner.x, page)), style.size(), below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override {
    return {page.style.mm(16.0f), 1.02f * page.style.size() * static_cast<float>(pairs->strongest.size())};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const std::vector<HeadPair>& listed = pairs->strongest;
    const PageAxis rows{-0.5, static_cast<double>(listed.size()) - 0.5};
    const Axis along = placed_axis(x, inner.x0, inner.x1), down = placed_axis(rows, inner.y0, inner.y1);
    painter.begin_plot({id, kind, along, down});
    const auto at = [&](std::size_t i) { return down.pixel(static_cast<double>(i)); };
    for (std::size_t i = 0; i < listed.size(); ++i)
      painter.line({inner.x0, at(i)}, {along.pixel(listed[i].composition), at(i)}, ink::kGuide, style.pt(0.5f));
    painter.line({inner.x0, inner.y0}, {inner.x0, inner.y1}, ink::kGuide, style.pt(0.5f));
    draw_random(painter, inner, along, pairs->null_value, page);
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const WayInk& ink = kWayInks[listed[i].way];
      painter.begin_series({pair_series(listed[i]), listed[i].heads(), listed[i].way_name()});
      draw_page_marker(painter, {along.pixel(listed[i].composition), at(i)}, ink.marker, style.pt(1.6f),
                       ink.color.mark);
      painter.end_series();
      const bool own = chosen && (*chosen == listed[i].from || *chosen == listed[i].to);
      painter.text_at(inner.x0 - ways_width(page) - style.pt(8.0f), at(i), listed[i].heads(),
                      style.text(own ? ink::kHead.text : ink::kBlack), Painter::Align::Right);
      painter.text_at(inner.x0 - ways_width(page) - style.pt(4.0f), at(i), listed[i].way_name(),
                      style.text(ink.color.text));
    }
    draw_x_axis(painter, inner, x, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (std::size_t i = 0; i < pairs->strongest.size(); ++i) {
      FigureMark mark = mark_of(pairs->strongest[i]);
      mark.panel = id, mark.kind = "point";
      mark.x = pairs->strongest[i].composition, mark.y = static_cast<double>(i);
      data.add(std::move(mark));
    }
  }
  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] float names_width(const Page& page) const {
    float widest = 0.0f;
    for (const HeadPair& pair : pairs->strongest)
      widest = std::max(widest, page.measure.width(pair.heads(), Face::Sans, page.style.size()));
    return widest;
  }
  [[nodiscard]] float ways_width(const Page& page) const {
    float widest = 0.0f;
    for (const HeadPair& pair : pairs->strongest)
      widest = std::max(widest, page.measure.width(pair.way_name(), Face::Sans, page.style.size()));
    return widest;
  }
};

// How many pairs there are of each size.
class PairCountsPanel final : public FigurePanel {
 public:
  AllPairs pairs;
  PageAxis x, y;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y, inner.y, page), std::max(page.style.pt(4.0f), most_beyond_axis(x, inner.x, page)),
            page.style.size(), below_axis(x, page)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    draw_random(painter, inner, along, pairs->null_value, page);
    LabelSpace space(inner, style.pt(1.0f));
    std::array<std::vector<Vec2>, 3> own;
    for (const std::size_t way : {std::size_t{2}, std::size_t{0}, std::size_t{1}}) {
      painter.begin_series({std::string(1, "qkv"[way]) + "_composition", "", "pairs"});
      for (const std::vector<Vec2>& run : steps(way, along, up)) {
        draw_page_line(painter, run, kWayInks[way].color.mark, 1.0f, kWayInks[way].dash, page);
        space.block_line(run, style.pt(1.6f));
        own[way].insert(own[way].end(), run.begin(), run.end());
      }
      painter.end_series();
    }
    if (const float at = along.pixel(pairs->null_value); at >= inner.x0 && at <= inner.x1)
      space.block(Rect{at - 0.4f, inner.y0, at + 0.4f, inner.y1});
    for (std::size_t way = 0; way < own.size(); ++way) {
      if (own[way].empty()) continue;
      const RichText label = rich(kCompositionNames[way]);
      const float width = rich_width(page.measure, label, style.text());
      std::vector<std::vector<Vec2>> lines(own.begin(), own.end());
      put_label(painter, page, space, label, style.on_lines(kWayInks[way].color.text),
                places_at_line(lines, way, width, inner, page));
    }
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (std::size_t way = 0; way < pairs->counts.size(); ++way)
      for (std::size_t b = 0; pairs->pairs[way] > 0 && b < pairs->counts[way].size(); ++b) {
        FigureMark mark;
        mark.panel = id, mark.series = std::string(1, "qkv"[way]) + "_composition", mark.kind = "bar";
        mark.low = pairs->edges[b], mark.high = pairs->edges[b + 1];
        mark.y = static_cast<double>(pairs->counts[way][b]), mark.n = pairs->pairs[way];
        data.add(std::move(mark));
      }
  }
  std::string caption() const override { return sentence; }

 private:
  // The outline of runs of bins that hold something; empty bins are gaps.
  [[nodiscard]] std::vector<std::vector<Vec2>> steps(std::size_t way, const Axis& along, const Axis& up) const {
    std::vector<std::vector<Vec2>> runs;
    bool open = false;
    for (std::size_t b = 0; b < pairs->counts[way].size(); ++b) {
      const std::int64_t count = pairs->counts[way][b];
      const float x0 = along.pixel(pairs->edges[b]), x1 = along.pixel(pairs->edges[b + 1]);
      if (count == 0) {
        if (open) runs.back().push_back({x0, up.from});
        open = false;
        continue;
      }
      if (!open) runs.push_back({{x0, up.from}});
      open = true;
      const float top = up.pixel(static_cast<double>(count));
      runs.back().push_back({x0, top});
      runs.back().push_back({x1, top});
      if (b + 1 == pairs->counts[way].size()) runs.back().push_back({x1, up.from});
    }
    return runs;
  }
};

std::string pairs_word(std::int64_t count) { return grouped_text(count) + (count == 1 ? " pair" : " pairs"); }

}  // namespace

std::vector<std::unique_ptr<FigurePanel>> composition_panels(const AllPairs& pairs, const DrawnHeads& drawn,
                                                             const std::optional<HeadRef>& chosen) {
  const std::int64_t shown = std::ssize(pairs->strongest);
  const std::string random = "1/√{*D*} = " + short_text(pairs->null_value);
  auto edges = std::make_unique<EdgesPanel>();
  edges->kind = "circuits", edges->name = "edges", edges->pairs = pairs, edges->chosen = chosen, edges->weight = 62.0f;
  edges->places = {drawn.layers, drawn.heads, drawn.all_layers};
  edges->title =
      rich("the " + (shown > 1 ? std::to_string(shown) + " strongest compositions" : "strongest composition"));
  edges->brief = rich(std::to_string(shown) + " strongest");
  for (std::size_t way = 0; way < kWayInks.size(); ++way)
    if (std::ranges::any_of(pairs->strongest, [&](const HeadPair& pair) { return pair.way == way; }))
      edges->series_names.push_back({rich(kWayInks[way].sample), kWayInks[way].color.text});
  edges->sentence =
      "The " + std::to_string(shown) + " largest of " + grouped_text(pairs->candidates) +
      " compositions of what an earlier head writes with what a later head reads" +
      (pairs->candidates < pairs->all() ? ", of those that begin or end at the heads that were asked for" : "") +
      ", between the places of the heads, wide where they are strong: as queries (Q, ‖QKᵀ OV‖ / (‖QK‖ ‖OV‖)), keys (K, "
      "‖QK OV‖ / (…)) or values (V, ‖OV OV‖ / (…)), OV of the earlier head, Frobenius norms (Elhage et al. 2021). From "
      "the weights alone: without RoPE, biases and the scale of the residual stream; what heads can do, not what they do "
      "on a text.";

  auto list = std::make_unique<PairListPanel>();
  list->kind = "circuits", list->name = "pairs", list->pairs = pairs, list->chosen = chosen, list->weight = 24.0f;
  list->x = {0.0, 1.04 * std::max(pairs->strongest.front().composition, pairs->null_value)};
  list->x.title = rich("composition");
  list->title = rich(shown > 1 ? "the same, one a line" : "the same");
  list->brief = rich("the same");
  list->sentence = "The same by size. Dotted: " + random +
                   ", what unrelated matrices have, whatever their singular values (root of the mean square over "
                   "rotations).";

  auto counts = std::make_unique<PairCountsPanel>();
  counts->kind = "circuits", counts->name = "all", counts->pairs = pairs, counts->weight = 36.0f;
  std::int64_t most = 1;
  for (const auto& of_way : pairs->counts)
    for (const std::int64_t count : of_way) most = std::max(most, count);
  const double low = std::min(pairs->edges.front(), pairs->null_value),
               high = std::max(pairs->edges.back(), pairs->null_value), room = 0.02 * (high - low);
  counts->x = {std::max(0.0, low - room), high + room};
  counts->x.title = rich("composition");
  counts->y = {static_cast<double>(kLeastCount), 1.6 * static_cast<double>(most), true};
  counts->title = rich("pairs of that size");
  counts->brief = rich("pairs");
  counts->right = rich(grouped_text(pairs->all()));
  std::string& text = counts->sentence;
  text = "All compositions of the heads that are drawn in bins of one width";
  for (std::size_t way = 0; way < kWayInks.size(); ++way)
    if (pairs->pairs[way] > 0)
      text += std::string(way == 0 ? ": " : "; ") + kCompositionNames[way] + " " + pairs_word(pairs->pairs[way]) +
              ", " +
              fixed_text(100.0 * static_cast<double>(pairs->above[way]) / static_cast<double>(pairs->pairs[way]), 1) +
              " % above " + "1/√{*D*}";
  text += pairs->second_maps ? "; each of the two maps of a head counts." : ".";
  std::vector<std::unique_ptr<FigurePanel>> panels;
  panels.push_back(std::move(edges));
  panels.push_back(std::move(list));
  panels.push_back(std::move(counts));
  return panels;
}

}  // namespace headroom
