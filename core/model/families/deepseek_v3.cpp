// DeepSeek-V3 and R1 (arXiv 2412.19437; core/model/ARCHITECTURES.md#latent-attention): latent attention, experts.
#include <cstdint>

#include "core/model/expert_parts.h"
#include "core/model/family.h"
#include "core/model/latent_parts.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_deepseek_v3(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) -> Result<void> {
    HEADROOM_TRY(const bool interleaved, config.boolean("rope_interleave", true));
    const RopeLayout layout = interleaved ? RopeLayout::Interleaved : RopeLayout::HalfSplit;
    HEADROOM_TRY_VOID(use_latent_attention(config, source, llama,
                                           {.q_rank = 1536,
                                            .kv_rank = 512,
                                            .plain_dim = 128,
                                            .rotated_dim = 64,
                                            .value_dim = 128,
                                            .rope = {.layout = layout}},
                                           model));
    HEADROOM_TRY_VOID(refuse_other_choices(config, "noaux_tc", "sigmoid"));
    RouterSpec router = deepseek_v3_router();
    router.groups = 8;
    router.chosen_groups = 4;
    router.scale = 2.5;
    return use_deepseek_experts(
        config, source, llama,
        {.keys = {.count = "n_routed_experts", .default_count = 256, .default_chosen = 8, .default_inner = 2048},
         .dense_layers = 3,
         .router = router},
        model);
  };
  return translate_llama_relative(source, {.rotates = false}, change);
}

constexpr std::int64_t kGgufSigmoid = 2;  // of expert_gating_func

constexpr GgufNames kDeepseekV3Gguf{.architectures = {"deepseek2"},
                                    .only_with = "expert_gating_func",
                                    .only_value = kGgufSigmoid,
                                    .tensors = kGgufDeepseekTensors,
                                    .keys = kGgufDeepseekKeys,
                                    .flags = kGgufLatentFlags,
                                    .constants = kGgufWholeQueries,
                                    .latent = true};

}  // namespace

extern constinit const Family kFamily_deepseek_v3{"deepseek_v3", "DeepSeek-V3, R1: latent attention, experts",
                                                  translate_deepseek_v3, &kDeepseekV3Gguf};

}  // namespace headroom
