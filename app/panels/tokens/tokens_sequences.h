// What the views of the token panel share. Main thread only.
#pragma once

#include <memory>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
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
[[nodiscard]] TokenSequences token_sequences(const RunSnapshot& run, const LayerSnapshot* layer, RunCache& memory);

}  // namespace headroom
