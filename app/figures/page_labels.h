// Names beside what they are of, where they touch nothing. Layout is one thread at a time for each LabelSpace.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "app/figures/page_style.h"
#include "app/figures/rich_text.h"
#include "app/plot/label_layout.h"
#include "app/plot/ticks.h"

namespace headroom {

// Draws the text at the first of the places that has room and takes that room; places are left ends of baselines.
// False: none has.
bool try_label(Painter& painter, const Page& page, LabelSpace& space, const RichText& text, const TextStyle& style,
               std::span<const Vec2> places);
// The page will say that it had no room for this label.
void leave_out(const Page& page, const RichText& text);
// The first of these two, else the second.
bool put_label(Painter& painter, const Page& page, LabelSpace& space, const RichText& text, const TextStyle& style,
               std::span<const Vec2> places);
// The same; where none of the places has room, at the free place of the frame that is nearest to one of `points`, of
// what the text names, with a thin line between them that crosses no label.
bool put_led_label(Painter& painter, const Page& page, LabelSpace& space, const RichText& text, const TextStyle& style,
                   std::span<const Vec2> places, std::span<const Vec2> points);
// Beside a point, a text of that width `gap` away from it: right, left, above, below, then at its corners.
[[nodiscard]] std::vector<Vec2> places_beside(Vec2 point, float width, float gap, const Page& page);
// Along a horizontal line at `y`: just above it and below it, from the left end of the rectangle to its right end
// (`from_right`: the other way).
[[nodiscard]] std::vector<Vec2> places_along(const Rect& inner, float y, float width, bool from_right,
                                             const Page& page);
// Of lines over the same axis, whose corners are `lines`: places just above and below the corners of one, those that
// are farthest from the others first.
[[nodiscard]] std::vector<Vec2> places_at_line(std::span<const std::vector<Vec2>> lines, std::size_t line, float width,
                                               const Rect& inner, const Page& page);

// Disc, square, diamond, of one weight for the eye.
void draw_page_marker(Painter& painter, Vec2 at, int marker, float radius, Color color);
// What `draw` puts on the rectangle of the axes and at most `beyond` around it, as an image where a plot has many
// points (as_image(), figure.h).
void draw_points(Painter& painter, bool image, const Axis& along, const Axis& up, float beyond,
                 const std::function<void(Painter&)>& draw);
// One mark at each of the places, all of that opacity. As an image those in one cell of 1/600 inch are one mark, as
// opaque as they are together.
void draw_points(Painter& painter, const Page& page, bool image, const Axis& along, const Axis& up, float beyond,
                 std::span<const Vec2> places, float opacity,
                 const std::function<void(Painter&, Vec2, float opacity)>& mark);

}  // namespace headroom
