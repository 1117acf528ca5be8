// The colour bar of a map. Main thread only.
#pragma once

#include <string>

#include "app/panels/map/map_range.h"
#include "app/panels/panel.h"

namespace headroom {

// The bar: its ends are dragged to change the range, a double click makes it automatic.
void draw_map_bar(PanelContext& context, Rect outer, const MapRange& range, const std::string& symbol, bool editable);

}  // namespace headroom
