// Sections with medians over rows: decomposition of log ρ, cancellation, V1's norm. Main thread only.
#pragma once

#include "app/panels/head/head_view.h"

namespace headroom {

void draw_decomposition(HeadPanelView& view, Rect area);
void draw_cancellation(HeadPanelView& view, Rect area);
void draw_through_norm(HeadPanelView& view, Rect area);

}  // namespace headroom
