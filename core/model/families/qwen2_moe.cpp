// Qwen 1.5 and 2 MoE: qwen2 with experts and a gated shared MLP (core/model/ARCHITECTURES.md#experts).
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/model/expert_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

// use_sliding_window: every other layer before max_window_layers, as transformers has it for this model type.
Result<void> read_windows(ConfigReader& config, ModelSpec& model) {
  HEADROOM_TRY(const bool used, config.boolean("use_sliding_window", false));
  HEADROOM_TRY(const std::int64_t window, read_window(config, 4096));
  HEADROOM_TRY(const std::int64_t end, config.integer("max_window_layers", 28, 0, std::int64_t{1} << 40));
  HEADROOM_TRY(const auto sliding,
               read_sliding_layers(config, static_cast<std::int64_t>(model.blocks.size()),
                                   [&](std::int64_t layer) { return used && layer % 2 == 0 && layer < end; }));
  if (used) set_windows(model, sliding, window);
  return {};
}

Result<ModelSpec> translate_qwen2_moe(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) -> Result<void> {
    HEADROOM_TRY_VOID(read_windows(config, model));
    for (BlockSpec& block : model.blocks) block.attention.o.bias = {};  // qkv_bias is of queries, keys and values
    return use_qwen_experts(config, source, llama,
                            {.keys = {.default_count = 60, .default_chosen = 4, .default_inner = 1408}, .shared = 5632},
                            model);
  };
  return translate_llama_relative(source, {.bias_key = "qkv_bias", .bias = true}, change);
}

constexpr auto kQwen2MoeGgufTensors =
    gguf_joined(std::to_array<GgufTensor>({
                    {"blk.#.ffn_gate_inp_shexp", "model.layers.#.mlp.shared_expert_gate", GgufRows::OneRow},
                    {"blk.#.ffn_gate_shexp", "model.layers.#.mlp.shared_expert.gate_proj"},
                    {"blk.#.ffn_up_shexp", "model.layers.#.mlp.shared_expert.up_proj"},
                    {"blk.#.ffn_down_shexp", "model.layers.#.mlp.shared_expert.down_proj"},
                }),
                kGgufRoutedExperts);
constexpr auto kQwen2MoeGgufKeys =
    gguf_joined(kGgufNumExperts, std::to_array<GgufKey>({
                                     {"expert_shared_feed_forward_length", "shared_expert_intermediate_size", true},
                                 }));
constexpr auto kQwen2MoeGgufFlags = std::to_array<GgufFlag>({
    {"attn_q.bias", "qkv_bias"},
});
constexpr GgufNames kQwen2MoeGguf{.architectures = {"qwen2moe"},
                                  .tensors = kQwen2MoeGgufTensors,
                                  .keys = kQwen2MoeGgufKeys,
                                  .flags = kQwen2MoeGgufFlags};

}  // namespace

extern constinit const Family kFamily_qwen2_moe{"qwen2_moe", "Qwen 1.5 and 2 MoE: experts beside a shared MLP",
                                                translate_qwen2_moe, &kQwen2MoeGguf};

}  // namespace headroom
