// The bar below the menus: what is open, prompt, device, progress. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_tool_bar(PanelContext& context, Rect frame);

}  // namespace headroom
