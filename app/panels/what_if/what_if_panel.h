// The selected head as trained beside the head with a changed program. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kWhatIfPanel;
void draw_what_if_panel(PanelContext& context, Rect frame);

}  // namespace headroom
