// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1;
// core/model/ARCHITECTURES.md#latent-attention). Pure functions; safe from any thread.
#pragma once

#include <cstdint>

#include "core/model/llama_parts.h"

namespace headroom {

// What holds where a config says nothing.
struct LatentDefaults {
  std::int64_t q_rank = 0, kv_rank = 0, plain_dim = 0, rotated_dim = 0;
  std::int64_t value_dim = 0;  // 0: hidden_size / num_attention_heads
  RopeDefaults rope = {};
};
// Replaces the attention of every block: q_lora_rank (null: queries of x), kv_lora_rank, qk_nope_head_dim,
// qk_rope_head_dim, v_head_dim. YaRN's mscale_all_dim scales the logits.
[[nodiscard]] Result<void> use_latent_attention(ConfigReader& config, const ModelSource& source,
                                                const LlamaConfig& llama, const LatentDefaults& defaults,
                                                ModelSpec& model);

}  // namespace headroom
