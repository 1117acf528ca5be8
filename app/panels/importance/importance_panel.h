// What each head is worth: the ways to take one away with what is done of each, loss changes against any quantity, all
// ways beside each other. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kImportancePanel;
void draw_importance_panel(PanelContext& context, Rect frame);

}  // namespace headroom
