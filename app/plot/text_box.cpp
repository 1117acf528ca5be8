#include "app/plot/text_box.h"

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

// The directions of the box's own axes on the screen.
Vec2 along(float angle) { return {std::cos(angle), -std::sin(angle)}; }
Vec2 across(float angle) { return {std::sin(angle), std::cos(angle)}; }
float dot(Vec2 a, Vec2 b) { return a.x * b.x + a.y * b.y; }

// Half of the box's extent in a direction of unit length.
float reach(const OrientedBox& box, Vec2 direction) {
  return box.half_width * std::abs(dot(along(box.angle), direction)) +
         box.half_height * std::abs(dot(across(box.angle), direction));
}

}  // namespace

OrientedBox OrientedBox::of(const Rect& rect) {
  return {rect.centre(), 0.5f * rect.width(), 0.5f * rect.height(), 0.0f};
}

std::array<Vec2, 4> OrientedBox::corners() const {
  const Vec2 w = along(angle) * half_width, h = across(angle) * half_height;
  return {centre - w - h, centre + w - h, centre + w + h, centre - w + h};
}

Rect OrientedBox::bounds() const {
  const float rx = reach(*this, {1.0f, 0.0f}), ry = reach(*this, {0.0f, 1.0f});
  return {centre.x - rx, centre.y - ry, centre.x + rx, centre.y + ry};
}

OrientedBox OrientedBox::grown(float margin) const {
  return {centre, half_width + margin, half_height + margin, angle};
}

bool OrientedBox::overlaps(const OrientedBox& other) const {
  if (!(half_width > 0.0f && half_height > 0.0f && other.half_width > 0.0f && other.half_height > 0.0f)) return false;
  const Vec2 apart = other.centre - centre;
  // Two convex shapes are apart if the normal of one of their sides separates them.
  for (const Vec2 axis : {along(angle), across(angle), along(other.angle), across(other.angle)}) {
    if (std::abs(dot(apart, axis)) >= reach(*this, axis) + reach(other, axis)) return false;
  }
  return true;
}

bool OrientedBox::inside(const Rect& rect, float slack) const {
  const Rect b = bounds();
  return b.x0 >= rect.x0 - slack && b.y0 >= rect.y0 - slack && b.x1 <= rect.x1 + slack && b.y1 <= rect.y1 + slack;
}

OrientedBox text_box(Vec2 baseline, float width, float size, float angle) {
  const float height = (kTextAscent + kTextDescent) * size;
  const float below = (0.5f * (kTextDescent - kTextAscent)) * size;  // of the centre, under the baseline
  const Vec2 centre = baseline + along(angle) * (0.5f * width) + across(angle) * below;
  return {centre, 0.5f * width, 0.5f * height, angle};
}

Rect text_rect_at(float x, float y, float width, float size, Painter::Align align) {
  const float left = align == Painter::Align::Left ? x : align == Painter::Align::Right ? x - width : x - 0.5f * width;
  const float baseline = y + 0.36f * size;
  return {left, baseline - kTextAscent * size, left + width, baseline + kTextDescent * size};
}

void draw_text_in(Painter& painter, const Rect& rect, std::string_view text, const TextStyle& style) {
  painter.text({rect.x0, rect.y0 + kTextAscent * style.size}, text, style);
}

Rect moved_into(Rect rect, const Rect& outer) {
  const auto shift = [](float low, float high, float from, float to) {
    return low < from ? from - low : high > to ? std::max(to - high, from - low) : 0.0f;
  };
  return rect.shifted(shift(rect.x0, rect.x1, outer.x0, outer.x1), shift(rect.y0, rect.y1, outer.y0, outer.y1));
}

}  // namespace headroom
