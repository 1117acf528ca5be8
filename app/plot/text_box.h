// The outline of drawn text as an oriented rectangle, and whether two of them touch. Pure functions; safe from any
// thread.
#pragma once

#include <array>
#include <string_view>

#include "app/plot/geometry.h"
#include "app/plot/painter.h"

namespace headroom {

// What a line of text covers above and below its baseline, in parts of the size: capitals and descenders of both faces.
inline constexpr float kTextAscent = 0.78f, kTextDescent = 0.22f;

// A rectangle turned by `angle` (radians, counter-clockwise on the screen) about its centre.
struct OrientedBox {
  Vec2 centre;
  float half_width = 0.0f, half_height = 0.0f, angle = 0.0f;

  [[nodiscard]] static OrientedBox of(const Rect& rect);
  [[nodiscard]] std::array<Vec2, 4> corners() const;
  [[nodiscard]] Rect bounds() const;
  [[nodiscard]] OrientedBox grown(float margin) const;
  // Whether the open boxes share a point: boxes that only touch do not overlap. An empty box overlaps nothing.
  [[nodiscard]] bool overlaps(const OrientedBox& other) const;
  // Whether all of it lies in the closed rectangle, but for `slack` pixels.
  [[nodiscard]] bool inside(const Rect& rect, float slack = 0.0f) const;
};

// Text as Painter::text draws it, `width` pixels wide.
[[nodiscard]] OrientedBox text_box(Vec2 baseline, float width, float size, float angle = 0.0f);
// Text as Painter::text_at draws it.
[[nodiscard]] Rect text_rect_at(float x, float y, float width, float size, Painter::Align align = Painter::Align::Left);
// Text that fills such a rectangle.
void draw_text_in(Painter& painter, const Rect& rect, std::string_view text, const TextStyle& style);
// Moves a rectangle into another along the axes, as little as can be; its beginning stays in sight where it is too
// long.
[[nodiscard]] Rect moved_into(Rect rect, const Rect& outer);

}  // namespace headroom
