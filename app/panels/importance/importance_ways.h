// All ways beside each other, by layer and on one axis: single heads and their sum. Main thread only.
#pragma once

#include "app/panels/importance/importance_view.h"

namespace headroom {

// Nothing where there is no room for it.
void draw_importance_ways(PanelContext& context, const ImportanceView& view, Rect area);

}  // namespace headroom
