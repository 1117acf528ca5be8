// Axes of figures: left and below only, ticks outward, no box and no grid, labels that do not touch. Layout is pure and
// safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/figures/page_style.h"
#include "app/figures/rich_text.h"
#include "app/plot/ticks.h"

namespace headroom {

struct PageAxis {
  double low = 0.0, high = 1.0;
  bool log = false;
  double linear = 0.0;      // > 0: symlog
  bool whole = false;       // indices: the first and the last are labelled
  bool high_label = false;  // the end is labelled even where no step falls on it
  bool bare = false;        // ticks alone: another panel has the same axis with its numbers
  RichText title = {};
  std::vector<std::int64_t> indices = {};  // whole: what the places are called, where not 0, 1, …
};

struct PageTick {
  double value = 0.0;
  float place = 0.0f;  // along the axis
  RichText label;      // empty: a tick alone
};

// On the page: `from` and `to` are the places of low and high.
[[nodiscard]] Axis placed_axis(const PageAxis& axis, float from, float to);
// As many 1-2-5 steps as have room for their labels.
[[nodiscard]] std::vector<PageTick> page_ticks(const PageAxis& axis, float from, float to, bool horizontal,
                                               const Page& page);

// What ticks and labels take beside the inner rectangle.
[[nodiscard]] float left_of_axis(const PageAxis& y, float height, const Page& page);
[[nodiscard]] float below_axis(const PageAxis& x, const Page& page);
// How far the last label of an axis of that width reaches over its end; and the most that it does where the width is
// not known yet.
[[nodiscard]] float beyond_axis(const PageAxis& x, float width, const Page& page);
[[nodiscard]] float most_beyond_axis(const PageAxis& x, float width, const Page& page);

// One place for each layer, with room at both ends.
[[nodiscard]] PageAxis layer_axis(const std::vector<std::int64_t>& layers, std::int64_t all);
// "layer", and of some of a model's layers "layers 0–11 of 30", "3 of 30 layers". `all` 0: it is not known.
[[nodiscard]] std::string layers_title(const std::vector<std::int64_t>& layers, std::int64_t all);

void draw_x_axis(Painter& painter, const Rect& inner, const PageAxis& x, const Page& page);
void draw_y_axis(Painter& painter, const Rect& inner, const PageAxis& y, const Page& page);

// A range that encloses the values with a little room at the ends: a fiftieth of the axis, of a log axis likewise.
[[nodiscard]] Range roomy_range(double low, double high, bool log);

// A number beside an axis or a name: "0.3", "10⁻³" as a power with its exponent raised.
[[nodiscard]] RichText rich_power(int exponent);
// A number's text, "5e−4" as 5·10⁻⁴.
[[nodiscard]] RichText rich_number(const std::string& text);

}  // namespace headroom
