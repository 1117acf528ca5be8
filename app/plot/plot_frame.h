// A plot: an outer rectangle, in it the rectangle of the data with two axes, and the marks and labels of the axes,
// which never touch and never leave the outer rectangle. Laid out by a pure function, drawn on any Painter. Main thread
// only for drawing; the layout is safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/plot/painter.h"
#include "app/plot/theme.h"
#include "app/plot/ticks.h"

namespace headroom {

struct AxisSpec {
  double low = 0.0, high = 1.0;
  bool log = false;
  double linear = 0.0;     // > 0: signed, linear within ± this and logarithmic beyond; in place of `log`
  bool whole = false;      // ticks at whole numbers only: indices, layers, counts
  bool low_label = false;  // the ends are labelled even where no step falls on them; steps too near give way
  bool high_label = false;
  std::string title = {};  // empty: none. x: below the labels, centred; y: above the axis, from the left edge
  bool labels = true;      // false: no ticks and no labels
  bool grid = true;
  float least_gap = 0.0f;  // pixels between ticks; 0: 40 for x, 26 for y
};

[[nodiscard]] AxisSpec axis_spec(double low, double high, bool log = false);
// Of signed values, linear within ± `linear` and logarithmic beyond: zero and one decade at least are in it.
[[nodiscard]] AxisSpec signed_axis(double low, double high, double linear);

// Room inside the outer rectangle that the axes leave free, in pixels; `left` and `bottom` fix what is otherwise
// measured (several plots one above the other keep their axes in line).
struct PlotRoom {
  float top = 4.0f, right = 4.0f;
  std::optional<float> left = {}, bottom = {};
};

struct AxisMark {
  double value = 0.0;
  float pixel = 0.0f;
  std::string label;  // empty: a tick mark only
  Rect label_rect;    // where the label is drawn
};

struct PlotFrame {
  Rect outer, inner;
  Axis x, y;
  std::vector<AxisMark> x_marks, y_marks;
  bool x_grid = true, y_grid = true;
  std::string x_title, y_title;  // elided to what fits
  Rect x_title_rect, y_title_rect;

  [[nodiscard]] Vec2 at(double x_value, double y_value) const { return {x.pixel(x_value), y.pixel(y_value)}; }
  // A margin that shares the y axis (x axis): beside the inner rectangle, `gap` pixels from it.
  [[nodiscard]] Rect right_margin(float gap, float width) const;
  [[nodiscard]] Rect top_margin(float gap, float height) const;
};

// An outer rectangle too small for axes gives an empty inner rectangle and no labels; never negative sizes.
[[nodiscard]] PlotFrame lay_out_plot(Rect outer, const AxisSpec& x, const AxisSpec& y, const TextMeasure& measure,
                                     const PlotRoom& room = {});

// The ground and the grid, below the data; axis lines, ticks, labels and titles, above it.
void draw_plot_ground(Painter& painter, const PlotFrame& frame, const Theme& theme);
void draw_plot_axes(Painter& painter, const PlotFrame& frame, const Theme& theme);

// Clips to the inner rectangle while it lives.
class DataClip {
 public:
  DataClip(Painter& painter, const Rect& rect) : painter_(painter) { painter_.push_clip(rect); }
  ~DataClip() { painter_.pop_clip(); }
  DataClip(const DataClip&) = delete;
  DataClip& operator=(const DataClip&) = delete;

 private:
  Painter& painter_;
};

}  // namespace headroom
