// DeBERTa's terms of the logits from queries, keys and the table of relative positions
// (core/model/ARCHITECTURES.md#deberta-v2). Compute thread only.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "core/base/result.h"
#include "core/compute/weights.h"
#include "core/maps/head_masks.h"
#include "core/model/model_spec.h"

namespace headroom {

// Projections of the table's rows, [2·span, blocks · channels] each; undefined where the layer has no such term.
struct DisentangledWeights {
  at::Tensor keys, queries;
};

[[nodiscard]] Result<DisentangledWeights> load_disentangled(const WeightProvider& loader, const DisentangledSpec& spec);

// queries, keys: [length, blocks, channels] as they enter the products. Null in a layer without such terms.
template <typename Real>
[[nodiscard]] std::shared_ptr<const HeadMasks> disentangled_masks(const AttentionSpec& attention,
                                                                  const DisentangledWeights& weights,
                                                                  const at::Tensor& queries, const at::Tensor& keys);

}  // namespace headroom
