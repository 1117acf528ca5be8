// Beside the circuits: the tokens that the head promotes and suppresses after it has read one. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_writes_panel(PanelContext& context, Rect frame);
extern const PanelInfo kWritesPanel;

}  // namespace headroom
