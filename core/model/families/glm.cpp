// GLM 4 9B: llama with half of the channels rotated, interleaved (core/model/ARCHITECTURES.md#glm).
#include <cstddef>
#include <cstdint>

#include "core/model/family.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

Result<void> change_glm(ConfigReader&, const LlamaConfig& llama, ModelSpec& model) {
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    fuse_gate_and_up(block, llama.layer(layer) + "mlp.gate_up_proj", llama.sizes);
    block.attention.o.bias = {};
  }
  return {};
}

Result<ModelSpec> translate_glm(const ModelSource& source) {
  return translate_llama_relative(
      source,
      {.epsilon = 1.5625e-7,
       .bias = true,
       .head_dim = 128,
       .rope = {.layout = RopeLayout::Interleaved, .partial_key = "partial_rotary_factor", .share = 0.5}},
      change_glm);
}

}  // namespace

extern constinit const Family kFamily_glm{"glm", "GLM 4 9B: partial interleaved rotation", translate_glm};

}  // namespace headroom
