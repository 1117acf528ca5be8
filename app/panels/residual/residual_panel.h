// The residual stream by boundary between layers: RMS, kurtosis, the largest activations, and below them the sink
// scores of the heads that read each boundary. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kResidualPanel;
void draw_residual_panel(PanelContext& context, Rect frame);

}  // namespace headroom
