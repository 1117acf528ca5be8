// OLMoE: llama with experts and a norm of all queries and keys at once (core/model/ARCHITECTURES.md#experts).
#include <cstddef>
#include <cstdint>

#include "core/model/expert_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_olmoe(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) -> Result<void> {
    HEADROOM_TRY(const ExpertSizes sizes, read_expert_sizes(config, {"num_experts", 64, 8, {}, 0}, llama.sizes.inner));
    HEADROOM_TRY(const bool normalised, config.boolean("norm_topk_prob", false));
    HEADROOM_TRY_VOID(read_clip(config, model));
    for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
      BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
      add_qk_norm(block, llama.layer(layer), QkNormScope::Whole, llama.epsilon);
      use_experts(block, source, {.base = llama.layer(layer) + "mlp."}, sizes, llama.sizes.hidden, llama.activation);
      block.experts.router.normalised = normalised;
    }
    return {};
  };
  return translate_llama_relative(source, {.epsilon = 1e-5}, change);
}

constexpr GgufNames kOlmoeGguf{.architectures = {"olmoe"}, .tensors = kGgufRoutedExperts, .keys = kGgufNumExperts};

}  // namespace

extern constinit const Family kFamily_olmoe{"olmoe", "OLMoE: llama with experts and norms of queries and keys",
                                            translate_olmoe, &kOlmoeGguf};

}  // namespace headroom
