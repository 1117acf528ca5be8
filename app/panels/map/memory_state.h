// In place of a map that memory does not suffice for: what the run takes against what it may take, its largest parts,
// and what can be done. Main thread only.
#pragma once

#include <string>

#include "app/panels/panel.h"

namespace headroom {

// Whether the run has nothing to show because of its memory.
[[nodiscard]] bool lacks_memory(const RunEntry& run);
// "The run was not started: it takes more memory than allowed"
[[nodiscard]] std::string memory_headline(const RunEntry& run);
// Parts that find no room are left out, the smallest of the list first; the headline and the offers stay longest.
void draw_memory_state(PanelContext& context, const Rect& body, const RunEntry& run);

}  // namespace headroom
