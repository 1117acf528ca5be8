// GLM 4 0414: as GLM, with norms before and behind each branch (core/model/ARCHITECTURES.md#glm).
#include <cstddef>
#include <cstdint>

#include "core/model/family.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

Result<void> change_glm4(ConfigReader&, const LlamaConfig& llama, ModelSpec& model) {
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    fuse_gate_and_up(block, llama.layer(layer) + "mlp.gate_up_proj", llama.sizes);
    block.attention.o.bias = {};
    const auto norm = [&](const char* name) {
      return rms_norm(llama.layer(layer) + name, llama.sizes.hidden, llama.epsilon);
    };
    block.attention_branch.after = norm("post_self_attn_layernorm.weight");
    block.mlp_branch.after = norm("post_mlp_layernorm.weight");
  }
  return {};
}

Result<ModelSpec> translate_glm4(const ModelSource& source) {
  return translate_llama_relative(
      source,
      {.epsilon = 1.5625e-7,
       .bias = true,
       .head_dim = 128,
       .rope = {.layout = RopeLayout::Interleaved, .partial_key = "partial_rotary_factor", .share = 0.5}},
      change_glm4);
}

}  // namespace

extern constinit const Family kFamily_glm4{"glm4", "GLM 4 0414: norms before and behind the branches", translate_glm4};

}  // namespace headroom
