// The curves of trainings over each other. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kTrainingPanel;

}  // namespace headroom
