// One attention layer: projections, norms, rotation, every head program through a backend, head norm, gate,
// W_O, and the record of what was measured. Compute thread only.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/base/result.h"
#include "core/compute/rotary.h"
#include "core/compute/weights.h"
#include "core/run/compute.h"
#include "core/run/stages.h"

namespace headroom {

struct AttentionWeights {
  Linear q, k, v, o;
  Norm q_norm, k_norm, head_norm;
  Linear lambda_projection, gate_projection;
  std::vector<double> sinks;     // [h]; empty without learned sink logits
  double lambda_scalar = 0.0;    // V1
};

[[nodiscard]] Result<AttentionWeights> load_attention(const WeightLoader& loader, const AttentionSpec& attention);

// Runs the layer on x [length, hidden], the layer's normed input; the result is [length, hidden]. Where `measured`, a
// record of the heads in options.heads goes to the observer, and the exact maps if they were asked for.
// Cancelled when the observer asks to stop. Times go to attention, record and wait_write of `stages`.
[[nodiscard]] Result<at::Tensor> run_attention(const AttentionSpec& attention, const AttentionWeights& weights,
                                               const Rotary& rotary, const at::Tensor& x, const TorchTarget& target,
                                               const ForwardOptions& options, std::span<const std::int64_t> induction_key,
                                               std::int64_t layer, bool measured, ForwardObserver& observer,
                                               StageSeconds* stages = nullptr);

}  // namespace headroom
