// A figure for a paper of what is shown: what and how at the left, the page itself at the right. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_figure_page(PanelContext& context, Rect window);

}  // namespace headroom
