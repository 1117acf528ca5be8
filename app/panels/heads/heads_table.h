// A line for each head that the filter leaves, sorted. Main thread only.
#pragma once

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"

namespace headroom {

void draw_head_table(PanelContext& context, RunCache& memory, Rect body);

}  // namespace headroom
