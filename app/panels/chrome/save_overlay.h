// Where something is saved, and under which name. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_save(PanelContext& context, Rect window);
// What was saved last, at the lower right, for some seconds; longer while the pointer is on it.
void draw_toast(PanelContext& context, Rect window);

}  // namespace headroom
