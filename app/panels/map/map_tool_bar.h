// The row of controls above the map, and the card in place of a map that is not there. Main thread only.
#pragma once

#include <string>

#include "app/panels/map/map_range.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"

namespace headroom {

// What does not fit is left out, least needed first; the kind of map and Fit stay longest.
void draw_map_tool_bar(PanelContext& context, const Rect& bar, const MapSubject& subject, const MapRange& range,
                       bool numbers);
// One sentence what is missing, one why, and what can be done.
void draw_map_state(PanelContext& context, const Rect& body, const MapSubject& subject);
[[nodiscard]] std::string scale_title(ScaleKind kind);     // "log₁₀"
[[nodiscard]] const char* scale_word(ScaleKind kind);      // of the command: "log10"
[[nodiscard]] std::string pooling_title(Pooling pooling);  // "max"

}  // namespace headroom
