// Several sequences through a model, layer by layer, the weights of each block read once for all of them; the products
// are those of each sequence alone, so that its numbers are too. Compute thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/compute/weights.h"
#include "core/model/model_source.h"
#include "core/run/compute.h"

namespace headroom {

// As ComputeBackend::run_batch says.
[[nodiscard]] Result<std::vector<ForwardSummary>> run_sequences(const ModelSource& source, const ModelSpec& model,
                                                                const ForwardOptions& options,
                                                                std::span<const std::vector<std::int32_t>> sequences,
                                                                const TorchTarget& target,
                                                                std::span<ForwardObserver* const> observers);

}  // namespace headroom
