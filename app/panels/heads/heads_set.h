// The heads of the lasso as thumbnails, under the map. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kHeadsSetPanel;

}  // namespace headroom
