// From the arguments of a command that runs a checkpoint on a prompt to the request of the run. Main thread only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/analyze_command.h"
#include "core/base/result.h"
#include "core/run/analysis.h"
#include "core/run/compute.h"

namespace headroom {

// What the summary says of a run that was prepared.
struct RunNotes {
  std::string tokenizer;  // why it cannot be used, or nothing
  std::string device;     // why `auto` chose it, or nothing
};

// A place inside a checkpoint (app/cli/address.h) becomes its path, layers and heads.
[[nodiscard]] Result<void> place_arguments(AnalyzeArguments& arguments);

// Every file that this command reads, or would read were it there: never written onto.
[[nodiscard]] std::vector<std::filesystem::path> input_paths(const AnalyzeArguments& arguments,
                                                             const Checkpoint& checkpoint);

// Everything the command needs before the long part; fails without having computed anything.
[[nodiscard]] Result<AnalysisRequest> prepare_run(const AnalyzeArguments& arguments, const OpenedModel& model,
                                                  ComputeBackend& backend, RunNotes& notes);

}  // namespace headroom
