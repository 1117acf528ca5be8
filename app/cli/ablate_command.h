// `headroom ablate PATH …`: how much the loss of one text, or of the sequences of a plan, changes without each head.
// Main thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/analyze_command.h"
#include "app/cli/corpus_command.h"
#include "app/cli/run_request.h"
#include "core/base/result.h"
#include "core/run/ablation.h"

namespace CLI {
class App;
}  // namespace CLI

namespace headroom {

struct AblateArguments {
  AnalyzeArguments run;  // its heads: a list of indices, or names like L18.H8
  std::string mode = "zero";
  std::vector<std::string> sets;  // L18.H8+L18.H7
  bool by_token = false;
  CorpusArguments corpus;                // the plan, where there is one; its `run` is not used
  std::int64_t top = 0, cumulative = 0;  // of a plan alone

  [[nodiscard]] bool of_plan() const { return !corpus.plan.empty() || !corpus.data.empty(); }
};

// What speaks of plans.
void add_ablate_plan_options(CLI::App& command, AblateArguments& arguments);

// Mode, heads and sets of a run; `mode` is not "gradient".
[[nodiscard]] Result<AblationRequest> prepare_ablation(const AblateArguments& arguments, const OpenedModel& model,
                                                       ComputeBackend& backend, RunNotes& notes);
// "the head's output is 0"; of a mean `over` what it is.
[[nodiscard]] std::string mode_sentence(const AblationMode& mode, const std::string& over);

[[nodiscard]] int run_ablate(const AblateArguments& arguments);

}  // namespace headroom
