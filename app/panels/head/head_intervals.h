// The table of the shares of rows inside each interval. Main thread only.
#pragma once

#include "app/panels/head/head_view.h"

namespace headroom {

void draw_interval_table(HeadPanelView& view, const RowIntervals& intervals, Rect area);
[[nodiscard]] float interval_table_height(const HeadPanelView& view);

}  // namespace headroom
