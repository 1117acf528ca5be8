// One cell for each head, a row for each layer. Main thread only.
#pragma once

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"

namespace headroom {

// The views of draw_heads_panel().
void draw_atlas(PanelContext& context, RunCache& memory, Rect body);

}  // namespace headroom
