// The sections of λ, of V1's gain and of gates. Main thread only.
#pragma once

#include "app/panels/head/head_view.h"

namespace headroom {

void draw_lambda(HeadPanelView& view, Rect area);
void draw_gain(HeadPanelView& view, Rect area);
void draw_gate(HeadPanelView& view, Rect area);

}  // namespace headroom
