// Two corpora of the same sequences: the heads that change most, with their intervals and q.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kPairedListPanel;

}  // namespace headroom
