// The line at the bottom: what is under the pointer, and the state of the run. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_status_bar(PanelContext& context, Rect frame);

}  // namespace headroom
