// Runs of many variants of a model that go on from the stream before the first layer that each changes, several at a
// time through a block, so that its weights are read once for all of them. Compute thread only.
#pragma once

#include "core/base/result.h"
#include "core/compute/weights.h"
#include "core/model/model_source.h"
#include "core/run/compute.h"

namespace headroom {

// ComputeBackend::run_variants. With sequences of n tokens, B = rows / n variants (at least one) go through a block
// together; beside what a run takes, B·n·D elements are held, and streams before every k-th layer, k the least that
// keep_bytes allows.
[[nodiscard]] Result<ForwardSummary> sweep_variants(const ModelSource& source, const ModelSpec& model,
                                                    const ForwardOptions& options, const VariantSweep& sweep,
                                                    const TorchTarget& target, VariantObserver& observer);

}  // namespace headroom
