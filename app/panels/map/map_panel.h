// The map of the selected head, with everything round it. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kMapPanel;
void draw_map_panel(PanelContext& context, Rect frame);

}  // namespace headroom
