// The settings and the keys that a person chose. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_settings(PanelContext& context, Rect window);

}  // namespace headroom
