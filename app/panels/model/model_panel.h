// The whole model beside the scatter: ribbons by layer, and the heads in the lasso. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kModelPanel;
void draw_model_panel(PanelContext& context, Rect frame);

}  // namespace headroom
