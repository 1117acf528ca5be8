// The selected head over the sequences of a corpus.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kCorpusSidePanel;

}  // namespace headroom
