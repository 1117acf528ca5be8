// The sections of attention sinks and of logits. Main thread only.
#pragma once

#include "app/panels/head/head_view.h"

namespace headroom {

void draw_sinks(HeadPanelView& view, Rect area);
void draw_logits(HeadPanelView& view, Rect area);

}  // namespace headroom
