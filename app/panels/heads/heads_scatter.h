// A dot for each head over two quantities, with a lasso. Main thread only.
#pragma once

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"

namespace headroom {

void draw_scatter(PanelContext& context, RunCache& memory, Rect body);

}  // namespace headroom
