// One frame of the whole window: every panel in its place, the splitters, the keys. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_window(PanelContext& context, Rect window);

// Command lines of the keys pressed in this frame, after the panels had their turn.
void run_keys(PanelContext& context);

}  // namespace headroom
