// The heads of the lasso beside the selected one: medians and ranges, and how many there are of each layer. Main thread
// only.
#pragma once

#include <string>

#include "app/panels/head/head_view.h"

namespace headroom {

// Whether the section has anything to say: two heads at least, shown beside the map.
[[nodiscard]] bool has_set(const HeadPanelView& view);
[[nodiscard]] std::string set_hint(const HeadPanelView& view);  // "median and range of 38 heads"
[[nodiscard]] float set_height(const HeadPanelView& view);
void draw_set_section(HeadPanelView& view, Rect area);

}  // namespace headroom
