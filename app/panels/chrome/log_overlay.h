// Every message of the session. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_log(PanelContext& context, Rect window);

}  // namespace headroom
