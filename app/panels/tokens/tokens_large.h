// The prompt as a large text: each token tinted, by default by its loss, and the attention of the token under the
// pointer drawn to the keys it reads. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kLargeTokensPanel;
void draw_large_tokens_panel(PanelContext& context, Rect frame);

}  // namespace headroom
