// The heads of a layer on a batch of sequences, from the same head programs as the analysis, with gradients. Owned by
// one thread.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/compute/attention_layer.h"

namespace headroom {

// What a layer's heads work on, before and after: for the measurements of a training.
struct BatchedHeads {
  at::Tensor q, k, v;  // [batch, blocks, length, channels], rotated
  at::Tensor lambda;   // [batch, heads, length, 1]; undefined without a second map
  at::Tensor context;  // [batch, heads, length, channels], before norm, gate and W_O
};

enum class AttentionPath {
  Auto,     // Library where it can and has a fused kernel, which it has not for values wider than keys
  Library,  // scaled_dot_product_attention; V2 as one GQA call over its 2h query heads, as its authors do
  Maps,     // maps as matrices
};

// Whether scaled_dot_product_attention can run the heads: causal maps without sink, cap, window and hidden keys.
[[nodiscard]] bool library_runs(const AttentionSpec& attention);

// lambda_logits: [batch, length, heads], undefined outside V2. Fills all of `heads` but q, k, v.
void run_heads(const AttentionSpec& attention, const AttentionWeights& weights, const at::Tensor& lambda_logits,
               AttentionPath path, BatchedHeads& heads);

// Weights of map 0 or 1 of every head, [batch, heads, length, length], and its scaled, visible logits (−∞ elsewhere).
// Heads without that map have zeros.
struct BatchedMap {
  at::Tensor weights, logits;
};
[[nodiscard]] BatchedMap attention_map(const AttentionSpec& attention, const AttentionWeights& weights,
                                       const BatchedHeads& heads, int map);

}  // namespace headroom
