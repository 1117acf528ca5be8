#include "app/figures/kinds/compare_panels.h"

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/page_beyond.h"
#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "app/plot/label_layout.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kHeadRadius = 1.0f, kHeadRim = 0.25f;

RichText plain(std::string text) {
  std::size_t end = kLongestSide - 1;
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  if (text.size() > kLongestSide) text = text.substr(0, end) + "…";
  return {{TextRun::Form::Upright, std::move(text)}};
}

class ComparePairsPanel final : public FigurePanel {
 public:
  explicit ComparePairsPanel(std::shared_ptr<const Comparison> compared) : all(std::move(compared)) {
    kind = "compare", name = "pairs";
  }
  std::shared_ptr<const Comparison> all;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(all->value, inner.y, page),
            std::max(page.style.pt(2.0f), beyond_axis(all->value, inner.x, page)), 0.0f, below_axis(x_axis(), page)};
  }
  Vec2 least_inner(const Page& page) const override {
    const float left = left_of_axis(all->value, 80.0f, page);
    return {std::max({page.style.mm(14.0f),
                      rich_width(page.measure, above(), page.style.title()) + page.style.mm(3.0f) - left,
                      rich_width(page.measure, x_axis().title, page.style.title())}),
            page.style.mm(10.0f)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(all->value, inner.x0, inner.x1), up = placed_axis(all->value, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.0f));
    painter.line({inner.x0, inner.y1}, {inner.x1, inner.y0}, ink::kBlack, style.pt(0.7f));
    space.block_line(std::vector<Vec2>{{inner.x0, inner.y1}, {inner.x1, inner.y0}}, style.pt(1.0f));
    if (all->threshold_shown()) {
      const float x = along.pixel(*all->threshold), y = up.pixel(*all->threshold);
      painter.dashed_line({inner.x0, y}, {inner.x1, y}, ink::kBlack, style.pt(0.7f), style.pt(5.0f), style.pt(3.0f));
      painter.dashed_line({x, inner.y1}, {x, inner.y0}, ink::kBlack, style.pt(0.7f), style.pt(5.0f), style.pt(3.0f));
      space.block(Rect{inner.x0, y - 0.5f, inner.x1, y + 0.5f});
      space.block(Rect{x - 0.5f, inner.y0, x + 0.5f, inner.y1});
    }
    const float radius = style.pt(kHeadRadius);
    const auto place = [&](const HeadDifference& one) { return Vec2{along.pixel(one.a), up.pixel(one.b)}; };
    for (const HeadDifference& one : all->sides.heads) {
      const Vec2 at = place(one);
      if (on_plot(inner, at)) space.block(Rect::sized(at.x - radius, at.y - radius, 2.0f * radius, 2.0f * radius));
    }
    for (const bool apart : {false, true}) {
      const auto drawn = [&](const HeadDifference& one) { return one.apart() == apart && on_plot(inner, place(one)); };
      for (const HeadDifference& one : all->sides.heads)
        if (drawn(one)) painter.disc(place(one), radius + style.pt(kHeadRim), ink::kWhite);
      painter.begin_series({quantity_text(all->quantity), "", apart ? "heads apart" : "heads"});
      for (const HeadDifference& one : all->sides.heads)
        if (drawn(one)) painter.disc(place(one), radius, color(one).mark);
      painter.end_series();
    }
    const bool numbers = all->heads_beyond() <= kMostNumbersBeyond;
    painter.begin_series({quantity_text(all->quantity), "", "beyond"});
    for (const HeadDifference& one : all->sides.heads)
      draw_beyond(painter, page, space, inner, place(one), numbers ? beyond_number(one) : RichText(), color(one));
    painter.end_series();
    draw_labels(painter, inner, up, page, space);
    const float letter_room = letter.empty() ? 0.0f : style.mm(3.1f);
    draw_rich(painter, {frame.outer.x0 + style.mm(0.8f) + letter_room, frame.outer.y0 + style.mm(3.1f)}, above(),
              style.title(ink::kRunB.text));
    PageAxis bare = x_axis();
    const RichText below = std::exchange(bare.title, {});
    draw_x_axis(painter, inner, bare, page);
    draw_rich(painter, {inner.centre_x(), inner.y1 + below_axis(x_axis(), page) - 0.28f * style.title_size()}, below,
              style.title(ink::kRunA.text), Painter::Align::Centre);
    draw_y_axis(painter, inner, all->value, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const HeadDifference& one : all->sides.heads) {
      FigureMark mark;
      mark.panel = id, mark.series = quantity_text(all->quantity), mark.kind = "point";
      mark.layer = one.head.layer, mark.head = one.head.head, mark.x = one.a, mark.y = one.b;
      mark.n = one.n;
      data.add(std::move(mark));
    }
  }
  std::string caption() const override { return all->sentences.at(name); }

 private:
  [[nodiscard]] RichText above() const { return all->symbol + rich(", ") + plain(all->sides.name_b); }
  [[nodiscard]] PageAxis x_axis() const {
    PageAxis axis = all->value;
    axis.title = all->symbol + rich(", ") + plain(all->sides.name_a);
    return axis;
  }
  // The coordinate that lies beyond its axis; both where both do.
  [[nodiscard]] RichText beyond_number(const HeadDifference& one) const {
    std::string text = all->beyond(one.a) ? short_text(one.a) : "";
    if (all->beyond(one.b)) text += (text.empty() ? "" : ", ") + short_text(one.b);
    return rich(text);
  }
  [[nodiscard]] MarkColor color(const HeadDifference& one) const {
    return one.apart() || all->sides.texts_a < 2 ? MarkColor{ink::kPoint, ink::kPoint} : ink::kNotCounted;
  }

  void draw_labels(Painter& painter, const Rect& inner, const Axis& up, const Page& page, LabelSpace& space) const {
    const PageStyle& style = page.style;
    if (all->threshold_shown()) {
      const float y = up.pixel(*all->threshold), width = rich_width(page.measure, all->threshold_name, style.text());
      std::vector<Vec2> places;
      for (const float rise : {-2.5f, 8.0f})
        for (const float share : {0.0f, 0.15f, 0.3f, 0.5f, 0.7f})
          places.push_back({inner.x1 - width - style.pt(2.0f) - share * inner.width(), y + style.pt(rise)});
      put_label(painter, page, space, all->threshold_name, style.text(), places);
    }
    const RichText equal = rich("equal");
    const float width = rich_width(page.measure, equal, style.text());
    std::vector<Vec2> places;
    for (const float share : {0.66f, 0.75f, 0.55f, 0.85f, 0.45f, 0.35f, 0.25f})
      places.push_back({inner.x0 + share * inner.width() - width - style.pt(8.0f),
                        inner.y1 - share * inner.height() + style.pt(1.0f)});
    put_label(painter, page, space, equal, style.text(ink::kNote), places);
  }
};

class CompareHeadsPanel final : public FigurePanel {
 public:
  explicit CompareHeadsPanel(std::shared_ptr<const Comparison> compared) : all(std::move(compared)) {
    kind = "compare", name = "differences", weight = 1.65f;
    const TwoSides& sides = all->sides;
    double low = 0.0, high = 0.0;
    first_head = last_head = sides.heads.front().head.head;
    first_layer = sides.heads.front().head.layer, last_layer = sides.heads.back().head.layer;
    for (const HeadDifference& one : sides.heads) {
      first_head = std::min(first_head, one.head.head), last_head = std::max(last_head, one.head.head);
      low = std::min(low, one.has_interval() ? one.low : one.mean);
      high = std::max(high, one.has_interval() ? one.high : one.mean);
    }
    const Range range = low < high ? roomy_range(low, high, false) : Range{-1.0, 1.0};
    y = {range.low, range.high};
    const std::string how = ", mean and 95 % interval, " + sides.count_a;
    title = rich("difference of ") + all->symbol + rich(sides.texts_a < 2 ? ", " + sides.count_a : how);
    brief = rich("difference" + (sides.texts_a < 2 ? ", " + sides.count_a : how));
  }
  std::shared_ptr<const Comparison> all;
  std::int64_t first_head = 0, last_head = 0, first_layer = 0, last_layer = 0;
  PageAxis y;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y, inner.y, page), page.style.pt(2.0f), 0.0f, below_axis(x_axis(), page)};
  }
  Vec2 least_inner(const Page& page) const override {
    return {rich_width(page.measure, x_axis().title, page.style.title()), page.style.mm(10.0f)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x_axis(), inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.0f));
    painter.line({inner.x0, up.pixel(0.0)}, {inner.x1, up.pixel(0.0)}, ink::kBlack, style.pt(0.7f));
    space.block(Rect{inner.x0, up.pixel(0.0) - 0.5f, inner.x1, up.pixel(0.0) + 0.5f});
    const float pitch = inner.width() / static_cast<float>(std::max<std::size_t>(1, all->sides.heads.size()));
    const float stroke = std::clamp(0.35f * pitch, style.pt(0.25f), style.pt(0.7f));
    const float radius = std::clamp(0.4f * pitch, style.pt(0.6f), style.pt(1.1f));
    for (const bool is_apart : {false, true}) {
      const Color color = is_apart || all->sides.intervals() == 0 ? ink::kPoint : ink::kRunA.mark;
      painter.begin_series(
          {quantity_text(all->quantity), "",
           is_apart ? (all->sides.corpora ? "intervals of changes" : "intervals without 0") : "intervals"});
      for (const HeadDifference& one : all->sides.heads)
        if (one.apart() == is_apart && one.has_interval())
          painter.line({along.pixel(place(one)), up.pixel(one.low)}, {along.pixel(place(one)), up.pixel(one.high)},
                       color, stroke);
      painter.end_series();
      painter.begin_series({quantity_text(all->quantity), "", is_apart ? "differences apart" : "differences"});
      for (const HeadDifference& one : all->sides.heads)
        if (one.apart() == is_apart) painter.disc({along.pixel(place(one)), up.pixel(one.mean)}, radius, color);
      painter.end_series();
    }
    for (const HeadDifference& one : all->sides.heads) {
      const float x = along.pixel(place(one)), top = up.pixel(one.has_interval() ? one.high : one.mean),
                  foot = up.pixel(one.has_interval() ? one.low : one.mean);
      space.block(Rect{x - radius, top - radius, x + radius, foot + radius});
    }
    draw_count(painter, inner, page, space);
    draw_x_axis(painter, inner, x_axis(), page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const HeadDifference& one : all->sides.heads) {
      FigureMark mark;
      mark.panel = id, mark.series = "difference", mark.kind = one.has_interval() ? "interval" : "point";
      mark.layer = one.head.layer, mark.head = one.head.head, mark.x = place(one);
      mark.y = one.mean, mark.low = one.low, mark.high = one.high, mark.n = one.n;
      data.add(std::move(mark));
    }
  }
  std::string caption() const override { return all->sentences.at(name); }

 private:
  // Heads of a layer side by side about the layer's index.
  [[nodiscard]] double place(const HeadDifference& one) const {
    const auto head = static_cast<double>(one.head.head - first_head);
    return static_cast<double>(one.head.layer) - 0.5 + (head + 0.5) / static_cast<double>(last_head - first_head + 1);
  }
  [[nodiscard]] PageAxis x_axis() const {
    PageAxis axis{static_cast<double>(first_layer) - 0.5, static_cast<double>(last_layer) + 0.5};
    axis.whole = true;
    axis.title = rich(last_head > first_head ? "layer (heads " + std::to_string(first_head) + "–" +
                                                   std::to_string(last_head) + " side by side)"
                                             : std::string("layer"));
    return axis;
  }
  void draw_count(Painter& painter, const Rect& inner, const Page& page, LabelSpace& space) const {
    const PageStyle& style = page.style;
    const TwoSides& sides = all->sides;
    const std::string counts = std::to_string(sides.apart()) + " of " + std::to_string(sides.intervals());
    const RichText text = sides.intervals() == 0
                              ? rich(sides.corpora ? "one document: no intervals" : "one text: no intervals")
                          : sides.corpora ? rich(counts + " heads change (*q* ≤ 0.05)")
                                          : rich(counts + " intervals without 0");
    const float width = rich_width(page.measure, text, style.text());
    std::vector<Vec2> places;
    for (const float share : {0.0f, 1.0f, 0.5f, 0.25f, 0.75f})
      for (const bool foot : {true, false})
        places.push_back({inner.x0 + style.pt(2.5f) + share * (inner.width() - width - style.pt(5.0f)),
                          foot ? inner.y1 - style.pt(4.0f) : inner.y0 + style.size()});
    put_label(painter, page, space, text, style.text(ink::kNote), places);
  }
};

class CompareSharesPanel final : public FigurePanel {
 public:
  explicit CompareSharesPanel(std::shared_ptr<const Comparison> compared) : all(std::move(compared)) {
    kind = "compare", name = "ecdf", weight = 0.72f;
    title = rich("share of heads below ") + all->symbol, brief = rich("share of heads");
  }
  std::shared_ptr<const Comparison> all;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y_axis(), inner.y, page),
            std::max(page.style.pt(3.5f), beyond_axis(all->value, inner.x, page)), 0.0f, below_axis(x_axis(), page)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(all->value, inner.x0, inner.x1), up = placed_axis(y_axis(), inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.0f));
    if (all->threshold_shown()) {
      const float x = along.pixel(*all->threshold);
      painter.dashed_line({x, inner.y1}, {x, inner.y0}, ink::kBlack, style.pt(0.7f), style.pt(5.0f), style.pt(3.0f));
      space.block(Rect{x - 0.5f, inner.y0, x + 0.5f, inner.y1});
    }
    const std::vector<Vec2> a = steps(all->sides.only_a, along, up), b = steps(all->sides.only_b, along, up);
    painter.push_clip(inner.inset(-style.pt(1.0f)));
    painter.begin_series({quantity_text(all->quantity), "", "first"});
    painter.polyline(a, ink::kRunA.mark, style.pt(1.0f));
    painter.end_series();
    painter.begin_series({quantity_text(all->quantity), "", "second"});
    painter.polyline(b, ink::kRunB.mark, style.pt(1.2f));
    painter.end_series();
    painter.pop_clip();
    for (const auto* line : {&a, &b}) space.block_line(*line, style.pt(2.0f));
    draw_counts(painter, inner, page, space);
    const auto name_line = [&](const std::string& text, const MarkColor& color, const std::vector<Vec2>& own,
                               const std::vector<Vec2>& other) {
      // What is too long for its place is cut at the end; the first panel and the caption have all of it.
      for (const float share : {1.0f, 0.6f, 0.4f}) {
        const RichText words = plain(elide_end(text, share * inner.width(), page.measure, Face::Sans, style.size()));
        const auto at = place_beside(space, own, {other}, rich_width(page.measure, words, style.text()), page);
        if (!at) continue;
        return draw_rich(painter, *at, words, style.text(color.text));
      }
      leave_out(page, plain(text));
    };
    name_line(all->sides.name_a, ink::kRunA, a, b);
    name_line(all->sides.name_b, ink::kRunB, b, a);
    draw_x_axis(painter, inner, x_axis(), page);
    draw_y_axis(painter, inner, y_axis(), page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    const auto add = [&](const char* series, const std::vector<double>& values) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        FigureMark mark;
        mark.panel = id, mark.series = series, mark.kind = "step";
        mark.x = values[i], mark.y = static_cast<double>(i + 1) / static_cast<double>(values.size());
        mark.n = std::ssize(values);
        data.add(std::move(mark));
      }
    };
    add("first", all->sides.only_a);
    add("second", all->sides.only_b);
  }
  std::string caption() const override { return all->sentences.at(name); }

 private:
  [[nodiscard]] PageAxis y_axis() const { return {0.0, 1.0}; }
  [[nodiscard]] PageAxis x_axis() const {
    PageAxis axis = all->value;
    axis.title = all->symbol;
    return axis;
  }
  // From the left edge at 0 to the right edge at 1, a corner before and after each value.
  static std::vector<Vec2> steps(const std::vector<double>& values, const Axis& along, const Axis& up) {
    std::vector<Vec2> line{{along.from, up.from}};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float x = along.pixel(values[i]);
      line.push_back({x, line.back().y});
      line.push_back({x, up.pixel(static_cast<double>(i + 1) / static_cast<double>(values.size()))});
    }
    line.push_back({std::max(along.to, line.back().x), line.back().y});
    return line;
  }
  // "above ε" over "141 → 130", each number in its colour.
  void draw_counts(Painter& painter, const Rect& inner, const Page& page, LabelSpace& space) const {
    if (!all->threshold) return;
    const PageStyle& style = page.style;
    const auto count = [&](const std::vector<double>& values) {
      return std::to_string(std::ranges::count_if(values, [&](double v) { return v > *all->threshold; }));
    };
    const RichText head = rich("above *ε*");
    const RichText first = plain(count(all->sides.only_a)), arrow = rich(" → "),
                   second = plain(count(all->sides.only_b));
    const auto width = [&](const RichText& text) { return rich_width(page.measure, text, style.text()); };
    const float wide = std::max(width(head), width(first) + width(arrow) + width(second)), line = 1.25f * style.size();
    for (const Vec2 share :
         {Vec2{1.0f, 1.0f}, Vec2{0.6f, 1.0f}, Vec2{0.45f, 1.0f}, Vec2{0.0f, 0.0f}, Vec2{1.0f, 0.5f}}) {
      const Rect box = Rect::sized(
          inner.x0 + style.pt(3.0f) + share.x * (inner.width() - wide - style.pt(6.0f)),
          inner.y0 + style.pt(2.0f) + share.y * (inner.height() - 2.0f * line - style.pt(6.0f)), wide, 2.0f * line);
      if (!space.place(OrientedBox::of(box))) continue;
      draw_rich(painter, {box.x0, box.y0 + 0.8f * style.size()}, head, style.text());
      const float y = box.y0 + 0.8f * style.size() + line;
      draw_rich(painter, {box.x0, y}, first, style.text(ink::kRunA.text));
      draw_rich(painter, {box.x0 + width(first), y}, arrow, style.text());
      draw_rich(painter, {box.x0 + width(first) + width(arrow), y}, second, style.text(ink::kRunB.text));
      return;
    }
    leave_out(page, head + rich(": ") + first + arrow + second);
  }
};

}  // namespace

std::unique_ptr<FigurePanel> compare_pairs_panel(std::shared_ptr<const Comparison> all) {
  return std::make_unique<ComparePairsPanel>(std::move(all));
}
std::unique_ptr<FigurePanel> compare_differences_panel(std::shared_ptr<const Comparison> all) {
  return std::make_unique<CompareHeadsPanel>(std::move(all));
}
std::unique_ptr<FigurePanel> compare_shares_panel(std::shared_ptr<const Comparison> all) {
  return std::make_unique<CompareSharesPanel>(std::move(all));
}

}  // namespace headroom
