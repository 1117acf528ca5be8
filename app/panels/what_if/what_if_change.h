// The side panel of a what-if: the changes that are offered, numbers before and after. Main thread only.
#pragma once

#include "app/panels/panel.h"
#include "app/panels/parts/compare_cache.h"
#include "app/panels/what_if/what_if_subject.h"

namespace headroom {

extern const PanelInfo kChangePanel;
void draw_change_panel(PanelContext& context, Rect frame);

}  // namespace headroom
