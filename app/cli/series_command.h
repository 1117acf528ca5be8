// `headroom series CKPT… --plan plan.h5 -o series.h5`: the corpus of a plan run by each checkpoint of a training, and
// what changes from one to the next. Main thread only.
#pragma once

#include <string>
#include <vector>

#include "app/cli/corpus_command.h"

namespace CLI {
class App;
}

namespace headroom {

struct SeriesArguments {
  std::vector<std::string> checkpoints;  // or one folder with some called step_*
  std::string steps;                     // a list; empty: as the names say
  CorpusArguments corpus;                // its checkpoint and output of a part are set for each
};

// The command with its own options.
CLI::App& add_series(CLI::App& app, SeriesArguments& arguments);

[[nodiscard]] int run_series(const SeriesArguments& arguments);

}  // namespace headroom
