// All heads as thumbnails of their maps, by layer or by value, with quantities by layer below. Main thread only.
#pragma once

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"

namespace headroom {

void draw_maps(PanelContext& context, RunCache& memory, Rect body);

}  // namespace headroom
