// DeepSeek-V2 (arXiv 2405.04434; core/model/ARCHITECTURES.md#latent-attention): latent attention, experts by softmax.
#include <nlohmann/json.hpp>
#include <string>

#include "core/model/expert_parts.h"
#include "core/model/family.h"
#include "core/model/gguf_config.h"
#include "core/model/latent_parts.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_deepseek_v2(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) -> Result<void> {
    HEADROOM_TRY_VOID(use_latent_attention(config, source, llama,
                                           {.q_rank = 1536,
                                            .kv_rank = 512,
                                            .plain_dim = 128,
                                            .rotated_dim = 64,
                                            .value_dim = 128,
                                            .rope = {.layout = RopeLayout::Interleaved}},
                                           model));
    HEADROOM_TRY(const std::string method, config.text("topk_method", "greedy"));
    if (method == "greedy")  // groups say nothing
      for (const char* key : {"n_group", "topk_group"}) (void)config.raw(key);
    HEADROOM_TRY_VOID(refuse_other_choices(config, method == "greedy" ? method : "group_limited_greedy", "softmax"));
    DeepseekDefaults defaults{.keys = {.count = "n_routed_experts", .default_count = 64, .default_inner = 1407},
                              .dense_layers = 0,
                              .shared = 2,
                              .grouped = method != "greedy",
                              .router = {}};
    HEADROOM_TRY_VOID(use_deepseek_experts(config, source, llama, defaults, model));
    // transformers leaves these weights as they are, the authors' code divides them: files say false.
    HEADROOM_TRY(const bool normalised, config.boolean("norm_topk_prob", false));
    if (normalised)
      return refuse_config("weights of experts are not divided by their sum here", "norm_topk_prob", "false", "true");
    return {};
  };
  return translate_llama_relative(source, {.rotates = false}, change);
}

// Files without groups choose from all experts.
Result<void> finish_deepseek_v2_gguf(const GgufMetadata& metadata, nlohmann::json& config) {
  config["topk_method"] = metadata.integer("expert_group_count") > 1 ? "group_limited_greedy" : "greedy";
  return {};
}

constexpr GgufNames kDeepseekV2Gguf{.architectures = {"deepseek2"},
                                    .tensors = kGgufDeepseekTensors,
                                    .keys = kGgufDeepseekKeys,
                                    .flags = kGgufLatentFlags,
                                    .constants = kGgufWholeQueries,
                                    .latent = true,
                                    .finish = finish_deepseek_v2_gguf};

}  // namespace

extern constinit const Family kFamily_deepseek_v2{"deepseek_v2", "DeepSeek-V2: latent attention, experts",
                                                  translate_deepseek_v2, &kDeepseekV2Gguf};

}  // namespace headroom
