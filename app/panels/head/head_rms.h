// The section of the context RMS and its bounds. Main thread only.
#pragma once

#include "app/panels/head/head_view.h"

namespace headroom {

void draw_rms(HeadPanelView& view, Rect area);
[[nodiscard]] float rms_switch_width(const HeadPanelView& view);  // in the title's row

}  // namespace headroom
