// Falcon: one key head or groups of queries, attention beside the MLP or before it, rotation or ALiBi
// (core/model/ARCHITECTURES.md#falcon).
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/model/bloom_parts.h"
#include "core/model/distance_bias.h"
#include "core/model/family.h"
#include "core/model/rope_config.h"

namespace headroom {
namespace {

struct FalconForm {
  bool grouped = false;   // new_decoder_architecture
  bool parallel = false;  // the MLP beside attention
  bool two_norms = false;
  bool alibi = false;
  bool bias = false;
  Activation activation = Activation::Gelu;
};

Result<FalconForm> read_form(ConfigReader& config) {
  FalconForm form;
  HEADROOM_TRY(form.grouped, config.boolean("new_decoder_architecture", false));
  HEADROOM_TRY(form.parallel, config.boolean("parallel_attn", true));
  HEADROOM_TRY(const std::int64_t norms, config.integer("num_ln_in_parallel_attn", form.grouped ? 2 : 1, 1, 2));
  HEADROOM_TRY(form.alibi, config.boolean("alibi", false));
  HEADROOM_TRY(form.bias, config.boolean("bias", false));
  HEADROOM_TRY(form.activation, read_activation(config, "activation", "gelu"));
  form.two_norms = form.parallel && norms == 2;
  if (form.grouped && !form.parallel)
    return refuse_config("the new decoder's attention stands beside its MLP", "parallel_attn", "true", "false");
  if (form.two_norms && !form.grouped)
    return refuse_config("only the new decoder has a norm for each branch", "num_ln_in_parallel_attn", "1", "2");
  return form;
}

Result<DecoderSizes> read_falcon_sizes(ConfigReader& config, bool grouped) {
  SizeKeys keys = bloom_keys(config);
  keys.inner = "ffn_hidden_size";
  keys.max_positions = "max_position_embeddings";
  HEADROOM_TRY(const bool one_key, config.boolean("multi_query", true));
  const bool old = config.has("n_head_kv") && !config.has("num_kv_heads");
  // What the older decoder has in this key changes nothing: transformers writes the number of query heads there.
  if (!grouped) (void)config.raw(old ? "n_head_kv" : "num_kv_heads");
  if (grouped) keys.kv_heads = old ? "n_head_kv" : "num_kv_heads";
  HEADROOM_TRY(DecoderSizes sizes, read_sizes(config, keys));
  if (!grouped && one_key) sizes.kv_heads = 1;
  return sizes;
}

// transformers computes slope · position in bfloat16, before the logits' scale.
std::vector<double> falcon_slopes(std::int64_t heads, std::int64_t head_dim) {
  std::vector<double> slopes = alibi_slopes(heads);
  for (double& slope : slopes) {
    int exponent = 0;
    const double mantissa = std::frexp(slope, &exponent);  // in [0.5, 1): 8 bits stay, ties to even
    slope = std::ldexp(std::nearbyint(mantissa * 256.0) / 256.0, exponent) / std::sqrt(static_cast<double>(head_dim));
  }
  return slopes;
}

// Whether every slope · position is a number of bfloat16.
bool exact_in_bfloat16(const DecoderSizes& sizes) { return sizes.heads <= 8 && sizes.max_positions <= 257; }

Result<ModelSpec> translate_falcon(const ModelSource& source) {
  ConfigReader config(source.config());
  HEADROOM_TRY(const FalconForm form, read_form(config));
  HEADROOM_TRY(const DecoderSizes sizes, read_falcon_sizes(config, form.grouped));
  HEADROOM_TRY(const RopeSpec rope, read_rope(config, {}, sizes.head_dim, sizes.max_positions));
  ModelSpec model;
  HEADROOM_TRY(const BloomFrame frame, read_bloom_frame(source, config, sizes, model));
  if (form.alibi && !exact_in_bfloat16(sizes))
    model.warnings.emplace_back(
        "ALiBi is −slope · distance here; transformers rounds slope · position to bfloat16, from which logits of far "
        "positions differ");
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    BlockSpec block = bloom_block(frame, sizes, layer, form.activation, form.bias);
    if (form.two_norms) {
      block.parallel = true;
      block.attention_branch.before = layer_norm(frame.layer(layer) + "ln_attn", sizes.hidden, frame.epsilon);
      block.mlp_branch.before = layer_norm(frame.layer(layer) + "ln_mlp", sizes.hidden, frame.epsilon);
    } else if (form.parallel) {
      share_norm(block);
    }
    if (form.alibi)
      block.attention.bias.slopes = falcon_slopes(sizes.heads, sizes.head_dim);
    else
      block.attention.rope = rope;
    model.blocks.push_back(std::move(block));
  }
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

// What llama.cpp runs: the old decoder of one key head is the new one with one norm, and nothing has ALiBi.
Result<void> finish_falcon(const GgufMetadata&, nlohmann::json& config) {
  config["num_ln_in_parallel_attn"] = config.value("two_norms", false) ? 2 : 1;
  config.erase("two_norms");
  config["num_kv_heads"] = config.value("num_kv_heads", nlohmann::json(1));
  return {};
}

constexpr auto kFalconGgufTensors = std::to_array<GgufTensor>({
    {"token_embd", "transformer.word_embeddings"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"},
    {"blk.#.attn_norm", "transformer.h.#.input_layernorm"},
    {"blk.#.attn_norm", "transformer.h.#.ln_mlp"},
    {"blk.#.attn_norm_2", "transformer.h.#.ln_attn"},
    {"blk.#.attn_qkv", "transformer.h.#.self_attention.query_key_value", GgufRows::PartsOfGroups},
    {"blk.#.attn_output", "transformer.h.#.self_attention.dense"},
    {"blk.#.ffn_up", "transformer.h.#.mlp.dense_h_to_4h"},
    {"blk.#.ffn_down", "transformer.h.#.mlp.dense_4h_to_h"},
});
constexpr auto kFalconGgufKeys = std::to_array<GgufKey>({
    {"block_count", "num_hidden_layers", true},
    {"embedding_length", "hidden_size", true},
    {"feed_forward_length", "ffn_hidden_size", true},
    {"attention.head_count", "num_attention_heads", true},
    {"attention.head_count_kv", "num_kv_heads"},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon", true},
    {"context_length", "max_position_embeddings", true},
    {"rope.freq_base", "rope_theta"},
});
constexpr auto kFalconGgufFlags = std::to_array<GgufFlag>({
    {"attn_norm_2.weight", "two_norms"},
});
constexpr auto kFalconGgufConstants = std::to_array<GgufConstant>({
    {"new_decoder_architecture", "true"},
});
constexpr GgufNames kFalconGguf{.architectures = {"falcon"},
                                .common_tensors = kFalconGgufTensors,
                                .common_keys = kFalconGgufKeys,
                                .flags = kFalconGgufFlags,
                                .constants = kFalconGgufConstants,
                                .finish = finish_falcon};

}  // namespace

extern constinit const Family kFamily_falcon{"falcon", "Falcon: fused q, k, v by groups; parallel block or ALiBi",
                                             translate_falcon, &kFalconGguf};

}  // namespace headroom
