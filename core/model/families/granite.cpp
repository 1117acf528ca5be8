// Granite 3 (dense): llama with four multipliers (core/model/ARCHITECTURES.md#granite).
#include "core/model/family.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

Result<void> change_granite(ConfigReader& config, const LlamaConfig&, ModelSpec& model) {
  HEADROOM_TRY(const bool bias, config.boolean("mlp_bias", false));
  if (bias) add_mlp_bias(model);
  HEADROOM_TRY(model.embedding_scale, config.number("embedding_multiplier", 1.0));
  HEADROOM_TRY(const double scale, config.number("attention_multiplier", 1.0));
  HEADROOM_TRY(const double branch, config.number("residual_multiplier", 1.0));
  HEADROOM_TRY(const double divisor, config.number("logits_scaling", 1.0));
  if (divisor == 0.0) return refuse_config("logits are divided by this number", "logits_scaling", "another", "0");
  model.logit_scale = 1.0 / divisor;
  for (BlockSpec& block : model.blocks) {
    block.attention.scale = scale;
    block.attention_branch.scale = block.mlp_branch.scale = branch;
  }
  return {};
}

Result<ModelSpec> translate_granite(const ModelSource& source) {
  return translate_llama_relative(source, {}, change_granite);
}

}  // namespace

extern constinit const Family kFamily_granite{"granite", "Granite 3: llama with multipliers", translate_granite};

}  // namespace headroom
