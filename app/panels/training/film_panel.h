// A head at each kept checkpoint of a training. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kFilmPanel;

}  // namespace headroom
