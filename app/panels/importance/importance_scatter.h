// Loss changes against any quantity of the heads: which kinds of heads matter. Main thread only.
#pragma once

#include "app/panels/importance/importance_view.h"

namespace headroom {

void draw_importance_scatter(PanelContext& context, RunCache& memory, const ImportanceView& view, Rect area);

}  // namespace headroom
