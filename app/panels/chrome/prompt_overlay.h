// The editor of the prompt. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_prompt(PanelContext& context, Rect window);

}  // namespace headroom
