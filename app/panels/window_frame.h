// One frame of the whole window: every panel in its place, the splitters, the keys. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_window(PanelContext& context, Rect window);

// Command lines of the keys pressed in this frame, after the panels had their turn.
void run_keys(PanelContext& context);

// What scripts can ask of the session itself: "run.status", "select.head", "runs" …
void describe_state(const State& state, Facts& facts);

}  // namespace headroom
