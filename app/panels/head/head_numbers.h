// The section "In numbers". Main thread only.
#pragma once

#include <string>
#include <vector>

#include "app/panels/head/head_view.h"

namespace headroom {

// Pieces.
[[nodiscard]] std::vector<std::string> head_numbers(const HeadPanelView& view);  // quantities of "In numbers"
void draw_numbers(HeadPanelView& view, Rect area);

}  // namespace headroom
