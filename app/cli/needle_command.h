// `headroom needle MODEL …`: whether a model finds a number in a long text, and which heads look at it. Main thread
// only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/corpus_command.h"

namespace CLI {
class App;
}

namespace headroom {

struct NeedleArguments {
  CorpusArguments corpus;  // documents, run options, BOS, batch and threads
  std::vector<std::int64_t> lengths;
  std::vector<double> depths = {0.0, 25.0, 50.0, 75.0, 100.0};
  std::int64_t needles = 6, samples = 50;
  std::uint64_t seed = 0;
  bool by_sample = false;
};

// The command with its own options.
CLI::App& add_needle(CLI::App& app, NeedleArguments& arguments);

[[nodiscard]] int run_needle(const NeedleArguments& arguments);

}  // namespace headroom
