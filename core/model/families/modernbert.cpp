// ModernBERT (Warner et al. 2024, arXiv 2412.13663; core/model/ARCHITECTURES.md#encoders): norms before the branches,
// rotation, gated MLP, windows on both sides in all but every third layer.
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/model/encoder_parts.h"
#include "core/model/family.h"
#include "core/model/gguf_config.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

struct Options {
  DecoderSizes sizes;
  double epsilon = 1e-5;
  bool norm_bias = false, attention_bias = false, mlp_bias = false;
  Activation activation = Activation::Gelu;
  LayerRopes ropes;
  std::int64_t window = 0;
  std::vector<bool> sliding;

  [[nodiscard]] NormSpec norm(const std::string& name) const {
    NormSpec spec = layer_norm(name, sizes.hidden, epsilon);
    if (!norm_bias) spec.bias = {};
    return spec;
  }
};

Result<Options> read_options(ConfigReader& config) {
  Options options;
  HEADROOM_TRY(options.sizes, read_sizes(config, {.kv_heads = {}, .head_dim = {}, .default_positions = 8192}));
  HEADROOM_TRY(options.epsilon, config.norm_epsilon("norm_eps", 1e-5));
  HEADROOM_TRY(options.norm_bias, config.boolean("norm_bias", false));
  HEADROOM_TRY(options.attention_bias, config.boolean("attention_bias", false));
  HEADROOM_TRY(options.mlp_bias, config.boolean("mlp_bias", false));
  HEADROOM_TRY(options.activation, read_activation(config, "hidden_activation", "gelu"));
  if (config.has("rope_scaling")) {
    Error error(ErrorCode::Unsupported, "a scaling of both rotations, in the spelling of old files");
    error.at_tensor("rope_scaling").wanted("rope_parameters by kind of layer, or none", "rope_scaling");
    return error;
  }
  HEADROOM_TRY(options.ropes, read_layer_ropes(config, {.theta = 160000.0, .theta_key = "global_rope_theta"},
                                               {.theta = 10000.0, .theta_key = "local_rope_theta"},
                                               options.sizes.head_dim, options.sizes.max_positions));
  (void)config.raw("global_rope_theta");
  HEADROOM_TRY(const std::int64_t local, config.integer("local_attention", 128, 2, std::int64_t{1} << 40));
  options.window = local / 2 + 1;  // |i − j| ≤ local_attention / 2
  HEADROOM_TRY(const std::int64_t every, config.integer("global_attn_every_n_layers", 3, 1, 4096));
  HEADROOM_TRY(options.sliding, read_sliding_layers(config, options.sizes.layers,
                                                    [every](std::int64_t layer) { return layer % every != 0; }));
  for (const char* key : {"classifier_dropout", "classifier_pooling", "embedding_dropout", "mlp_dropout",
                          "deterministic_flash_attn", "sparse_prediction", "sparse_pred_ignore_index",
                          "reference_compile", "repad_logits_with_grad", "layer_norm_eps"})
    (void)config.raw(key);
  return options;
}

BlockSpec block_of(const Options& options, const std::string& prefix, std::int64_t layer) {
  const DecoderSizes& sizes = options.sizes;
  const std::string base = layer_prefix(prefix, layer);
  const bool slides = options.sliding[static_cast<std::size_t>(layer)];
  BlockSpec block;
  if (layer > 0) block.attention_branch.before = options.norm(base + "attn_norm");
  block.attention = grouped_attention(sizes, slides ? options.ropes.sliding : options.ropes.full);
  block.attention.causal = false;
  if (slides) block.attention.window = options.window;
  const auto third = [&](std::int64_t i) {
    return linear_rows(base + "attn.Wqkv", 3 * sizes.hidden, sizes.hidden, {i * sizes.hidden, sizes.hidden},
                       options.attention_bias);
  };
  block.attention.q = third(0);
  block.attention.k = third(1);
  block.attention.v = third(2);
  block.attention.o = linear(base + "attn.Wo", sizes.hidden, sizes.hidden, options.attention_bias);
  block.mlp_branch.before = options.norm(base + "mlp_norm");
  const auto half = [&](std::int64_t i) {
    return linear_rows(base + "mlp.Wi", 2 * sizes.inner, sizes.hidden, {i * sizes.inner, sizes.inner},
                       options.mlp_bias);
  };
  block.mlp.kind = MlpKind::Gated;
  block.mlp.activation = options.activation;
  block.mlp.gate = half(0);
  block.mlp.up = half(1);
  block.mlp.down = linear(base + "mlp.Wo", sizes.hidden, sizes.inner, options.mlp_bias);
  return block;
}

// The head has no biases unless the config asks for them.
Result<void> add_head(ConfigReader& config, const ModelSource& source, const Options& options, ModelSpec& model) {
  HEADROOM_TRY(const bool dense_bias, config.boolean("classifier_bias", false));
  HEADROOM_TRY(const bool output_bias, config.boolean("decoder_bias", true));
  HEADROOM_TRY(const Activation activation, read_activation(config, "classifier_activation", "gelu"));
  HEADROOM_TRY_VOID(add_masked_head(
      config, source, {.dense = "head.dense", .norm = "head.norm", .output = "decoder", .bias = "decoder.bias"},
      options.sizes.hidden, options.sizes.hidden, activation, options.epsilon, model));
  if (!dense_bias) model.head_transform.dense.bias = {};
  if (!options.norm_bias) model.head_transform.norm.bias = {};
  if (!output_bias) model.lm_head.bias = {};
  return {};
}

Result<ModelSpec> translate_modernbert(const ModelSource& source) {
  ConfigReader config(source.config());
  HEADROOM_TRY(const Options options, read_options(config));
  ModelSpec model;
  fill_sizes(model, options.sizes);
  const std::string prefix = encoder_prefix(source, "model.", "embeddings.tok_embeddings.weight");
  model.embedding = matrix(prefix + "embeddings.tok_embeddings.weight", options.sizes.vocab, options.sizes.hidden);
  model.embedding_norm = options.norm(prefix + "embeddings.norm");
  for (std::int64_t layer = 0; layer < options.sizes.layers; ++layer)
    model.blocks.push_back(block_of(options, prefix, layer));
  model.final_norm = options.norm(prefix + "final_norm");
  model.set_aside = {"classifier."};
  HEADROOM_TRY_VOID(add_head(config, source, options, model));
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

constexpr auto kModernbertGgufTensors = std::to_array<GgufTensor>({
    {"token_embd", "embeddings.tok_embeddings"},
    {"token_embd_norm", "embeddings.norm"},
    {"output_norm", "final_norm"},
    {"blk.#.attn_norm", "layers.#.attn_norm"},
    {"blk.#.attn_qkv", "layers.#.attn.Wqkv"},
    {"blk.#.attn_output", "layers.#.attn.Wo"},
    {"blk.#.ffn_norm", "layers.#.mlp_norm"},
    {"blk.#.ffn_up", "layers.#.mlp.Wi"},
    {"blk.#.ffn_down", "layers.#.mlp.Wo"},
    {"cls", "classifier.dense"},
    {"cls.norm", "classifier.norm"},
    {"cls.output", "classifier.out_proj"},
});
constexpr auto kModernbertGgufKeys =
    gguf_joined(kGgufEncoderKeys, std::to_array<GgufKey>({
                                      {"attention.layer_norm_epsilon", "norm_eps", true},
                                      {"attention.layer_norm_rms_epsilon", ""},
                                      {"attention.sliding_window", "local_attention"},
                                      {"hidden_activation", "hidden_activation"},
                                  }));
constexpr auto kModernbertGgufFlags = std::to_array<GgufFlag>({
    {"output_norm.bias", "norm_bias"},
    {"attn_qkv.bias", "attention_bias"},
    {"ffn_up.bias", "mlp_bias"},
});

Result<void> finish_modernbert_gguf(const GgufMetadata& metadata, nlohmann::json& config) {
  config.erase("use_bidirectional_attention");
  config.erase("sliding_window");
  config.erase("sliding_window_pattern");
  const nlohmann::json& pattern = metadata.at("attention.sliding_window_pattern");
  if (pattern.is_number_integer()) config["global_attn_every_n_layers"] = pattern;
  if (pattern.is_array())
    for (const nlohmann::json& slides : pattern)
      config["layer_types"].push_back(slides == true || slides == 1 ? "sliding_attention" : "full_attention");
  return {};
}

constexpr GgufNames kModernbertGguf{.architectures = {"modern-bert"},
                                    .tensors = kModernbertGgufTensors,
                                    .keys = kModernbertGgufKeys,
                                    .flags = kModernbertGgufFlags,
                                    .ropes_by_kind = true,
                                    .sliding_theta = 10000.0,
                                    .finish = finish_modernbert_gguf};

}  // namespace

extern constinit const Family kFamily_modernbert{"modernbert", "ModernBERT: rotation, windows on both sides",
                                                 translate_modernbert, &kModernbertGguf};

}  // namespace headroom
