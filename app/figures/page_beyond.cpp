#include "app/figures/page_beyond.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "app/figures/page_axes.h"
#include "app/figures/page_labels.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kArrow = 3.0f, kOfEdge = 0.05f;  // points

}  // namespace

bool on_plot(const Rect& inner, Vec2 at) {
  return at.x >= inner.x0 - kOfEdge && at.x <= inner.x1 + kOfEdge && at.y >= inner.y0 - kOfEdge &&
         at.y <= inner.y1 + kOfEdge;
}

void draw_edge_arrow(Painter& painter, Vec2 tip, Vec2 way, Color color, const Page& page) {
  const float size = page.style.pt(kArrow);
  const Vec2 back = tip - way * size, across{way.y * 0.6f * size, way.x * 0.6f * size};
  painter.fill_polygon(std::array<Vec2, 3>{{tip, back + across, back - across}}, color);
}

bool draw_beyond(Painter& painter, const Page& page, LabelSpace& space, const Rect& inner, Vec2 at,
                 const RichText& number, const MarkColor& color) {
  if (on_plot(inner, at) || !std::isfinite(at.x) || !std::isfinite(at.y)) return false;
  const bool level = at.y >= inner.y0 - kOfEdge && at.y <= inner.y1 + kOfEdge;
  const Vec2 way = level ? Vec2{at.x > inner.x1 ? 1.0f : -1.0f, 0.0f} : Vec2{0.0f, at.y > inner.y1 ? 1.0f : -1.0f};
  const Vec2 tip{std::clamp(at.x, inner.x0, inner.x1), std::clamp(at.y, inner.y0, inner.y1)};
  const float size = page.style.pt(kArrow);
  draw_edge_arrow(painter, tip, way, color.mark, page);
  const Vec2 middle = tip - way * (0.5f * size);
  space.block(Rect{middle.x - 0.6f * size, middle.y - 0.6f * size, middle.x + 0.6f * size, middle.y + 0.6f * size});
  if (number.empty()) return true;
  std::vector<Vec2> places;
  const float width = rich_width(page.measure, number, page.style.text());
  for (const float gap : {0.9f, 2.2f, 3.6f})
    for (const Vec2& place : places_beside(middle, width, gap * size, page)) places.push_back(place);
  put_label(painter, page, space, number, page.style.on_lines(color.text), places);
  return true;
}

void draw_all_beyond(Painter& painter, const Page& page, LabelSpace& space, const Rect& inner,
                     std::span<const BeyondMark> marks, const MarkColor& color) {
  const bool numbers = std::ssize(marks) <= kMostNumbersBeyond;
  std::set<std::pair<int, bool>> taken;
  for (const BeyondMark& mark : marks) {
    const auto place = static_cast<int>(mark.x / page.style.pt(kArrow));
    if (!numbers && !taken.insert({place, mark.above}).second) continue;
    const float beyond = mark.above ? inner.y0 - 10.0f : inner.y1 + 10.0f;
    draw_beyond(painter, page, space, inner, {mark.x, beyond},
                numbers ? rich_number(short_text(mark.value)) : RichText(), color);
  }
}

std::string beyond_sentence(std::int64_t count, const char* one, const char* several) {
  if (count == 0) return {};
  return " " + grouped_text(count) + " " + (count == 1 ? one : several) + " beyond the axes: arrows at the edge.";
}

}  // namespace headroom
