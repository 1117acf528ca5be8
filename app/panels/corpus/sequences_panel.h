// The sequences of a corpus as a table.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kSequencesPanel;

}  // namespace headroom
