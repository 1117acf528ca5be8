// The heads that matter most and least, with their intervals; the selected head; the lasso taken away at once. Main
// thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kImportanceListPanel;
void draw_importance_list(PanelContext& context, Rect frame);

}  // namespace headroom
