// Beside a map that is shown alone: the keys that receive most, of the pinned query or of all. Main thread only.
#pragma once

#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/plot/geometry.h"

namespace headroom {

// The column that a frame has room for beside a square map; empty where there is none.
[[nodiscard]] Rect keys_column(Rect frame, const State& state);

// Ranks, tokens, bars and values, by magnitude; a click pins the key.
void draw_map_keys(PanelContext& context, Rect area, const MapSubject& subject);

}  // namespace headroom
