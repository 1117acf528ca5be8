// LFM2: gated short convolutions in the place of attention in most layers, attention with norms of queries and keys in
// the others (core/model/ARCHITECTURES.md#lfm2).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/family.h"
#include "core/model/gguf_config.h"
#include "core/model/llama_parts.h"
#include "core/model/mixer_spec.h"

namespace headroom {
namespace {

constexpr std::int64_t kMostRows = std::int64_t{1} << 24;

// intermediate_size is that of an MLP without gate, of which a gated one gets two thirds, × a factor, rounded up.
Result<std::int64_t> read_inner(ConfigReader& config, std::int64_t given) {
  HEADROOM_TRY(std::int64_t inner, config.integer("block_ff_dim", given, 1, kMostRows));
  HEADROOM_TRY(const bool adjusts, config.boolean("block_auto_adjust_ff_dim", true));
  HEADROOM_TRY(const double factor, config.number("block_ffn_dim_multiplier", 1.0));
  HEADROOM_TRY(const std::int64_t multiple, config.integer("block_multiple_of", 256, 1, kMostRows));
  if (!adjusts) return inner;
  inner = 2 * inner / 3;
  // A multiplier that is null leaves the size as it is, without rounding.
  if (config.mentions("block_ffn_dim_multiplier") && !config.has("block_ffn_dim_multiplier")) return inner;
  const double widened = factor * static_cast<double>(inner);
  if (!(widened >= 1.0) || widened > static_cast<double>(kMostRows))
    return refuse_config("the inner size of the MLP is out of range", "block_ffn_dim_multiplier",
                         "a factor that gives 1 to " + std::to_string(kMostRows), std::to_string(factor));
  inner = static_cast<std::int64_t>(widened);
  return (inner + multiple - 1) / multiple * multiple;
}

// Layers that convolve: layer_types, or those that full_attn_idxs does not name.
Result<std::vector<bool>> read_conv_layers(ConfigReader& config, std::int64_t layers) {
  const nlohmann::json& list = config.raw("full_attn_idxs");
  if (!list.is_null() && !list.is_array())
    return refuse_config("full_attn_idxs is not a list", "full_attn_idxs", "a list of layers", list.type_name());
  return read_layers_of_kind(config, layers, "conv", [&](std::int64_t layer) {
    return !list.is_null() && std::ranges::find(list, nlohmann::json(layer)) == list.end();
  });
}

ShortConvSpec short_conv(const std::string& base, std::int64_t hidden, std::int64_t width, bool bias) {
  ShortConvSpec mixer;
  mixer.in = linear(base + "in_proj", 3 * hidden, hidden, bias);
  mixer.out = linear(base + "out_proj", hidden, hidden, bias);
  mixer.conv = causal_conv(base + "conv", hidden, width, bias);
  return mixer;
}

Result<void> change_lfm2(ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
  const std::int64_t hidden = llama.sizes.hidden;
  // Published configs say how the weights were drawn, and the sizes twice.
  for (const char* known : {"block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init",
                            "conv_use_xavier_init", "block_norm_eps", "block_use_swiglu", "block_dim", "conv_dim",
                            "conv_dim_out", "num_heads", "use_pos_enc", "theta"})
    (void)config.raw(known);
  HEADROOM_TRY(const std::int64_t inner, read_inner(config, llama.sizes.inner));
  HEADROOM_TRY(const std::int64_t width, config.integer("conv_L_cache", 3, 1, 1 << 16));
  HEADROOM_TRY(const bool bias, config.boolean("conv_bias", false));
  HEADROOM_TRY(const std::vector<bool> convolves, read_conv_layers(config, llama.sizes.layers));
  model.final_norm = rms_norm(llama.prefix + "embedding_norm.weight", hidden, llama.epsilon);
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    const std::string base = llama.layer(layer);
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    block.attention_branch.before = rms_norm(base + "operator_norm.weight", hidden, llama.epsilon);
    block.mlp_branch.before = rms_norm(base + "ffn_norm.weight", hidden, llama.epsilon);
    block.mlp.activation = Activation::Silu;
    block.mlp.gate = linear(base + "feed_forward.w1", inner, hidden, false);
    block.mlp.up = linear(base + "feed_forward.w3", inner, hidden, false);
    block.mlp.down = linear(base + "feed_forward.w2", hidden, inner, false);
    if (convolves[static_cast<std::size_t>(layer)]) {
      use_mixer(block, {short_conv(base + "conv.", hidden, width, bias)});
      continue;
    }
    use_projections(block.attention, base + "self_attn.", "out_proj", hidden, false, false);
    block.attention.qk_norm = QkNormScope::PerHead;
    block.attention.q_norm = rms_norm(base + "self_attn.q_layernorm.weight", llama.sizes.head_dim, llama.epsilon);
    block.attention.k_norm = rms_norm(base + "self_attn.k_layernorm.weight", llama.sizes.head_dim, llama.epsilon);
  }
  return {};
}

Result<ModelSpec> translate_lfm2(const ModelSource& source) {
  ConfigReader config(source.config());
  HEADROOM_TRY(const bool tied, config.boolean("tie_embedding", true));
  HEADROOM_TRY(const bool says_tied, config.boolean("tie_word_embeddings", tied));
  if (tied != says_tied && config.has("tie_embedding"))
    return refuse_config("the config says two things about the embedding", "tie_word_embeddings",
                         tied ? "true, as tie_embedding" : "false, as tie_embedding", says_tied ? "true" : "false");
  return translate_llama_relative(
      source, {.epsilon_key = "norm_eps", .epsilon = 1e-5, .bias_key = {}, .tied = tied, .rope = {.theta = 1000000.0}},
      [](ConfigReader& rest, const LlamaConfig& llama, ModelSpec& model) {
        (void)rest.raw("tie_embedding");
        return change_lfm2(rest, llama, model);
      });
}

// clang-format off
constexpr std::array kLfm2Tensors = std::to_array<GgufTensor>({
    {"token_embd_norm", "model.embedding_norm"},  // in older files
    {"output_norm", "model.embedding_norm"},
    {"blk.#.attn_norm", "model.layers.#.operator_norm"},
    {"blk.#.attn_q_norm", "model.layers.#.self_attn.q_layernorm"},
    {"blk.#.attn_k_norm", "model.layers.#.self_attn.k_layernorm"},
    {"blk.#.attn_output", "model.layers.#.self_attn.out_proj"},
    {"blk.#.shortconv.in_proj", "model.layers.#.conv.in_proj"},
    {"blk.#.shortconv.conv", "model.layers.#.conv.conv", GgufRows::Kernels},
    {"blk.#.shortconv.out_proj", "model.layers.#.conv.out_proj"},
    {"blk.#.ffn_norm", "model.layers.#.ffn_norm"},
    {"blk.#.ffn_gate", "model.layers.#.feed_forward.w1"},
    {"blk.#.ffn_up", "model.layers.#.feed_forward.w3"},
    {"blk.#.ffn_down", "model.layers.#.feed_forward.w2"},
});
constexpr std::array kLfm2Keys = std::to_array<GgufKey>({
    {"shortconv.l_cache", "conv_L_cache", true},
    {"attention.layer_norm_rms_epsilon", "norm_eps", true},
    {"attention.head_count_kv", "", true},
});
// feed_forward_length is what it comes to.
constexpr std::array kLfm2Constants = std::to_array<GgufConstant>({
    {"block_auto_adjust_ff_dim", "false"},
});
// clang-format on

// head_count_kv is a list, 0 where a layer convolves.
Result<void> finish_lfm2(const GgufMetadata& metadata, nlohmann::json& config) {
  const nlohmann::json& counts = metadata.at("attention.head_count_kv");
  if (!counts.is_array()) {
    config["num_key_value_heads"] = counts;
    return {};
  }
  for (const nlohmann::json& count : counts) {
    config["layer_types"].push_back(count == 0 ? "conv" : "full_attention");
    if (count != 0) config["num_key_value_heads"] = count;
  }
  return {};
}

constexpr GgufNames kLfm2Gguf{.architectures = {"lfm2"},
                              .tensors = kLfm2Tensors,
                              .keys = kLfm2Keys,
                              .flags = {},
                              .constants = kLfm2Constants,
                              .finish = finish_lfm2};

}  // namespace

extern constinit const Family kFamily_lfm2{"lfm2", "LFM2: short convolutions, attention in some layers", translate_lfm2,
                                           &kLfm2Gguf};

}  // namespace headroom
