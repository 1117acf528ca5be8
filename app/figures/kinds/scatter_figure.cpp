// One point per head: one quantity over another, coloured by layer or by a third.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/head_levels.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_bar.h"
#include "app/figures/page_beyond.h"
#include "app/figures/page_labels.h"
#include "app/plot/label_layout.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

constexpr std::size_t kMostNamed = 6, kMostTogether = 3;
constexpr std::size_t kMostWithRims = 2000;  // points
constexpr float kFar = 1e9f;
constexpr float kTitleLineMm = 6.2f;  // above every inner rectangle
constexpr float kBarLow = 0.17f;      // of the map: paler points would be lost on paper

struct ScatterPoint {
  HeadRef head;
  double x = 0.0, y = 0.0, color = 0.0;
};

// A value of one axis with a meaning: a line across the plot.
struct ScatterLevel {
  bool of_x = true;
  double value = 0.0;
  RichText name;
  Color color;
  float on = 5.0f, off = 3.0f;
};

class ScatterPanel final : public FigurePanel {
 public:
  QuantityRef quantity_x, quantity_y;
  std::vector<ScatterPoint> drawn;
  std::vector<ScatterLevel> levels;
  std::vector<HeadRef> chosen, extremes;
  std::optional<PageBar> bar;
  RichText bar_name;
  PageAxis x, y;
  std::int64_t beyond = 0;  // points above and below a range that was asked for
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    PanelRoom room{left_of_axis(y, inner.y, page), page.style.pt(3.0f), page.style.pt(1.0f), below_axis(x, page)};
    // The panel may become narrower than it is thought to be.
    const Rect there{0.0f, 0.0f, inner.x, inner.y}, narrower{0.0f, 0.0f, 0.7f * inner.x, inner.y};
    if (bar && (!free_corner(there, page, 0.12f) || !free_corner(narrower, page, 0.0f))) room.top = strip_height(page);
    return room;
  }
  Vec2 least_inner(const Page& page) const override { return {page.style.mm(24.0f), page.style.mm(18.0f)}; }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.6f));
    draw_levels(painter, inner, along, up, page, space);
    draw_points(painter, inner, along, up, page, space);
    if (bar) draw_bar(painter, frame, page, space);
    name_heads(painter, along, up, page, space);
    name_levels(painter, inner, along, up, page, space);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const ScatterPoint& point : drawn) {
      FigureMark mark;
      mark.panel = id, mark.series = quantity_text(quantity_x) + "," + quantity_text(quantity_y);
      mark.kind = "point", mark.layer = point.head.layer, mark.head = point.head.head;
      mark.x = point.x, mark.y = point.y;
      data.add(std::move(mark));
    }
  }

  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] float radius(const Page& page) const {
    return page.style.pt(drawn.size() > kMostWithRims ? 0.7f : drawn.size() > 600 ? 1.0f : 1.3f);
  }
  [[nodiscard]] float strip_height(const Page& page) const {
    return page.style.mm(2.0f) + page_bar_below(page) + page.style.pt(2.0f);
  }
  [[nodiscard]] static float bar_width(const Rect& inner, const Page& page, bool small) {
    if (small) return page.style.mm(9.0f);
    return std::clamp(0.33f * inner.width(), page.style.mm(12.0f), page.style.mm(30.0f));
  }

  // The bar with its name and labels in a corner: top right, top left, bottom right, bottom left.
  [[nodiscard]] Rect corner_of(const Rect& inner, std::size_t corner, const Page& page, bool small) const {
    const PageStyle& style = page.style;
    const float high = style.mm(2.0f) + page_bar_below(page);
    const float wide =
        rich_width(page.measure, bar_name, style.text()) + style.pt(3.0f) + bar_width(inner, page, small);
    const float aside = style.pt(6.0f), x0 = corner % 2 == 0 ? inner.x1 - aside - wide : inner.x0 + aside;
    const float y0 = corner < 2 ? inner.y0 + style.pt(5.0f) : inner.y1 - style.pt(5.0f) - high;
    return Rect::sized(x0, y0, wide, high);
  }
  struct Corner {
    Rect area;
    bool small = false;
  };
  // One in which nothing is drawn, with so much of its size around it to spare; a small bar where a large one has no
  // room.
  [[nodiscard]] std::optional<Corner> free_corner(const Rect& inner, const Page& page, float spare) const {
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    for (std::size_t i = 0; i < 8; ++i) {
      const bool small = i >= 4;
      const Rect there = corner_of(inner, i % 4, page, small);
      const Rect wanted =
          there.inset(-spare * there.width() - page.style.pt(6.0f), -spare * there.height() - page.style.pt(4.0f));
      const bool taken = there.width() > 0.7f * inner.width() || there.height() > 0.35f * inner.height() ||
                         std::ranges::any_of(drawn,
                                             [&](const ScatterPoint& p) {
                                               const float arrow =
                                                   on_axes(p) ? 0.0f : page.style.pt(6.0f);  // at the edge
                                               const float height = std::clamp(up.pixel(std::clamp(p.y, y.low, y.high)),
                                                                               inner.y0 + arrow, inner.y1 - arrow);
                                               return wanted.contains({along.pixel(p.x), height});
                                             }) ||
                         std::ranges::any_of(levels, [&](const ScatterLevel& level) {
                           const float at = level.of_x ? along.pixel(level.value) : up.pixel(level.value);
                           return level.of_x ? at > wanted.x0 && at < wanted.x1 : at > wanted.y0 && at < wanted.y1;
                         });
      if (!taken) return Corner{there, small};
    }
    return {};
  }

  void draw_bar(Painter& painter, const PanelFrame& frame, const Page& page, LabelSpace& space) const {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    Rect area;
    const bool strip = inner.y0 - frame.outer.y0 >= style.mm(kTitleLineMm) + strip_height(page) - style.pt(0.5f);
    const std::optional<Corner> corner = free_corner(inner, page, 0.0f);
    if (strip) {
      area = corner_of(inner, 0, page, false);
      area = area.shifted(inner.x1 - style.pt(6.0f) - area.x1, inner.y0 - strip_height(page) - area.y0);
    } else if (corner) {
      area = corner->area;
    } else {
      return;  // over the points it would hide them
    }
    space.block(area.inset(-style.pt(5.0f), -style.pt(1.0f)));
    const float from = area.x1 - bar_width(inner, page, !strip && corner->small);
    draw_page_bar(painter, Rect{from, area.y0, area.x1, area.y1}, *bar, page);
    const float middle = area.y0 + 0.5f * style.mm(2.0f);
    draw_rich(painter, {from - style.pt(3.0f), middle + 0.36f * style.size()}, bar_name, style.text(),
              Painter::Align::Right);
  }

  void draw_levels(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page,
                   LabelSpace& space) const {
    const PageStyle& style = page.style;
    const float half = style.pt(0.4f);
    for (const ScatterLevel& level : levels) {
      painter.begin_series({quantity_text(level.of_x ? quantity_x : quantity_y), "", plain_text(level.name)});
      if (level.of_x) {
        const float at = along.pixel(level.value);
        painter.dashed_line({at, inner.y0}, {at, inner.y1}, level.color, style.pt(0.7f), style.pt(level.on),
                            style.pt(level.off));
        space.block(Rect{at - half, inner.y0, at + half, inner.y1});
      } else {
        const float at = up.pixel(level.value);
        painter.dashed_line({inner.x0, at}, {inner.x1, at}, level.color, style.pt(0.7f), style.pt(level.on),
                            style.pt(level.off));
        space.block(Rect{inner.x0, at - half, inner.x1, at + half});
      }
      painter.end_series();
    }
  }

  void draw_points(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page,
                   LabelSpace& space) const {
    const float size = radius(page), rim = page.style.pt(0.3f);
    for (const ScatterPoint& point : drawn) {
      const Vec2 at{along.pixel(point.x), up.pixel(point.y)};
      if (!on_axes(point)) continue;
      if (drawn.size() <= kMostWithRims) painter.disc(at, size + rim, ink::kWhite);
      const Color color = bar ? bar_color(*bar, point.color) : ink::kPoint;
      painter.begin_series({quantity_text(quantity_y), head_text(point.head), "head"});
      painter.disc(at, size, color);
      painter.end_series();
      space.block(Rect{at.x - size, at.y - size, at.x + size, at.y + size});
    }
    for (const ScatterPoint& point : drawn) {
      if (on_axes(point)) continue;
      // Where the axis is logarithmic, 0 is as far below as can be said.
      const float height = point.y < y.low ? inner.y1 + 10.0f : inner.y0 - 10.0f;
      const bool own = !chosen.empty() && chosen.front() == point.head;
      const RichText number = rich_number(short_text(point.y));
      painter.begin_series({quantity_text(quantity_y), head_text(point.head), "beyond"});
      draw_beyond(painter, page, space, inner, {along.pixel(point.x), height},
                  beyond <= kMostNumbersBeyond ? number : RichText(),
                  own ? ink::kHead : MarkColor{ink::kPoint, ink::kBlack});
      painter.end_series();
    }
    for (const HeadRef& head : chosen)
      if (const ScatterPoint* point = find(head)) {
        const Vec2 at{along.pixel(point->x), up.pixel(point->y)};
        const float ring = page.style.pt(2.6f);
        painter.ring(at, ring + page.style.pt(0.5f), ink::kWhite, page.style.pt(0.6f));
        painter.ring(at, ring, head == chosen.front() ? ink::kHead.mark : ink::kBlack, page.style.pt(0.9f));
        space.block(Rect{at.x - ring, at.y - ring, at.x + ring, at.y + ring});
      }
  }

  [[nodiscard]] const ScatterPoint* find(const HeadRef& head) const {
    const auto found = std::ranges::find(drawn, head, &ScatterPoint::head);
    return found == drawn.end() || !on_axes(*found) ? nullptr : &*found;
  }
  // Along x all are; along y a range may leave some out.
  [[nodiscard]] bool on_axes(const ScatterPoint& point) const { return point.y >= y.low && point.y <= y.high; }

  // Points that lie so near to one, itself among them, that a name could be of each: all of them from left to right, or
  // the one alone where they are many. Heads that were asked for have names of their own.
  [[nodiscard]] std::vector<const ScatterPoint*> together_with(const ScatterPoint& one, const Axis& along,
                                                               const Axis& up, const Page& page) const {
    const float near = 2.0f * radius(page) + page.style.pt(2.0f);
    std::vector<const ScatterPoint*> all;
    for (const ScatterPoint& point : drawn) {
      const Vec2 away{along.pixel(point.x) - along.pixel(one.x), up.pixel(point.y) - up.pixel(one.y)};
      const bool own_name = point.head != one.head && std::ranges::find(chosen, point.head) != chosen.end();
      if (on_axes(point) && !own_name && std::hypot(away.x, away.y) <= near) all.push_back(&point);
    }
    if (all.size() > kMostTogether) return {&one};
    std::ranges::stable_sort(all, [](const auto* a, const auto* b) { return a->x < b->x; });
    return all;
  }
  // "L18.H7, H8".
  static RichText names_of(const std::vector<const ScatterPoint*>& points) {
    std::string text;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool same_layer = i > 0 && points[i]->head.layer == points[i - 1]->head.layer;
      text +=
          (i > 0 ? ", " : "") + (same_layer ? "H" + std::to_string(points[i]->head.head) : head_text(points[i]->head));
    }
    return rich(text);
  }

  using Points = std::vector<const ScatterPoint*>;
  static bool has_point(const Points& points, const ScatterPoint& one) {
    return std::ranges::find(points, &one) != points.end();
  }
  // Of places for a name those that lie clearly nearer to its points than to any other.
  [[nodiscard]] std::vector<Vec2> nearest_places(std::vector<Vec2> places, const Points& own, float width,
                                                 const Axis& along, const Axis& up, const Page& page) const {
    std::erase_if(places, [&](const Vec2& place) {
      const auto away = [&](const ScatterPoint& point) {
        const Vec2 at{along.pixel(point.x), up.pixel(point.y)};
        const float size = page.style.size();
        return std::hypot(at.x - std::clamp(at.x, place.x, place.x + width),
                          at.y - std::clamp(at.y, place.y - 0.75f * size, place.y));
      };
      float mine = kFar;
      for (const ScatterPoint* point : own) mine = std::min(mine, away(*point));
      return std::ranges::any_of(drawn, [&](const ScatterPoint& point) {
        return on_axes(point) && !has_point(own, point) && away(point) < mine + page.style.pt(1.0f);
      });
    });
    return places;
  }

  // Whether a line from a point to a name passes over another point; those that lie on it are where the line begins.
  [[nodiscard]] bool passes_points(Vec2 from, Vec2 to, const Points& own, const Axis& along, const Axis& up,
                                   const Page& page) const {
    const Vec2 way = to - from;
    const float length = std::max(way.x * way.x + way.y * way.y, 1e-6f), near = radius(page) + page.style.pt(0.8f);
    return std::ranges::any_of(drawn, [&](const ScatterPoint& point) {
      const Vec2 at = Vec2{along.pixel(point.x), up.pixel(point.y)} - from;
      const Vec2 off = at - way * std::clamp((at.x * way.x + at.y * way.y) / length, 0.0f, 1.0f);
      return on_axes(point) && !has_point(own, point) && std::hypot(at.x, at.y) > near &&
             std::hypot(off.x, off.y) < near;
    });
  }

  // Farther off, on a line that leads to the point; whether there is room.
  bool lead_name(Painter& painter, const RichText& label, Color color, const Points& own, const Axis& along,
                 const Axis& up, bool given, const Page& page, LabelSpace& space) const {
    const PageStyle& style = page.style;
    const float width = rich_width(page.measure, label, style.text());
    const float off = given ? style.pt(3.2f) : radius(page) + style.pt(0.6f);
    for (const float gap : {8.0f, 14.0f, 20.0f, 28.0f, 40.0f}) {
      if (given ? gap < 14.0f : gap > 20.0f) continue;
      for (const ScatterPoint* point : own) {
        const Vec2 at{along.pixel(point->x), up.pixel(point->y)};
        std::vector<Vec2> places = places_beside(at, width, style.pt(gap), page);
        for (const float down : {-gap * style.times - 0.24f * style.size(), gap * style.times + 0.78f * style.size()})
          for (const float aside : {0.0f, -width, style.pt(gap), -style.pt(gap) - width})
            places.push_back({at.x + aside, at.y + down});
        for (const Vec2& place : places) {
          const Vec2 near{std::clamp(at.x, place.x - style.pt(1.6f), place.x + width + style.pt(1.6f)),
                          std::clamp(at.y, place.y - 0.85f * style.size(), place.y + 0.3f * style.size())};
          const Vec2 way = near - at;
          const Vec2 from = at + way * (off / std::max(1.0f, std::hypot(way.x, way.y)));
          if (passes_points(at, near, own, along, up, page) || space.crosses_label(from, near, style.pt(1.0f)))
            continue;
          if (!try_label(painter, page, space, label, style.text(color), std::array{place})) continue;
          painter.line(from, near, color, style.pt(0.5f));
          space.lead(from, near, style.pt(1.0f));
          return true;
        }
      }
    }
    return false;
  }

  void name_heads(Painter& painter, const Axis& along, const Axis& up, const Page& page, LabelSpace& space) const {
    const PageStyle& style = page.style;
    std::vector<HeadRef> all = chosen, named;
    for (const HeadRef& head : extremes)
      if (std::ranges::find(chosen, head) == chosen.end()) all.push_back(head);
    for (const HeadRef& head : all) {
      const ScatterPoint* point = find(head);
      if (point == nullptr || std::ranges::find(named, head) != named.end()) continue;
      const bool given = std::ranges::find(chosen, head) != chosen.end();
      const Points own = given ? Points{point} : together_with(*point, along, up, page);
      if (named.size() + own.size() > std::max(kMostNamed, chosen.size())) continue;
      const Color color = given && head == chosen.front() ? ink::kHead.text : ink::kBlack;
      const RichText label = names_of(own);
      const float width = rich_width(page.measure, label, style.text());
      bool there = false;
      for (const float gap : {given ? 4.5f : 2.8f, given ? 6.5f : 4.5f})
        for (const ScatterPoint* one : own) {
          const Vec2 at{along.pixel(one->x), up.pixel(one->y)};
          there = there ||
                  try_label(painter, page, space, label, style.text(color),
                            nearest_places(places_beside(at, width, style.pt(gap), page), own, width, along, up, page));
        }
      there = there || lead_name(painter, label, color, own, along, up, given, page, space);
      for (const ScatterPoint* one : own)
        if (there) named.push_back(one->head);
      if (!there && given) leave_out(page, label);  // in place of an extreme the next one is named
    }
  }

  void name_levels(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page,
                   LabelSpace& space) const {
    const PageStyle& style = page.style;
    for (const ScatterLevel& level : levels) {
      const float width = rich_width(page.measure, level.name, style.text());
      std::vector<Vec2> places;
      if (level.of_x) {
        const float at = along.pixel(level.value);
        for (const float side : {at + style.pt(3.0f), at - style.pt(3.0f) - width})
          for (int i = 0; i <= 20; ++i) {
            // Thresholds from the top, nulls from the foot: they are seldom in each other's way.
            const float share = level.on > 2.0f ? 0.05f * static_cast<float>(i) : 1.0f - 0.05f * static_cast<float>(i);
            places.push_back({side, inner.y0 + style.size() + share * (inner.height() - 1.4f * style.size())});
          }
      } else {
        places = places_along(inner, up.pixel(level.value), width, true, page);
      }
      put_label(painter, page, space, level.name, style.text(level.color), places);
    }
  }
};

std::vector<QuantityRef> scatter_quantities(const FigureChoice& choice) {
  if (!choice.quantities.empty()) return choice.quantities;
  std::vector<QuantityRef> usual;
  for (const char* quantity : {"sink_score", "context_rms_relative_mean"}) {
    const QuantityInfo* info = find_quantity_info(quantity);
    usual.push_back({info, info == nullptr ? 0 : info->default_index});
  }
  return usual;
}

void add_levels(std::vector<ScatterLevel>& levels, const RunSnapshot& run, const QuantityRef& ref, bool of_x,
                double epsilon) {
  const HeadLevels found = head_levels(run, ref, epsilon);
  if (found.uniform) levels.push_back({of_x, *found.uniform, rich("uniform"), ink::kNull, 1.0f, 1.6f});
  if (found.threshold)
    levels.push_back(
        {of_x, *found.threshold, rich((found.own ? "" : "*ε* = ") + short_text(*found.threshold)), ink::kBlack});
  if (found.reference) levels.push_back({of_x, *found.reference, rich(short_text(*found.reference)), ink::kBlack});
}

// Encloses the values and the levels. What is a share begins at 0, and reaches to 1 where its values go that far.
PageAxis scatter_axis(const QuantityRef& ref, const std::vector<double>& values, std::span<const ScatterLevel> levels,
                      bool of_x, std::optional<ScaleKind> scale) {
  const QuantityInfo& info = *ref.info;
  double low = kInfinity, high = -kInfinity;
  for (const double v : values) low = std::min(low, v), high = std::max(high, v);
  ScaleKind form = info.linear_to > 0.0 ? ScaleKind::Symlog : info.log ? ScaleKind::Log10 : ScaleKind::Linear;
  if (scale) form = *scale;
  if (form == ScaleKind::Log10 && !(low > 0.0)) form = ScaleKind::Linear;
  for (const ScatterLevel& level : levels)
    if (level.of_x == of_x && (form != ScaleKind::Log10 || level.value > 0.0))
      low = std::min(low, level.value), high = std::max(high, level.value);
  PageAxis axis;
  axis.log = form == ScaleKind::Log10;
  const Range range = roomy_range(low, high, axis.log);
  // A little more than elsewhere: for the names of the points at the ends.
  const double room = axis.log ? std::pow(range.high / range.low, 0.04) : 0.04 * (range.high - range.low);
  axis.low = axis.log ? range.low / room : range.low - room;
  axis.high = axis.log ? range.high * room : range.high + room;
  if (form == ScaleKind::Symlog) {
    const double most = std::max(std::abs(low), std::abs(high));
    axis.linear = info.linear_to > 0.0 ? info.linear_to : std::max(1e-12, 1e-3 * most);
  } else if (info.natural && form == ScaleKind::Linear) {
    const double span = info.natural->high - info.natural->low;
    if (low - info.natural->low < 0.5 * span) axis.low = info.natural->low;
    if (info.natural->high - high < 0.4 * span) axis.high = info.natural->high;
    if (!(axis.high > axis.low)) axis.high = axis.low + 1.0;
  }
  std::string title = quantity_title(ref);
  if (!info.units.empty() && info.units != "1") title += ", " + info.units;
  axis.title = rich_title(title);
  return axis;
}

std::string scatter_definition(const QuantityRef& ref) {
  std::string text = plain_text(rich_title(quantity_heading(ref)));
  if (!ref.info->definition.empty()) text += ": " + definition_markup(ref.info->definition);
  return text.ends_with('.') ? text : text + ".";
}

struct ScatterValues {
  std::vector<ScatterPoint> points;
  std::int64_t lacking = 0;
};

ScatterValues scatter_values(const RunSnapshot& run, const DrawnHeads& drawn, std::span<const QuantityRef> refs) {
  ScatterValues values;
  for (const std::int64_t layer : drawn.layers)
    for (const std::int64_t head : drawn.heads) {
      ScatterPoint point{{layer, head},
                         head_value(run, refs[0], layer, head),
                         head_value(run, refs[1], layer, head),
                         static_cast<double>(layer)};
      if (refs.size() > 2) point.color = head_value(run, refs[2], layer, head);
      if (std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.color))
        values.points.push_back(point);
      else
        ++values.lacking;
    }
  return values;
}

}  // namespace

Result<void> check_scatter(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY_VOID(chosen_heads(run, choice, {}));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(run, choice));
  const std::vector<QuantityRef> refs = scatter_quantities(choice);
  if (refs.size() < 2 || refs.size() > 3) {
    Error error(
        ErrorCode::InvalidArgument,
        "scatter is of two quantities, and a third for the colours; --quantity names " + std::to_string(refs.size()));
    return error.advise("--quantity X,Y or --quantity X,Y,COLOUR");
  }
  for (const QuantityRef& ref : refs)
    if (std::ranges::none_of(head_values(*run.run, ref), [](double v) { return std::isfinite(v); }))
      return Error(ErrorCode::Unsupported, quantity_text(ref) + ": no head of " + run.name() + " has a value");
  if (scatter_values(*run.run, drawn, refs).points.empty())
    return Error(ErrorCode::Unsupported, "scatter: no head that is drawn has all of the quantities");
  return {};
}

Result<Figure> make_scatter(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& one = runs.front();
  const RunSnapshot& run = *one.run;
  HEADROOM_TRY_VOID(check_scatter(one, choice));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(one, choice));
  const std::vector<QuantityRef> refs = scatter_quantities(choice);
  auto panel = std::make_unique<ScatterPanel>();
  panel->kind = "scatter", panel->name = "heads";
  panel->quantity_x = refs[0], panel->quantity_y = refs[1], panel->chosen = choice.heads;
  ScatterValues values = scatter_values(run, drawn, refs);
  panel->drawn = std::move(values.points);
  std::vector<double> x, y, color;
  for (const ScatterPoint& point : panel->drawn)
    x.push_back(point.x), y.push_back(point.y), color.push_back(point.color);
  add_levels(panel->levels, run, refs[0], true, choice.epsilon);
  add_levels(panel->levels, run, refs[1], false, choice.epsilon);
  panel->x = scatter_axis(refs[0], x, panel->levels, true, {});
  panel->y = scatter_axis(refs[1], y, panel->levels, false, choice.scale);
  // With a third quantity the range is of its colours.
  if (refs.size() == 2) {
    panel->y.log = panel->y.log && choice.low.value_or(1.0) > 0.0;  // one that reaches to 0 is linear
    HEADROOM_TRY_VOID(set_range(panel->y, choice));
  }
  panel->beyond = std::ranges::count_if(
      panel->drawn, [&](const ScatterPoint& point) { return point.y < panel->y.low || point.y > panel->y.high; });
  std::erase_if(panel->levels, [&](const ScatterLevel& level) {
    const PageAxis& axis = level.of_x ? panel->x : panel->y;
    return !(level.value >= axis.low && level.value <= axis.high);
  });
  panel->title = panel->y.title;
  panel->y.title = {};
  for (const std::size_t end : points_at_ends(x, y)) panel->extremes.push_back(panel->drawn[end].head);
  if (refs.size() > 2) {
    FigureChoice of_bar = choice;
    of_bar.scale.reset();
    panel->bar = quantity_bar(refs[2], color, of_bar);
    HEADROOM_TRY_VOID(check_range(of_bar, panel->bar->scale));
    panel->bar_name = rich_title(panel->bar->title);
    if (!refs[2].info->centred) panel->bar->from = kBarLow;
  } else if (drawn.layers.size() > 1) {
    PageBar bar;
    bar.scale.map = sequential_map(choice.colours, false);
    bar.scale.low = static_cast<float>(drawn.layers.front()), bar.scale.high = static_cast<float>(drawn.layers.back());
    bar.whole = true, bar.from = kBarLow;
    panel->bar = bar;
    panel->bar_name = rich(layers_title(drawn.layers, drawn.all_layers));
  }
  const auto heads = [](std::size_t count) { return std::to_string(count) + (count == 1 ? " head" : " heads"); };
  std::string counted = heads(panel->drawn.size());
  if (values.lacking > 0) counted += ", " + std::to_string(values.lacking) + " without a value";
  panel->right = rich(counted);
  panel->sentence = plain_text(rich_title(quantity_heading(refs[1]))) + " over " +
                    plain_text(rich_title(quantity_title(refs[0]))) + ", one point for each of " +
                    heads(panel->drawn.size());
  if (panel->bar)
    panel->sentence += refs.size() > 2 ? ", coloured by " + plain_text(rich_title(quantity_title(refs[2])))
                                       : ", coloured by layer, light the first";
  panel->sentence += ". ";
  for (std::size_t i = 0; i < refs.size(); ++i)
    if (i == 0 || refs[i].info != refs[0].info) panel->sentence += scatter_definition(refs[i]) + " ";
  for (const ScatterLevel& level : panel->levels)
    if (level.on < 2.0f) panel->sentence += "Dotted: what uniform attention has, " + short_text(level.value) + ". ";
  if (const std::string said = beyond_sentence(panel->beyond, "head lies", "heads lie"); !said.empty())
    panel->sentence += said.substr(1) + " ";
  if (values.lacking > 0)
    panel->sentence += "Left out: " + heads(static_cast<std::size_t>(values.lacking)) + " without a value. ";
  panel->sentence += "Names: " + std::string(choice.heads.empty() ? "" : "the heads that were asked for, and ") +
                     "those at the ends of the axes, where there is room; "
                     "of points that lie together from left to right. ";
  Figure figure;
  figure.panels.push_back(std::move(panel));
  arrange(figure, choice, 84.0, 120.0, 62.0);
  return figure;
}

}  // namespace headroom
