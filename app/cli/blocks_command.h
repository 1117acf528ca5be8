// `headroom blocks MODEL …`: which blocks of keys block-sparse attention would choose, and what they hold of the
// attention. Main thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/corpus_command.h"
#include "core/sparse/block_choice.h"

namespace CLI {
class App;
}

namespace headroom {

struct BlocksArguments {
  CorpusArguments corpus;  // the run with a prompt or with a plan, or documents; the rest is not used
  BlockRules rules;
  std::string always = "own";
};

// The command with its own options.
CLI::App& add_blocks(CLI::App& app, BlocksArguments& arguments);

[[nodiscard]] int run_blocks_command(const BlocksArguments& arguments);

}  // namespace headroom
