// GLM 4.5 to 4.7: GQA with half of the channels rotated, DeepSeek's experts (core/model/ARCHITECTURES.md#experts).
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/model/expert_parts.h"
#include "core/model/family.h"
#include "core/model/gguf_config.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_glm4_moe(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) -> Result<void> {
    HEADROOM_TRY(const bool normed, config.boolean("use_qk_norm", false));
    for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
      BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
      block.attention.o.bias = {};  // attention_bias is of queries, keys and values
      if (normed) add_qk_norm(block, llama.layer(layer), QkNormScope::PerHead, llama.epsilon);
    }
    return use_deepseek_experts(
        config, source, llama,
        {.keys = {.count = "n_routed_experts", .default_count = 128, .default_chosen = 8, .default_inner = 1408},
         .router = deepseek_v3_router()},
        model);
  };
  return translate_llama_relative(
      source, {.epsilon = 1e-5, .rope = {.partial_key = "partial_rotary_factor", .share = 0.5}}, change);
}

constexpr auto kGlm4MoeGgufKeys = std::to_array<GgufKey>({
    {"expert_count", "n_routed_experts", true},
    {"expert_gating_func", ""},
    {"nextn_predict_layers", ""},
});
constexpr auto kGlm4MoeGgufFlags = std::to_array<GgufFlag>({
    {"attn_q.bias", "attention_bias"},
    {"attn_q_norm.weight", "use_qk_norm"},
});

// Layers that predict further tokens are counted with the others.
Result<void> finish_glm4_moe_gguf(const GgufMetadata& metadata, nlohmann::json& config) {
  config["num_hidden_layers"] = metadata.integer("block_count") - metadata.integer("nextn_predict_layers");
  return {};
}

constexpr GgufNames kGlm4MoeGguf{.architectures = {"glm4moe"},
                                 .tensors = kGgufExperts,
                                 .keys = kGlm4MoeGgufKeys,
                                 .flags = kGlm4MoeGgufFlags,
                                 .rotary_key = "partial_rotary_factor",
                                 .finish = finish_glm4_moe_gguf};

}  // namespace

extern constinit const Family kFamily_glm4_moe{"glm4_moe", "GLM 4.5 to 4.7: DeepSeek's experts, GQA",
                                               translate_glm4_moe, &kGlm4MoeGguf};

}  // namespace headroom
