// The columns of the table, to be chosen. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kColumnsPanel;
void draw_columns_panel(PanelContext& context, Rect frame);

}  // namespace headroom
