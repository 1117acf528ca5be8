// What stands between two attentions: the MLP that every token passes, and the experts that a router sends it to.
// Compute thread only.
#pragma once

#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>

#include "core/base/result.h"
#include "core/compute/weights.h"
#include "core/measure/router_record.h"

namespace headroom {

struct MlpWeights {
  Linear gate, up, down;
  at::Tensor power_weight, power_bias;  // PolyNorm's; undefined otherwise
  // [rows, hidden] → [rows, hidden].
  [[nodiscard]] at::Tensor operator()(const MlpSpec& mlp, const at::Tensor& x) const;
};
[[nodiscard]] Result<MlpWeights> load_mlp(const WeightProvider& weights, const MlpSpec& mlp);

struct RouterWeights {
  Norm norm;
  Linear logits;
  at::Tensor choice_bias;    // undefined: none
  at::Tensor expert_scales;  // undefined: none
  Linear shared_gate;        // undefined weight: none
  Norm before, after, mlp_after;
};

// [rows, chosen]: how much each expert counts, in the type of the statistics, and which it is, int64.
struct Routing {
  at::Tensor weights, experts;
};
// x: what the logits are a projection of, behind the router's own norm. Scores are computed in `real`, as the routers
// of transformers do it in float32.
[[nodiscard]] Routing route(const RouterSpec& router, const RouterWeights& weights, const at::Tensor& x,
                            at::ScalarType real);

[[nodiscard]] RouterRecord record_of(const Routing& routing, std::int64_t layer, std::int64_t experts);

// Σ over a row's experts of weight · expert(x), or of expert(weight · x): [rows, hidden]. Only experts that some row
// was sent to are read, each once, while the one before computes. At most `most_rows` rows at a time. `go_on` hears the
// share that is done; where it says false: Cancelled.
[[nodiscard]] Result<at::Tensor> run_experts(const WeightProvider& weights, const ExpertsSpec& spec,
                                             const Routing& routing, const at::Tensor& x, std::int64_t most_rows,
                                             const std::function<bool(double share)>& go_on);

}  // namespace headroom
