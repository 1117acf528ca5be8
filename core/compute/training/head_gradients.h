// What losses do with what heads put out: gradients at the input of each layer's W_O. Compute thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/compute/weights.h"
#include "core/model/model_source.h"
#include "core/run/compute.h"

namespace headroom {

// ComputeBackend::run_gradients.
[[nodiscard]] Result<void> measure_gradients(const ModelSource& source, const ModelSpec& model,
                                             const ForwardOptions& options,
                                             std::span<const std::vector<std::int32_t>> sequences,
                                             const TorchTarget& target, const GradientReport& report,
                                             const kernels::StopRequested& stop);

}  // namespace headroom
