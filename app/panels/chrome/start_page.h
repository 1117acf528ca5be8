// What is there before anything is open: where to drop a file, recent files, demos. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_start_page(PanelContext& context, Rect frame);

}  // namespace headroom
