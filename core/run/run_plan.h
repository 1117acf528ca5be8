// What a run settles before anything is computed, the same for a run file and for a run that stays in memory: the model
// with its what-ifs, the shape of the results, the checks of the prompt, the options of the forward pass; and the
// values of a quantity for the heads of a layer. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/quantity.h"
#include "core/run/analysis.h"
#include "core/run/run_layout.h"

namespace headroom {

inline constexpr std::string_view kWarningNote = "warning: ";  // begins the notes that warn

struct RunPlan {
  AnalysisRequest request;  // as given, with layers and heads in full
  ModelSpec model;          // with the what-ifs
  RunShape shape;
  ForwardOptions forward;
  double sink_null = 0.0;
  std::vector<std::string> notes;
};

// InvalidArgument for a prompt or a what-if that does not fit; OutOfMemory for exact maps beyond their budget.
[[nodiscard]] Result<RunPlan> plan_run(const AnalysisRequest& request);

// The last measured one where later layers are not, since nothing but the loss comes after it: −1, all, with --hidden.
[[nodiscard]] std::int64_t last_layer_to_run(const ModelSpec& model, const AnalysisRequest& request);

}  // namespace headroom
