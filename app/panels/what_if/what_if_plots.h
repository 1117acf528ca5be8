// The plots below the maps of a what-if. Main thread only.
#pragma once

#include "app/panels/panel.h"
#include "app/panels/parts/compare_cache.h"
#include "app/panels/what_if/what_if_subject.h"

namespace headroom {

// Medians and quartiles of ρ over n_i before and after.
void draw_what_if_rms(PanelContext& context, CompareCache& memory, Rect area, const WhatIfSubject& subject);

}  // namespace headroom
