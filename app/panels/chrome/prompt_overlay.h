// The editor of the prompt. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_prompt(PanelContext& context, Rect window);
// While another overlay stands in its place for a moment: what was typed is there when it comes back, unless the prompt
// is another by then.
void keep_prompt(PanelContext& context);

}  // namespace headroom
