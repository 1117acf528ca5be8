// Names with values on one line, and how wide numbers are. Main thread only.
#pragma once

#include <span>
#include <string>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"

namespace headroom {

// Width of a column of numbers of this quantity in the panel's mono.
[[nodiscard]] float number_width(const TextMeasure& measure, float size, int digits);
// "below 0.0 %  inside 99.1 %": names in text3, values in mono, from the left; what does not fit is left out.
struct NamedValue {
  std::string name, value;
  Color color;  // of the value; alpha 0: text
};
void draw_named_values(PanelContext& context, Rect row, std::span<const NamedValue> values);

}  // namespace headroom
