// Several sequences through a model, layer by layer, the weights of each block read once for all of them. Those of one
// length pass the blocks of ordinary models together: projections and MLPs as products of all rows, attention in one
// call. The numbers of a sequence are those that it has alone, bit for bit (alike_products.h). Compute thread only.
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
