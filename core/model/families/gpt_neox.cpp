// GPT-NeoX, Pythia: attention and MLP side by side, q, k and v of a head together in one matrix
// (core/model/ARCHITECTURES.md#gpt-neox).
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "core/model/family.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_gpt_neox(const ModelSource& source) {
  ConfigReader config(source.config());
  HEADROOM_TRY(const DecoderSizes sizes, read_sizes(config));
  HEADROOM_TRY(const double epsilon, config.norm_epsilon("layer_norm_eps", 1e-5));
  HEADROOM_TRY(const Activation activation, read_activation(config, "hidden_act", "gelu"));
  HEADROOM_TRY(const bool bias, config.boolean("attention_bias", true));
  HEADROOM_TRY(const bool parallel, config.boolean("use_parallel_residual", true));
  HEADROOM_TRY(const RopeSpec rope,
               read_rope(config, {.theta_key = "rotary_emb_base", .partial_key = "rotary_pct", .share = 0.25},
                         sizes.head_dim, sizes.max_positions));

  ModelSpec model;
  const std::string prefix =
      !source.find("gpt_neox.embed_in.weight") && source.find("embed_in.weight") ? "" : "gpt_neox.";
  const char* lm_head = source.find("embed_out.weight") ? "embed_out.weight" : "lm_head.weight";
  HEADROOM_TRY_VOID(read_llama_frame(source, config, sizes, prefix, epsilon, model, false, lm_head));
  model.embedding.tensor = prefix + "embed_in.weight";
  model.final_norm = layer_norm(prefix + "final_layer_norm", sizes.hidden, epsilon);
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string base = layer_prefix(prefix, layer);
    BlockSpec block;
    block.parallel = parallel;
    block.attention_branch.before = layer_norm(base + "input_layernorm", sizes.hidden, epsilon);
    block.mlp_branch.before = layer_norm(base + "post_attention_layernorm", sizes.hidden, epsilon);
    block.mlp =
        plain_mlp(base + "mlp.dense_h_to_4h", base + "mlp.dense_4h_to_h", sizes.hidden, sizes.inner, activation, true);
    block.attention = grouped_attention(sizes, rope);
    const std::string fused = base + "attention.query_key_value";
    const std::int64_t d = sizes.head_dim;
    const auto third = [&](std::int64_t which) {
      return linear_rows(fused, 3 * sizes.hidden, sizes.hidden, {which * d, sizes.hidden, d, 3 * d}, bias);
    };
    block.attention.q = third(0);
    block.attention.k = third(1);
    block.attention.v = third(2);
    block.attention.o = linear(base + "attention.dense", sizes.hidden, sizes.hidden, bias);
    model.blocks.push_back(std::move(block));
  }
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

constexpr auto kGptNeoxGgufTensors = std::to_array<GgufTensor>({
    {"token_embd", "gpt_neox.embed_in"},
    {"output_norm", "gpt_neox.final_layer_norm"},
    {"output", "embed_out"},
    {"blk.#.attn_norm", "gpt_neox.layers.#.input_layernorm"},
    {"blk.#.attn_qkv", "gpt_neox.layers.#.attention.query_key_value", GgufRows::PartsOfGroups},
    {"blk.#.attn_output", "gpt_neox.layers.#.attention.dense"},
    {"blk.#.ffn_norm", "gpt_neox.layers.#.post_attention_layernorm"},
    {"blk.#.ffn_up", "gpt_neox.layers.#.mlp.dense_h_to_4h"},
    {"blk.#.ffn_down", "gpt_neox.layers.#.mlp.dense_4h_to_h"},
});
constexpr auto kGptNeoxGgufKeys = std::to_array<GgufKey>({
    {"attention.layer_norm_rms_epsilon", ""},
    {"attention.layer_norm_epsilon", "layer_norm_eps", true},
    {"rope.freq_base", "rotary_emb_base"},
});
constexpr auto kGptNeoxGgufFlags = std::to_array<GgufFlag>({
    {"attn_qkv.bias", "attention_bias"},
});
constexpr GgufNames kGptNeoxGguf{.architectures = {"gptneox"},
                                 .common_tensors = kGptNeoxGgufTensors,
                                 .keys = kGptNeoxGgufKeys,
                                 .flags = kGptNeoxGgufFlags,
                                 .rotary_key = "rotary_pct"};

}  // namespace

extern constinit const Family kFamily_gpt_neox{"gpt_neox", "GPT-NeoX, Pythia: parallel block, fused q, k, v",
                                               translate_gpt_neox, &kGptNeoxGguf};

}  // namespace headroom
