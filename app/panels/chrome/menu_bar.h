// The menus at the top of the window. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

// One file each in app/panels. They draw into `frame` and nowhere else (menus and tooltips apart).
void draw_menu_bar(PanelContext& context, Rect frame);

}  // namespace headroom
