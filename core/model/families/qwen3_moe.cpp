// Qwen 3 MoE: qwen3 with experts (core/model/ARCHITECTURES.md#experts).
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/model/expert_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_qwen3_moe(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) -> Result<void> {
    HEADROOM_TRY(const bool slides, config.boolean("use_sliding_window", false));
    HEADROOM_TRY(const std::int64_t window, read_window(config, 4096));
    (void)config.raw("max_window_layers");  // of earlier models; every layer has the window here
    HEADROOM_TRY(const ExpertSizes sizes,
                 read_expert_sizes(config, {.default_count = 128, .default_chosen = 8, .default_inner = 768}, 0));
    HEADROOM_TRY(const bool normalised, config.boolean("norm_topk_prob", false));
    HEADROOM_TRY(const auto sparse, read_sparse_layers(config, llama.sizes.layers));
    for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
      BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
      add_qk_norm(block, llama.layer(layer), QkNormScope::PerHead, llama.epsilon);
      if (slides) block.attention.window = window;
      if (!sparse(layer)) continue;
      use_experts(block, source, {.base = llama.layer(layer) + "mlp."}, sizes, llama.sizes.hidden, llama.activation);
      block.experts.router.normalised = normalised;
    }
    return {};
  };
  return translate_llama_relative(source, {}, change);
}

// llama.cpp's qwen3moe.cpp divides the weights of experts by their sum.
constexpr auto kQwen3MoeGgufConstants = std::to_array<GgufConstant>({
    {"norm_topk_prob", "true"},
});
constexpr GgufNames kQwen3MoeGguf{.architectures = {"qwen3moe"},
                                  .tensors = kGgufRoutedExperts,
                                  .keys = kGgufNumExperts,
                                  .constants = kQwen3MoeGgufConstants};

}  // namespace

extern constinit const Family kFamily_qwen3_moe{"qwen3_moe", "Qwen 3 MoE: qwen3 with experts", translate_qwen3_moe,
                                                &kQwen3MoeGguf};

}  // namespace headroom
