// What the views of the token panel share. Main thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/panels/heads_memory.h"
#include "app/panels/panel.h"
#include "core/run/run_snapshot.h"

namespace headroom {

// A sequence of tokens: the prompt's, or the other one that keys of cross-attention are of.
struct TokenSequence {
  std::shared_ptr<const Prompt> prompt;  // whose ids and texts are those of this sequence alone
  bool queries = true, keys = true;      // what its tokens are to the selected head
};
// The sequences of the rows and of the keys of the selected layer; one where they are the same.
struct TokenSequences {
  TokenSequence first;   // keys where there are two
  TokenSequence second;  // without a prompt where there is one
};
[[nodiscard]] TokenSequences token_sequences(const RunSnapshot& run, const LayerSnapshot* layer, HeadsMemory& memory);

// "“ freedom”", or its id.
[[nodiscard]] std::string quoted_token(const Prompt& prompt, std::int64_t token);

// "experts 3 (0.61), 7 (0.39)"; empty where the layer has none.
[[nodiscard]] std::string experts_of_token(const RunSnapshot& run, std::int64_t layer, std::int64_t token);

// One row for each expert of the selected layer: how many tokens it is sent, and which, by weight.
void draw_token_experts(PanelContext& context, const RunSnapshot& run, Rect area);

}  // namespace headroom
