// What stands around attention and MLP of a block beside norms: Laurel, the streams of AltUp, the embedding that a
// token has for each layer (core/model/model_spec.h has their equations). Tensors of one sequence: [length, hidden],
// streams [streams, length, hidden]. Compute thread only.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/base/result.h"
#include "core/compute/weights.h"

namespace headroom {

struct LaurelWeights {
  Linear left, right;  // undefined weights: none
  Norm norm;

  [[nodiscard]] bool present() const { return left.weight.defined(); }
  // The stream behind the attention's branch: (sum + x + norm(right(left x)))/√2, `sum` with the attention in it.
  [[nodiscard]] at::Tensor join(const at::Tensor& sum, const at::Tensor& x) const;
};

struct AltUpWeights {
  Norm norm;
  Linear router, prediction, correction;  // undefined weights: none
  at::Tensor scale;                       // undefined: none

  [[nodiscard]] bool present() const { return router.weight.defined(); }
  // Every stream as the active one predicts it.
  [[nodiscard]] at::Tensor predict(const at::Tensor& streams, std::int64_t active) const;
  // The streams once the block has made `made` of the active prediction.
  [[nodiscard]] at::Tensor correct(const at::Tensor& predictions, const at::Tensor& made, std::int64_t active) const;

 private:
  [[nodiscard]] at::Tensor route(const at::Tensor& h) const;  // [length, streams]
};

struct TokenBranchWeights {
  Linear gate, up;  // undefined weights: none
  Norm norm;

  [[nodiscard]] bool present() const { return gate.weight.defined(); }
  // norm(up(act(gate h) ⊙ told)); told: [length, width].
  [[nodiscard]] at::Tensor operator()(Activation activation, const at::Tensor& h, const at::Tensor& told) const;
};

// The embedding of every token for each layer, [length, layers, width]. `rows`: of the table, one for each token;
// `embedded`: the scaled embedding, [length, hidden].
[[nodiscard]] Result<at::Tensor> embed_for_layers(const WeightProvider& weights, const LayerEmbeddingSpec& spec,
                                                  const at::Tensor& rows, const at::Tensor& embedded);

// Several streams of one.
[[nodiscard]] Result<at::Tensor> split_stream(const WeightProvider& weights, const StreamsSpec& spec,
                                              const at::Tensor& h);
// And one of several, [length, hidden]; `out`: the loaded StreamsSpec::out.
[[nodiscard]] at::Tensor merge_streams(const std::vector<Linear>& out, const at::Tensor& streams);

}  // namespace headroom
