// The list of histories, how their curves are drawn, and their values at the cursor. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kHistoriesPanel;

}  // namespace headroom
