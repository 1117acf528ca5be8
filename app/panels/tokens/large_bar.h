// The row of choices above the large text: tint, whose attention, arcs. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

// Groups that do not fit side by side go on in a second and third row.
[[nodiscard]] float large_bar_height(PanelContext& context, float width);
void draw_large_bar(PanelContext& context, Rect area);

}  // namespace headroom
