// All heads of a corpus by their mean, each with its interval.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

extern const PanelInfo kCorpusHeadsPanel;

}  // namespace headroom
