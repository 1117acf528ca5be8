// The bar with a panel's title. Main thread only.
#pragma once

#include <string_view>

#include "app/panels/panel.h"

namespace headroom {

// The bar with a panel's title; returns what is left of `frame` below it. `collapsed` panels show it upright. `free`:
// logical pixels at its right end, left of the button that maximises, that are left for controls.
[[nodiscard]] Rect draw_panel_title(PanelContext& context, Rect frame, std::string_view name, std::string_view title,
                                    std::string_view mono, std::string_view hint, float free = 0.0f);

}  // namespace headroom
