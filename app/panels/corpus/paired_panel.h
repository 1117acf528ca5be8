// Two corpora of the same sequences: what changes from A to B in each head, sorted, with intervals.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kPairedPanel;

}  // namespace headroom
