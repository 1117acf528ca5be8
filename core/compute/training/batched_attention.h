// The heads of a layer on a batch of sequences, from the same head programs as the analysis, with gradients. Owned by
// one thread.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/compute/attention_layer.h"

namespace headroom {

// What a layer's heads work on, before and after: for the measurements of a training.
struct BatchedHeads {
  at::Tensor q, k, v;        // [batch, blocks, length, channels], rotated
  at::Tensor lambda_logits;  // [batch, length, heads]; undefined outside V2
  at::Tensor lambda;         // [batch, heads, length, 1]; undefined without a second map
  at::Tensor context;        // [batch, heads, length, channels], before norm, gate and W_O
};

enum class AttentionPath {
  Auto,     // Library where it can and has a fused kernel, which it has not for values wider than keys
  Library,  // scaled_dot_product_attention; V2 as one GQA call over its 2h query heads, as its authors do
  Maps,     // maps as matrices
};

// Whether scaled_dot_product_attention can run the heads: causal maps without sink, cap, window and hidden keys.
[[nodiscard]] bool library_runs(const AttentionSpec& attention);

// Fills lambda and context of `heads` from the others.
void run_heads(const AttentionSpec& attention, const AttentionWeights& weights, AttentionPath path,
               BatchedHeads& heads);

}  // namespace headroom
