// What stands beside the text in the editor of the prompt: prompts that can be taken, and what is known of the tokens.
// Main thread only.
#pragma once

#include <cstdint>
#include <string>

#include "app/panels/panel.h"
#include "app/session/token_counter.h"

namespace headroom {

struct PromptSide {
  const TokenCount* count = nullptr;  // null: of ids, or nothing is known yet
  bool exact = false;                 // it is of the text as it stands
  std::int64_t reads = 0;             // tokens that the limit leaves
  BosMode bos = BosMode::Auto;        // may be chosen here
};

// Returns the prompt that was pressed in this frame; null: none. `typed`: what stands in the field.
[[nodiscard]] const PromptEntry* draw_prompt_side(PanelContext& context, Rect area, const std::string& typed,
                                                  PromptSide& side);

}  // namespace headroom
