// The file chooser. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_files(PanelContext& context, Rect window);

}  // namespace headroom
