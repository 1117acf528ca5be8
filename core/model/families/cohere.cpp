// Command R: attention and MLP side by side behind one LayerNorm without bias (core/model/ARCHITECTURES.md#cohere).
#include "core/model/family.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

Result<void> change_cohere(ConfigReader& config, const LlamaConfig&, ModelSpec& model) {
  use_layer_norms(model, false);
  HEADROOM_TRY(model.logit_scale, config.number("logit_scale", 0.0625));
  for (BlockSpec& block : model.blocks) share_norm(block);
  return {};
}

Result<ModelSpec> translate_cohere(const ModelSource& source) {
  return translate_llama_relative(source,
                                  {.epsilon_key = "layer_norm_eps",
                                   .epsilon = 1e-5,
                                   .tied = true,
                                   .rope = {.layout = RopeLayout::Interleaved, .theta = 500000.0}},
                                  change_cohere);
}

}  // namespace

extern constinit const Family kFamily_cohere{"cohere", "Command R: parallel block, scaled logits", translate_cohere};

}  // namespace headroom
