// Everything about the selected head but its map. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kHeadPanel;
void draw_head_panel(PanelContext& context, Rect frame);

}  // namespace headroom
