// Phi 3.5 MoE: LayerNorm, biases, experts chosen one after the other (core/model/ARCHITECTURES.md#experts).
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/format.h"
#include "core/model/expert_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_phimoe(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) -> Result<void> {
    use_layer_norms(model);
    HEADROOM_TRY(const bool biased_logits, config.boolean("lm_head_bias", false));
    if (biased_logits) model.lm_head.bias = vector("lm_head.bias", llama.sizes.vocab);
    HEADROOM_TRY(const std::int64_t window, read_window(config, 0));
    HEADROOM_TRY(const ExpertSizes sizes,
                 read_expert_sizes(config, {"num_local_experts", 16, 2, {}, 0}, llama.sizes.inner));
    HEADROOM_TRY(const double jitter, config.number("router_jitter_noise", 0.01));
    if (!(jitter >= 0.0))
      return refuse_config("experts within twice this share count", "router_jitter_noise", "≥ 0", format("%g", jitter));
    if (sizes.chosen != 2)
      return refuse_config("a token is sent to two experts", "num_experts_per_tok", "2", std::to_string(sizes.chosen));
    for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
      BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
      block.attention.window = window;
      use_experts(block, source, {llama.layer(layer) + "block_sparse_moe.", "gate.weight", "w1", "w3", "w2"}, sizes,
                  llama.sizes.hidden, llama.activation);
      block.experts.router.score = RouterScore::SparseMixer;
      block.experts.router.jitter = jitter;
    }
    return {};
  };
  return translate_llama_relative(source, {.epsilon = 1e-5, .rope = {.theta = 1e6}}, change);
}

constexpr auto kPhimoeGgufFlags = std::to_array<GgufFlag>({
    {"attn_q.bias", "attention_bias"},
    {"output.bias", "lm_head_bias"},
});
constexpr GgufNames kPhimoeGguf{.architectures = {"phimoe"}, .tensors = kGgufSparseExperts, .flags = kPhimoeGgufFlags};

}  // namespace

extern constinit const Family kFamily_phimoe{"phimoe", "Phi 3.5 MoE: LayerNorm, biases, experts", translate_phimoe,
                                             &kPhimoeGguf};

}  // namespace headroom
