// What Gemma 3n and Gemma 4 share: embeddings of the layers, keys and values of earlier layers, a norm of every
// projection (core/model/ARCHITECTURES.md#gemma3n). Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/llama_parts.h"

namespace headroom {

// RMSNorm of queries and keys, and one of values without weights; logits are not scaled.
void norm_every_projection(BlockSpec& block, const std::string& base, double epsilon);

// The last `num_kv_shared_layers` layers use the keys and values of the last layer before them that is of their kind.
[[nodiscard]] Result<void> share_late_keys(ConfigReader& config, const LlamaConfig& llama,
                                           const std::vector<bool>& sliding, std::int64_t fallback, ModelSpec& model);

// `hidden_size_per_layer_input` (256) channels for each layer, of the token and of its embedding; 0: none.
[[nodiscard]] Result<void> add_layer_embeddings(ConfigReader& config, const LlamaConfig& llama, ModelSpec& model);

}  // namespace headroom
