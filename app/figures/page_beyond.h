// What lies beyond a range that was asked for: nothing is cut off without a word. Layout is one thread at a time for
// each LabelSpace.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "app/figures/page_style.h"
#include "app/figures/rich_text.h"
#include "app/plot/label_layout.h"

namespace headroom {

[[nodiscard]] bool on_plot(const Rect& inner, Vec2 at);
// Of more than so many the count alone is said.
inline constexpr std::int64_t kMostNumbersBeyond = 8;
// Points there, with its tip at the edge.
void draw_edge_arrow(Painter& painter, Vec2 tip, Vec2 way, Color color, const Page& page);
// Where `at` lies beyond the inner rectangle: an arrow at the edge, above or below where it lies beyond both, and the
// number beside it where that has room (empty: none is wanted). False: it lies on the plot or nowhere, and nothing is
// drawn.
bool draw_beyond(Painter& painter, const Page& page, LabelSpace& space, const Rect& inner, Vec2 at,
                 const RichText& number, const MarkColor& color);
// Many of them, above or below: where they are more than kMostNumbersBeyond one arrow in each place says that there are
// some.
struct BeyondMark {
  float x = 0.0f;
  double value = 0.0;
  bool above = false;
};
void draw_all_beyond(Painter& painter, const Page& page, LabelSpace& space, const Rect& inner,
                     std::span<const BeyondMark> marks, const MarkColor& color);
// "3 heads lie beyond the axes: arrows at the edge." for captions, after a blank; empty where none does. "head lies",
// "heads lie": what one and several do.
[[nodiscard]] std::string beyond_sentence(std::int64_t count, const char* one, const char* several);

}  // namespace headroom
