#include "app/figures/kinds/change_scatter.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/page_labels.h"
#include "app/plot/label_layout.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"
#include "core/run/ablation_summary.h"
#include "core/run/ablation_way.h"

namespace headroom {
namespace {

constexpr double kManyTimes = 8.0;          // the median change: a linear axis would crowd it
constexpr std::size_t kNamedChanges = 5;    // heads
const Color kHolds = Color::hex(0x9aa4ad);  // the interval holds 0

// Behind everything: changes that the intervals cannot be relied on to see.
void draw_unseen(Painter& painter, const Rect& inner, const Axis& axis, bool across, double detectable) {
  if (!std::isfinite(detectable)) return;
  const double low = std::max(axis.low, -detectable), high = std::min(axis.high, detectable);
  const float from = axis.pixel(low), to = axis.pixel(high);
  painter.begin_series({kLossChange, "", "not seen"});
  painter.fill_rect(across ? Rect{from, inner.y0, to, inner.y1} : Rect{inner.x0, to, inner.x1, from}, ink::kInterval);
  painter.end_series();
}

// One point a head: the change against the sink score, or against the change by the first way.
class ChangeScatterPanel final : public FigurePanel {
 public:
  struct Point {
    HeadChange of;
    double x = 0.0, y = 0.0;
  };
  AllChanges all;
  std::vector<Point> drawn;
  std::optional<HeadRef> chosen;
  bool two_ways = false;
  std::string quantity;  // of y
  Bootstrapped correlation;
  PageAxis x, y;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y, inner.y, page), std::max(page.style.pt(3.0f), most_beyond_axis(x, inner.x, page)),
            page.style.size(), below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override {
    return {std::max({page.style.mm(20.0f), rich_width(page.measure, x.title, page.style.title()),
                      rich_width(page.measure, correlation_text(), page.style.text())}),
            page.style.mm(16.0f)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.2f));
    if (two_ways) {
      draw_unseen(painter, inner, along, true, all->detectable);
      draw_diagonal(painter, along, up, page, space);
    } else {
      draw_unseen(painter, inner, up, false, all->detectable);
    }
    const float zero = up.pixel(0.0);
    painter.line({inner.x0, zero}, {inner.x1, zero}, ink::kBlack, style.pt(0.5f));
    space.block(Rect{inner.x0, zero - 0.3f, inner.x1, zero + 0.3f});
    if (two_ways) {
      const float across = along.pixel(0.0);
      painter.line({across, inner.y0}, {across, inner.y1}, ink::kBlack, style.pt(0.5f));
      space.block(Rect{across - 0.3f, inner.y0, across + 0.3f, inner.y1});
    }
    const float radius = style.pt(drawn.size() > 600 ? 0.8f : 1.1f), rim = style.pt(0.25f);
    for (const Point& point : drawn) {
      const Vec2 at{along.pixel(point.x), up.pixel(point.y)};
      space.block(Rect{at.x - radius, at.y - radius, at.x + radius, at.y + radius});
    }
    for (const bool apart : {false, true}) {
      for (const Point& point : drawn)
        if (point.of.apart() == apart)
          painter.disc({along.pixel(point.x), up.pixel(point.y)}, radius + rim, ink::kWhite);
      painter.begin_series({quantity, "", apart ? "interval without 0" : "heads"});
      for (const Point& point : drawn)
        if (point.of.apart() == apart)
          painter.disc({along.pixel(point.x), up.pixel(point.y)}, radius, change_color(point.of.apart()));
      painter.end_series();
    }
    draw_chosen_point(painter, along, up, page, space);
    name_points(painter, along, up, page, space);
    if (two_ways) name_diagonal(painter, along, up, page, space);
    name_ground(painter, inner, up, page, space);
    draw_rich(painter, {inner.x1, inner.y0 - style.pt(2.0f)}, correlation_text(), style.text(ink::kNote),
              Painter::Align::Right);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const Point& point : drawn) {
      FigureMark mark;
      mark.panel = id, mark.series = two_ways ? "delta_loss,delta_loss by the second way" : "sink_score,delta_loss";
      mark.kind = "point", mark.layer = point.of.head.layer, mark.head = point.of.head.head;
      mark.x = point.x, mark.y = point.y;
      data.add(std::move(mark));
    }
  }
  std::string caption() const override { return sentence; }

 private:
  void draw_diagonal(Painter& painter, const Axis& along, const Axis& up, const Page& page, LabelSpace& space) const {
    std::vector<Vec2> line;
    const double low = std::max(x.low, y.low), high = std::min(x.high, y.high);
    for (int i = 0; i <= 48; ++i) {
      const double value = low + (high - low) * i / 48.0;
      line.push_back({along.pixel(value), up.pixel(value)});
    }
    painter.begin_series({"", "", "equal"});
    painter.polyline(line, ink::kBlack, page.style.pt(0.7f));
    painter.end_series();
    space.block_line(line, page.style.pt(1.0f));
  }
  // Beside the line, from its upper end.
  void name_diagonal(Painter& painter, const Axis& along, const Axis& up, const Page& page, LabelSpace& space) const {
    const RichText label = rich("equal");
    const float width = rich_width(page.measure, label, page.style.text());
    const double low = std::max(x.low, y.low), high = std::min(x.high, y.high);
    std::vector<Vec2> places;
    for (int i = 18; i >= 2; --i) {
      const double value = low + (high - low) * i / 20.0;
      const Vec2 at{along.pixel(value), up.pixel(value)};
      places.push_back({at.x - width - page.style.pt(3.0f), at.y - page.style.pt(1.0f)});
      places.push_back({at.x + page.style.pt(3.0f), at.y + page.style.size()});
    }
    put_label(painter, page, space, label, page.style.on_lines(ink::kBlack), places);
  }

  void draw_chosen_point(Painter& painter, const Axis& along, const Axis& up, const Page& page,
                         LabelSpace& space) const {
    for (const Point& point : drawn) {
      if (!chosen || point.of.head != *chosen) continue;
      const Vec2 at{along.pixel(point.x), up.pixel(point.y)};
      const float ring = page.style.pt(2.6f);
      painter.ring(at, ring + page.style.pt(0.5f), ink::kWhite, page.style.pt(0.6f));
      painter.ring(at, ring, ink::kHead.mark, page.style.pt(0.9f));
      space.block(Rect{at.x - ring, at.y - ring, at.x + ring, at.y + ring});
    }
  }

  // "r_S = −0.23 [−0.35, −0.11]"
  [[nodiscard]] RichText correlation_text() const {
    if (!std::isfinite(correlation.value)) return {};
    std::string text = "*r*_{S} = " + fixed_text(correlation.value, 2);
    if (std::isfinite(correlation.low))
      text += " [" + fixed_text(correlation.low, 2) + ", " + fixed_text(correlation.high, 2) + "]";
    return rich(text);
  }

  // What the grey ground is, where it touches nothing: all of it, or its size alone.
  void name_ground(Painter& painter, const Rect& inner, const Axis& axis, const Page& page, LabelSpace& space) const {
    if (!std::isfinite(all->detectable)) return;
    const PageStyle& style = page.style;
    const std::string size = "±" + two_digits(all->detectable);
    for (const RichText& label : {rich("80 % power from " + size), rich(size)}) {
      const float width = rich_width(page.measure, label, style.text());
      std::vector<Vec2> places;
      if (!two_ways)
        for (const double level : {all->detectable, -all->detectable})
          if (level > axis.low && level < axis.high)
            for (const Vec2& at : places_along(inner, axis.pixel(level), width, true, page)) places.push_back(at);
      for (int down = 24; down >= 0; --down)
        for (const float share : {1.0f, 0.8f, 0.6f, 0.4f, 0.2f, 0.0f})
          places.push_back(
              {inner.x0 + style.pt(3.0f) + share * (inner.width() - width - style.pt(6.0f)),
               inner.y0 + style.size() + static_cast<float>(down) / 24.0f * (inner.height() - 1.6f * style.size())});
      if (try_label(painter, page, space, label, style.on_lines(ink::kFaintNote), places)) return;
    }
    leave_out(page, rich(size));
  }

  // Those whose interval leaves out 0, then the largest, where they have room.
  void name_points(Painter& painter, const Axis& along, const Axis& up, const Page& page, LabelSpace& space) const {
    const PageStyle& style = page.style;
    std::vector<const Point*> order;
    for (const Point& point : drawn) order.push_back(&point);
    const auto rank = [&](const Point* point) {
      const bool asked = chosen && point->of.head == *chosen;
      return std::tuple(!asked, !point->of.apart(), -std::abs(point->of.change));
    };
    std::ranges::stable_sort(order, [&](const Point* a, const Point* b) { return rank(a) < rank(b); });
    for (std::size_t i = 0; i < std::min(kNamedChanges, order.size()); ++i) {
      const bool asked = chosen && order[i]->of.head == *chosen;
      const Vec2 at{along.pixel(order[i]->x), up.pixel(order[i]->y)};
      const RichText label = rich(head_text(order[i]->of.head));
      const float width = rich_width(page.measure, label, style.text());
      const auto put = [&](float gap) {
        return try_label(painter, page, space, label, style.on_lines(asked ? ink::kHead.text : ink::kBlack),
                         places_beside(at, width, style.pt(gap), page));
      };
      if (!put(asked ? 4.5f : 2.8f) && !put(asked ? 8.0f : 4.5f)) leave_out(page, label);
    }
  }
};

}  // namespace

std::string heads_word(std::int64_t count) { return grouped_text(count) + (count == 1 ? " head" : " heads"); }

Color change_color(bool apart) { return apart ? ink::kBlack : kHolds; }

// Symlog where few changes are much larger than the others.
ScaleKind change_scale(const HeadChanges& all, const FigureChoice& choice) {
  if (choice.scale) return *choice.scale;
  std::vector<double> sizes;
  for (const HeadChange& one : all.heads) sizes.push_back(std::abs(one.change));
  const double most = std::ranges::max(sizes);
  return most > kManyTimes * quantile(sizes, 0.5) && most > 2.0 * kSmallLossChange ? ScaleKind::Symlog
                                                                                   : ScaleKind::Linear;
}

PageAxis change_axis(double low, double high, ScaleKind scale) {
  const Range range = roomy_range(std::min(0.0, low), std::max(0.0, high), false);
  PageAxis axis{range.low, range.high};
  if (!(axis.high > axis.low)) axis.low = -1e-3, axis.high = 1e-3;
  if (scale != ScaleKind::Symlog) return axis;
  axis.linear = kSmallLossChange;
  // Room in decades.
  const double most = symlog_place(std::max(-axis.low, axis.high), axis.linear), room = 0.04 * most;
  axis.low =
      low < 0.0 ? symlog_value(symlog_place(low, axis.linear) - room, axis.linear) : symlog_value(-room, axis.linear);
  axis.high = symlog_value(symlog_place(std::max(0.0, high), axis.linear) + room, axis.linear);
  return axis;
}

std::unique_ptr<FigurePanel> change_scatter(const AllChanges& all, const FigureChoice& choice) {
  auto panel = std::make_unique<ChangeScatterPanel>();
  panel->kind = "importance", panel->all = all;
  panel->two_ways = !all->other_change.empty(), panel->name = panel->two_ways ? "ways" : "sinks";
  panel->weight = panel->two_ways ? 48.0f : 40.0f;
  panel->quantity = kLossChange;
  if (!choice.heads.empty()) panel->chosen = choice.heads.front();
  std::vector<double> across, up;
  for (const HeadChange& one : all->heads) {
    ChangeScatterPanel::Point point{one, panel->two_ways ? one.change : one.sink,
                                    panel->two_ways ? one.other : one.change};
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
    panel->drawn.push_back(point), across.push_back(point.x), up.push_back(point.y);
  }
  if (panel->drawn.empty()) return nullptr;
  panel->correlation = bootstrapped_rank_correlation(across, up);
  const auto [low, high] = std::ranges::minmax(up);
  panel->y = change_axis(low, high, change_scale(*all, choice));
  if (panel->two_ways) {
    const auto [first, last] = std::ranges::minmax(across);
    panel->x = change_axis(first, last, change_scale(*all, choice));
    panel->x.title = rich("loss change, " + all->way + ", nats");
    panel->title = rich("loss change, " + all->other_way + ", nats");
    panel->brief = rich(all->other_way + ", nats");
  } else {
    const auto [first, last] = std::ranges::minmax(across);
    panel->x = {std::min(0.0, first), std::max(1.0, last)};
    panel->x.title = rich("sink score *α*_{0}");
    panel->title = rich("loss change, nats");
  }
  panel->right = rich(heads_word(std::ssize(panel->drawn)));
  std::string& text = panel->sentence;
  text = panel->two_ways
             ? "The change where " + ablation_sentence(all->other_change, all->sequences > 0) +
                   ", against the change of a; line: equal"
             : std::string("The change against the sink score *α*_{0}, the mean weight that rows give key 0") +
                   (all->two_maps ? " (of two maps the first’s)" : "");
  text += ". Black and grey as in a.";
  if (std::isfinite(all->detectable))
    text += " Grey ground: below ±" + two_digits(all->detectable) +
            " nats a change would be seen in fewer than 80 of 100 cases, at the median standard error.";
  if (const Bootstrapped& r = panel->correlation; std::isfinite(r.value)) {
    text += " Spearman’s rank correlation *r*_{S} = " + fixed_text(r.value, 2);
    if (std::isfinite(r.low))
      text += " [" + fixed_text(r.low, 2) + ", " + fixed_text(r.high, 2) + "], 95 % of " +
              grouped_text(static_cast<std::int64_t>(bootstrap_draws(across.size()))) +
              " bootstrap draws of heads (of other heads of such a model, not of other texts)";
    text += ".";
  }
  if (const auto lacking = std::ssize(all->heads) - std::ssize(panel->drawn); lacking > 0)
    text += " Not drawn: " + heads_word(lacking) + " without a value.";
  return panel;
}

}  // namespace headroom
