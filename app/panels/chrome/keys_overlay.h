// Every key of the window. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_keys(PanelContext& context, Rect window);

}  // namespace headroom
