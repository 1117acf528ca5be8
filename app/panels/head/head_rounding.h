// The section "Rounding": how many weights of a row round to its largest in bfloat16, beside what makes them. Main
// thread only.
#pragma once

#include "app/panels/head/head_view.h"

namespace headroom {

void draw_rounding(HeadPanelView& view, Rect area);

}  // namespace headroom
