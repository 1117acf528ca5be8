// The heads of the model as atlas, scatter or table. Main thread only.
#pragma once

#include <string_view>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"

namespace headroom {

extern const PanelInfo kHeadsPanel;
void draw_heads_panel(PanelContext& context, Rect frame);

// The ground and the title bar; returns what is left. `right`: pixels kept free at the right end.
[[nodiscard]] Rect draw_heads_title(PanelContext& context, Rect frame, std::string_view hint);

}  // namespace headroom
