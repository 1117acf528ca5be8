// What the selected head can read and write, from weights alone. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_circuit_panel(PanelContext& context, Rect frame);
extern const PanelInfo kCircuitPanel;

}  // namespace headroom
