// Llama 1 … 3.3, TinyLlama, SmolLM2, CodeLlama, Yi (architectures §6.1).
#include <cmath>

#include "core/model/decoder_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

Result<ModelSpec> translate(const ModelSource& source) {
  ConfigReader config(source.config());
  HEADROOM_TRY(const DecoderSizes sizes, read_sizes(config));
  HEADROOM_TRY(const double epsilon, config.norm_epsilon("rms_norm_eps", 1e-6));
  HEADROOM_TRY(const bool attention_bias, config.boolean("attention_bias", false));
  HEADROOM_TRY(const bool mlp_bias, config.boolean("mlp_bias", false));
  HEADROOM_TRY(const Activation activation, read_activation(config, "hidden_act", "silu"));
  HEADROOM_TRY(const RopeSpec rope, read_rope(config, RopeLayout::HalfSplit, sizes.head_dim, sizes.max_positions));

  ModelSpec model;
  model.model_type = "llama";
  model.num_heads = sizes.heads;
  const std::string prefix = llama_prefix(source);
  HEADROOM_TRY_VOID(read_llama_frame(source, config, sizes, prefix, epsilon, model));
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string base = prefix + "layers." + std::to_string(layer) + ".";
    BlockSpec block;
    block.attention_norm = rms_norm(base + "input_layernorm.weight", sizes.hidden, epsilon);
    block.mlp_norm = rms_norm(base + "post_attention_layernorm.weight", sizes.hidden, epsilon);
    block.mlp = gated_mlp(base + "mlp.", sizes.hidden, sizes.inner, activation, mlp_bias);
    AttentionSpec& attention = block.attention;
    attention.kind = "softmax";
    attention.head_dim = attention.value_dim = sizes.head_dim;
    attention.num_query_blocks = sizes.heads;
    attention.num_key_blocks = attention.num_value_blocks = sizes.kv_heads;
    const std::int64_t q_rows = sizes.heads * sizes.head_dim;
    const std::int64_t kv_rows = sizes.kv_heads * sizes.head_dim;
    attention.q = linear(base + "self_attn.q_proj", q_rows, sizes.hidden, attention_bias);
    attention.k = linear(base + "self_attn.k_proj", kv_rows, sizes.hidden, attention_bias);
    attention.v = linear(base + "self_attn.v_proj", kv_rows, sizes.hidden, attention_bias);
    attention.o = linear(base + "self_attn.o_proj", sizes.hidden, q_rows, attention_bias);
    attention.rope = rope;
    attention.scale = 1.0 / std::sqrt(static_cast<double>(sizes.head_dim));
    attention.heads = grouped_heads(sizes.heads, sizes.kv_heads);
    model.blocks.push_back(std::move(block));
  }
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

}  // namespace

extern constinit const Family kFamily_llama{"llama", "Llama, TinyLlama, SmolLM2: RMSNorm, GQA, RoPE, SwiGLU", translate};

}  // namespace headroom
