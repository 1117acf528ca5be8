// Tokens × boundaries: one number of the residual stream beside the attention that tokens receive, the rows that stand
// out widened above all of them. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kResidualCellsPanel;
void draw_residual_cells(PanelContext& context, Rect frame);

}  // namespace headroom
