// The command palette. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_palette(PanelContext& context, Rect window);

}  // namespace headroom
