// The file of ablations over a plan: core/corpus/CORPUS.md#heads-taken-away. HDF5: one thread at a time.
#pragma once

#include "core/base/result.h"
#include "core/corpus/plan_ablation.h"
#include "core/run/compute.h"

namespace headroom {

// All of it, under the target's name at the end.
[[nodiscard]] Result<void> write_plan_ablation(const PlanAblationRequest& request, const PlanAblationOutcome& outcome,
                                               const BackendInfo& library, const kernels::StopRequested& stop);

}  // namespace headroom
