// Colour bars of figures: never without numbers, with the scale's kind if it is not linear. Layout is pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/plot/color_map.h"

namespace headroom {

struct PageBar {
  ColorScale scale = {};
  std::string title = {};  // as the tables have it: "α₀"
  bool whole = false;      // indices: layers
  float from = 0.0f;       // where in the map the low end stands: points on paper need more than its first colours
  bool clips_low = false, clips_high = false;
  std::optional<double> threshold = {}, null_level = {};  // a line; a triangle
};

// The colours of a quantity over the heads that are drawn: what it can be where that is bounded on both sides, else
// 1-2-5 ends round its values, or round those of all panels that share its range; `choice` may set either end and the
// kind of scale.
[[nodiscard]] PageBar quantity_bar(const QuantityRef& quantity, const std::vector<double>& values,
                                   const FigureChoice& choice);

// With the names of threshold and null above and the labels below; the part below the bar.
[[nodiscard]] Color bar_color(const PageBar& bar, double value);
[[nodiscard]] float page_bar_height(const Page& page);
[[nodiscard]] float page_bar_below(const Page& page);
// The bar above its labels at the foot of the rectangle; names above it where the rectangle has room.
void draw_page_bar(Painter& painter, const Rect& area, const PageBar& bar, const Page& page);
// A bar of this length on a line of text, between the labels of its ends: all that it takes, and drawing it so that it
// ends at the right end of the baseline.
[[nodiscard]] float inline_bar_width(float length, const PageBar& bar, const Page& page);
void draw_inline_bar(Painter& painter, Vec2 right_end, float length, const PageBar& bar, const Page& page);
// Not a number: lines at 45°.
void draw_hatch(Painter& painter, const Rect& rect, const Page& page);

}  // namespace headroom
