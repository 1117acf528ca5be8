// Errors that stay until they are closed, over the map. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_error_cards(PanelContext& context, Rect map_frame);

}  // namespace headroom
