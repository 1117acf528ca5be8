// What the model expected after the token that the large text points at, what came, what this token's own loss was,
// what the token attends to, and the loss along the text. Main thread only.
#pragma once

#include <string>

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kPredictionPanel;
void draw_prediction_panel(PanelContext& context, Rect frame);

// A probability in %: one decimal from 10 % on, two below, and what would round to 0 or to 1 as a bound: "96.6 %",
// "0.61 %", "< 0.01 %", "> 99.9 %".
[[nodiscard]] std::string probability_text(double probability);

}  // namespace headroom
