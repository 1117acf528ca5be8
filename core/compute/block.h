// What carries the residual stream from the embedding to the logits, around the heads: once, for analysis and training,
// which differ in who attends and where weights come from. Tensors are [.., length, hidden]. Compute thread only.
#pragma once

#include <stop_token>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/base/result.h"
#include "core/compute/attention_layer.h"
#include "core/compute/feed_forward.h"
#include "core/compute/mixer.h"
#include "core/compute/stream_parts.h"
#include "core/compute/weights.h"

namespace headroom {

struct BranchWeights {
  Norm before, after, sum;
  double scale = 1.0;
  // sum(h + scale · after(out)) of what the branch gave for before(h).
  [[nodiscard]] at::Tensor join(const at::Tensor& h, const at::Tensor& out) const;
};

struct BlockWeights {
  BranchWeights attention_branch, mlp_branch;
  AttentionWeights attention;
  MixerWeights mixer;  // in place of attention
  MlpWeights mlp;
  RouterWeights router;
  LaurelWeights laurel;
  AltUpWeights altup;
  TokenBranchWeights token_branch;
  at::Tensor scale;  // [1]; undefined: none
};

// All weights of a block at once but for its experts; those of a file are better read by a WeightReader. Cancelled
// between two of them.
[[nodiscard]] Result<BlockWeights> load_block(const WeightProvider& weights, const BlockSpec& block,
                                              const std::stop_token& token = {}, bool with_mlp = true);

// The MLP's branch on rows of the stream, of a block without experts: `given` is what it reads, `h` what it is added
// to, the same rows unless the block is parallel. A block without MLP returns h.
[[nodiscard]] at::Tensor add_mlp(const BlockSpec& block, const BlockWeights& weights, const at::Tensor& given,
                                 const at::Tensor& h);
// What the MLP gives to x beside experts: mlp(x), times σ(shared_gate x) where there is a gate, behind its own norm.
[[nodiscard]] at::Tensor shared_part(const BlockSpec& block, const BlockWeights& weights, const at::Tensor& x);

// What the embedding's rows pass before the first block.
struct EmbeddingWeights {
  at::Tensor type;  // [types, hidden]; undefined without
  Norm norm;
  Linear projection;  // undefined without
};
[[nodiscard]] Result<EmbeddingWeights> load_embedding(const WeightProvider& weights, const ModelSpec& model);

// The stream before the first block, of embedding rows and those of the positions (undefined without them).
[[nodiscard]] at::Tensor begin_stream(const ModelSpec& model, const EmbeddingWeights& weights, const at::Tensor& rows,
                                      const at::Tensor& positions);

// The final norm, what stands between it and lm_head, and lm_head; undefined in a model without lm_head.
struct HeadWeights {
  Norm norm;
  Linear head;
  Linear dense;  // undefined without
  Norm dense_norm;
  std::vector<Linear> streams;  // what the others are projected with; empty: there is one stream
  // [.., vocab], in target.real. h may hold several streams.
  [[nodiscard]] at::Tensor logits(const ModelSpec& model, const at::Tensor& h, const TorchTarget& target) const;
};
[[nodiscard]] Result<HeadWeights> load_head(const WeightProvider& weights, const ModelSpec& model,
                                            const std::stop_token& token = {});

}  // namespace headroom
