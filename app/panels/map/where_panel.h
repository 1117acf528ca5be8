// Where the view lies in a long map: overview and tiles. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kWherePanel;
void draw_where_panel(PanelContext& context, Rect frame);

}  // namespace headroom
