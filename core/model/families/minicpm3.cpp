// MiniCPM 3: latent attention, dense, scaled embeddings, branches and logits
// (core/model/ARCHITECTURES.md#latent-attention).
#include <cmath>
#include <cstdint>

#include "core/model/family.h"
#include "core/model/latent_parts.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_minicpm3(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) -> Result<void> {
    HEADROOM_TRY_VOID(use_latent_attention(config, source, llama,
                                           {.q_rank = 768, .kv_rank = 256, .plain_dim = 64, .rotated_dim = 32}, model));
    HEADROOM_TRY(const bool bias, config.boolean("mlp_bias", false));
    if (bias) add_mlp_bias(model);
    const double layers = static_cast<double>(llama.sizes.layers), hidden = static_cast<double>(llama.sizes.hidden);
    // null is no scaling; a config without the key has that of the published model.
    const auto number = [&](const char* key, double published, double neutral) {
      return config.number(key, config.mentions(key) ? neutral : published);
    };
    HEADROOM_TRY(model.embedding_scale, number("scale_emb", 12.0, 12.0));
    HEADROOM_TRY(const double depth, number("scale_depth", 1.4, std::sqrt(layers)));
    HEADROOM_TRY(const double base, number("dim_model_base", 256.0, hidden));
    model.logit_scale = base / hidden;
    for (BlockSpec& block : model.blocks)
      block.attention_branch.scale = block.mlp_branch.scale = depth / std::sqrt(layers);
    return {};
  };
  return translate_llama_relative(source, {.epsilon = 1e-5, .tied = true, .rotates = false}, change);
}

// llama.cpp has the scales of the published model in its code: those that a config without them has here.
constexpr GgufNames kMinicpm3Gguf{.architectures = {"minicpm3"},
                                  .tensors = kGgufLatentTensors,
                                  .keys = kGgufLatentKeys,
                                  .flags = kGgufLatentFlags,
                                  .constants = kGgufWholeQueries,
                                  .latent = true};

}  // namespace

extern constinit const Family kFamily_minicpm3{"minicpm3", "MiniCPM 3: latent attention, dense", translate_minicpm3,
                                               &kMinicpm3Gguf};

}  // namespace headroom
