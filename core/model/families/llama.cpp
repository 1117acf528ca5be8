// Llama 1 … 3.3, TinyLlama, SmolLM2, CodeLlama, Yi (core/model/ARCHITECTURES.md#llama).
#include <cstdint>
#include <string>

#include "core/model/decoder_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_llama(const ModelSource& source) {
  ConfigReader config(source.config());
  HEADROOM_TRY(LlamaConfig llama, read_llama_config(config, 1e-6));
  HEADROOM_TRY(llama.mlp_bias, config.boolean("mlp_bias", false));

  ModelSpec model;
  model.model_type = "llama";
  model.num_heads = llama.sizes.heads;
  const std::string prefix = llama_prefix(source);
  HEADROOM_TRY_VOID(read_llama_frame(source, config, llama.sizes, prefix, llama.epsilon, model));
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer)
    model.blocks.push_back(llama_block(llama, layer_prefix(prefix, layer)));
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

}  // namespace

extern constinit const Family kFamily_llama{"llama", "Llama, TinyLlama, SmolLM2: RMSNorm, GQA, RoPE, SwiGLU",
                                            translate_llama};

}  // namespace headroom
