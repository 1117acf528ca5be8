// Two runs at one head, and the heads that differ most. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kComparePanel;
void draw_compare_panel(PanelContext& context, Rect frame);

}  // namespace headroom
