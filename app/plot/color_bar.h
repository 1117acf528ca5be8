// A colour bar: the colours of a scale with ticks, end labels that say when the range clips, and, if wanted, a
// histogram above, a threshold line and a triangle at the null level. Pure layout, safe from any thread; drawing on the
// main thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/plot/color_map.h"
#include "app/plot/painter.h"
#include "app/plot/quantiles.h"
#include "app/plot/theme.h"

namespace headroom {

struct ColorBarSpec {
  ColorScale scale = {};
  bool vertical = true;
  bool clips_low = false, clips_high = false;  // "≤ 10⁻⁴", "≥ 0.6"
  bool whole = false;                          // linear scales of indices: layers
  std::string title = {};                      // vertical: above the bar; horizontal: none
  float thickness = 12.0f;
  // Horizontal bars only.
  const Histogram* histogram = nullptr;  // its edges lie on the scale
  const Histogram* chosen = nullptr;     // drawn over it in accent
  float histogram_height = 20.0f;
  std::optional<double> threshold = {};   // a line in mark through histogram and bar
  std::optional<double> null_level = {};  // a triangle in warn
};

struct ColorBarLayout {
  Rect outer, bar, histogram;
  struct Mark {
    double value = 0.0;
    float pixel = 0.0f;  // along the bar
    std::string label;   // empty: a tick mark only
    Rect label_rect;
  };
  std::vector<Mark> marks;
  std::string title;
  Rect title_rect;
  std::vector<Rect> bars, chosen_bars;
  std::optional<float> threshold, null_level;  // pixels along the bar
};

// Labels lie inside `outer`, right of a vertical bar and below a horizontal one, and do not touch; the ends are
// labelled first. Vertical bars are `thickness` wide at the left edge of `outer` and as high as it, less the title;
// horizontal ones as wide as `outer`, below the histogram.
[[nodiscard]] ColorBarLayout lay_out_color_bar(const Rect& outer, const ColorBarSpec& spec, const TextMeasure& measure);
void draw_color_bar(Painter& painter, const Rect& outer, const ColorBarSpec& spec, const Theme& theme);
// Width that a vertical bar with its labels needs.
[[nodiscard]] float color_bar_width(const ColorBarSpec& spec, const TextMeasure& measure);
// The value under a pixel of the bar, for dragging the threshold.
[[nodiscard]] double color_bar_value(const ColorBarLayout& layout, const ColorBarSpec& spec, Vec2 pointer);

}  // namespace headroom
