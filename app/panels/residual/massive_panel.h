// The activations that stand out, as a list; how they go together with sinks, in numbers; all |h| of a boundary; and
// what can be tried. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kMassivePanel;
void draw_massive_panel(PanelContext& context, Rect frame);

}  // namespace headroom
