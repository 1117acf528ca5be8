// One attention layer: projections, norms, rotation, every head program through a backend, head norm, gate,
// W_O, and the record of what was measured. Compute thread only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/base/result.h"
#include "core/compute/disentangled.h"
#include "core/compute/parallel.h"
#include "core/compute/rotary.h"
#include "core/compute/weights.h"
#include "core/measure/layer_record.h"
#include "core/run/compute.h"
#include "core/run/stages.h"

namespace headroom {

struct LatentWeights {
  Linear down;  // undefined weight: none
  Norm norm;
  // norm(down x), or x.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const { return down.weight.defined() ? norm(down(x)) : x; }
};

struct AttentionWeights {
  Linear q, k, v, o;
  Norm q_norm, k_norm, v_norm, head_norm;
  Linear lambda_projection, gate_projection;
  std::vector<double> sinks;   // [h]; empty without learned sink logits
  std::vector<double> biases;  // [buckets, h]; empty without learned biases
  double lambda_scalar = 0.0;  // V1
  double lambda_init = 0.0;    // V1
  LatentWeights q_latent, kv_latent;
  Linear shared_key;
  DisentangledWeights disentangled;
  // What the scalars are made of, for gradients; undefined where there are none.
  at::Tensor sink_logits;                                 // [h]
  at::Tensor bias_table;                                  // [buckets, h]
  at::Tensor lambda_q1, lambda_k1, lambda_q2, lambda_k2;  // [head_dim]

  // Sets sinks, biases and lambda_scalar from these, which change where a model is trained.
  void refresh();
};

[[nodiscard]] Result<AttentionWeights> load_attention(const WeightProvider& loader, const AttentionSpec& attention);

// λ = exp(λq1·λk1) − exp(λq2·λk2) + λ_init (DIFF V1, arXiv 2410.05258, eq. 2), a scalar; the vectors must be there.
[[nodiscard]] at::Tensor lambda_scalar(const AttentionWeights& weights);

// σ(gate projection of x) as [.., heads, 1 or channels]; undefined where no head is gated. x: [.., hidden].
[[nodiscard]] at::Tensor head_gates(const AttentionSpec& attention, const AttentionWeights& weights,
                                    const at::Tensor& x, const TorchTarget& target);

// Head norm, (1 − λ_init), gate, switched-off heads and means on contexts [.., length, heads, channels], each where the
// head's program has it: the input of W_O, [.., length, heads · channels]. `means`, [heads, channels], where they are
// not those of the contexts themselves.
[[nodiscard]] at::Tensor finish_contexts(const AttentionSpec& attention, const AttentionWeights& weights,
                                         const at::Tensor& gates, at::Tensor context, const TorchTarget& target,
                                         const at::Tensor& means = {});

// What heads work on.
struct Projections {
  at::Tensor q, k, v;        // [.., length, blocks, channels]; q and k after norms and rotation
  at::Tensor lambda_logits;  // [.., length, heads]; undefined outside V2
};
// x: [.., length, hidden], the layer's normed input; keys and values are of `memory` [.., keys, hidden], what the
// encoder gives, in cross-attention, and of x elsewhere. `kept`: what project() gave for the layer whose keys this one
// uses; null where it has its own.
[[nodiscard]] Projections project(const AttentionSpec& attention, const AttentionWeights& weights, const Rotary& rotary,
                                  const at::Tensor& x, const Projections* kept = nullptr,
                                  const at::Tensor& memory = {});

// A sequence in a layer.
struct AttentionLane {
  Projections given;  // of project()
  at::Tensor x;       // [length, hidden], the layer's normed input
  const ForwardOptions& options;
  std::span<const std::int64_t> induction_key;
  ForwardObserver& observer;
  at::Tensor means{};  // of finish_contexts()
};

// Runs the heads of all sequences in one call of the backend; the result is the input of W_O of each, [length, heads ·
// channels], in target.dtype. Where `measured`, a record of the heads in options.heads goes to the observer of each,
// and the exact maps if they were asked for. The last layer of a run that ends with its measurements runs only these
// heads, and the results are undefined. The options are alike but for ids. Cancelled when the first observer asks to
// stop. Times go to attention, record and wait_write of `stages`; `progress` hears of the heads' work.
[[nodiscard]] Result<std::vector<at::Tensor>> run_contexts(const AttentionSpec& attention,
                                                           const AttentionWeights& weights,
                                                           std::span<const AttentionLane> lanes,
                                                           const TorchTarget& target, std::int64_t layer, bool measured,
                                                           StageSeconds* stages = nullptr,
                                                           const ShareReport& progress = {});

// The same of one sequence, times W_O: [length, hidden].
[[nodiscard]] Result<at::Tensor> run_attention(const AttentionSpec& attention, const AttentionWeights& weights,
                                               const AttentionLane& lane, const TorchTarget& target, std::int64_t layer,
                                               bool measured, StageSeconds* stages = nullptr,
                                               const ShareReport& progress = {});

// What the heads of one sequence work on: queries and keys after norms and rotation.
struct AttentionInputs {
  at::Tensor q, k, v;        // [blocks, length, channels]
  at::Tensor lambda_logits;  // [length, heads]; undefined outside V2
};

// The record of all heads of a layer on one sequence, by target.backend: what run_attention hands to its observer, but
// for norms of keys and values, output alignment, gates and induction, which are not measured here.
[[nodiscard]] Result<LayerRecord> record_heads(const AttentionSpec& attention, const AttentionWeights& weights,
                                               const AttentionInputs& inputs, const TorchTarget& target,
                                               std::int64_t layer);

}  // namespace headroom
