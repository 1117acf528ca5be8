// The left side of the figure panel: kinds, size and form, what is taken over from the screen, what is written beside
// the figure. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

// All of it is seen where `side` is 640 pixels high or more; below that it scrolls.
void draw_figure_side(PanelContext& context, Rect side);

}  // namespace headroom
