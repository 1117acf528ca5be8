// Qwen 3: llama with a norm of every query and key (core/model/ARCHITECTURES.md#qwen), and with gates
// (core/model/ARCHITECTURES.md#gated-qwen-3).
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/model/family.h"
#include "core/model/model_lines.h"

namespace headroom {
namespace {

Result<void> change_qwen3(ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
  HEADROOM_TRY(const bool normed, config.boolean("use_qk_norm", true));
  HEADROOM_TRY(const bool bias, config.boolean("qkv_bias", llama.attention_bias));
  HEADROOM_TRY(const bool headwise, config.boolean("headwise_attn_output_gate", false));
  HEADROOM_TRY(const bool elementwise, config.boolean("elementwise_attn_output_gate", false));
  if (headwise && elementwise)
    return refuse_config("a head has one gate", "elementwise_attn_output_gate",
                         "false beside headwise_attn_output_gate", "true");
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    const std::string base = llama.layer(layer);
    use_projections(block.attention, base + "self_attn.", "o_proj", llama.sizes.hidden, bias, bias);
    if (headwise || elementwise)
      add_output_gates(block.attention, base + "self_attn.q_proj", llama.sizes.hidden, llama.sizes.kv_heads,
                       elementwise, bias);
    if (normed) add_qk_norm(block, base, QkNormScope::PerHead, llama.epsilon);
  }
  HEADROOM_TRY_VOID(read_late_windows(config, model));
  return {};
}

Result<ModelSpec> translate_qwen3(const ModelSource& source) {
  return translate_llama_relative(source, {.head_dim = 128}, change_qwen3);
}

constexpr GgufNames kQwen3Gguf{.architectures = {"qwen3"}};

}  // namespace

extern constinit const Family kFamily_qwen3{"qwen3", "Qwen 3: llama with norms of queries and keys", translate_qwen3,
                                            &kQwen3Gguf};

}  // namespace headroom
