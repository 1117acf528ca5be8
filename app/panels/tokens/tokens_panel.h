// The prompt as text, tinted by what the tokens are to the selected head. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kTokensPanel;
void draw_tokens_panel(PanelContext& context, Rect frame);

}  // namespace headroom
