// Helium: llama with interleaved rotation (core/model/ARCHITECTURES.md#helium).
#include "core/model/family.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

Result<void> change_helium(ConfigReader& config, const LlamaConfig&, ModelSpec& model) {
  HEADROOM_TRY(const bool bias, config.boolean("mlp_bias", false));
  if (bias) add_mlp_bias(model);
  for (BlockSpec& block : model.blocks) block.attention.o.bias = {};
  return {};
}

Result<ModelSpec> translate_helium(const ModelSource& source) {
  return translate_llama_relative(
      source, {.epsilon = 1e-8, .head_dim = 128, .rope = {.layout = RopeLayout::Interleaved, .theta = 100000.0}},
      change_helium);
}

}  // namespace

extern constinit const Family kFamily_helium{"helium", "Helium: llama with interleaved rotation", translate_helium};

}  // namespace headroom
