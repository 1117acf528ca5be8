#include "core/model/llama_parts.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace headroom {

Result<LlamaConfig> read_llama_config(const ModelSource& source, ConfigReader& config, const LlamaDefaults& defaults) {
  LlamaConfig llama;
  llama.prefix = llama_prefix(source);
  HEADROOM_TRY(llama.sizes, read_sizes(config, {.default_head_dim = defaults.head_dim}));
  HEADROOM_TRY(llama.epsilon, config.norm_epsilon(defaults.epsilon_key, defaults.epsilon));
  if (!defaults.bias_key.empty()) {
    HEADROOM_TRY(llama.attention_bias, config.boolean(defaults.bias_key, defaults.bias));
  }
  HEADROOM_TRY(llama.activation, read_activation(config, defaults.activation_key, defaults.activation));
  if (defaults.rotates) {
    HEADROOM_TRY(llama.rope, read_rope(config, defaults.rope, llama.sizes.head_dim, llama.sizes.max_positions));
  }
  return llama;
}

std::string LlamaConfig::layer(std::int64_t layer) const { return layer_prefix(prefix, layer); }

BlockSpec llama_block(const LlamaConfig& llama, const std::string& base) {
  const DecoderSizes& sizes = llama.sizes;
  BlockSpec block;
  block.attention_branch.before = rms_norm(base + "input_layernorm.weight", sizes.hidden, llama.epsilon);
  block.mlp_branch.before = rms_norm(base + "post_attention_layernorm.weight", sizes.hidden, llama.epsilon);
  block.mlp = gated_mlp(base + "mlp.", sizes.hidden, sizes.inner, llama.activation, llama.mlp_bias);
  block.attention = grouped_attention(sizes, llama.rope);
  use_projections(block.attention, base + "self_attn.", "o_proj", sizes.hidden, llama.attention_bias,
                  llama.attention_bias);
  return block;
}

std::string layer_prefix(const std::string& prefix, std::int64_t layer) {
  return prefix + "layers." + std::to_string(layer) + ".";
}

Result<void> read_llama_frame(const ModelSource& source, ConfigReader& config, const DecoderSizes& sizes,
                              const std::string& prefix, double epsilon, ModelSpec& model, bool tied,
                              std::string_view lm_head) {
  constexpr std::string_view kPlain = "lm_head.weight", kInside = "language_model.lm_head.weight";
  if (lm_head.empty()) lm_head = source.find(kInside) ? kInside : kPlain;
  fill_sizes(model, sizes);
  model.embedding = matrix(prefix + "embed_tokens.weight", sizes.vocab, sizes.hidden);
  model.final_norm = rms_norm(prefix + "norm.weight", sizes.hidden, epsilon);
  HEADROOM_TRY(const bool says_tied, config.boolean("tie_word_embeddings", tied));
  model.tied = says_tied || (source.has_weights() && !source.find(lm_head));
  if (model.tied && !says_tied)
    model.warnings.push_back("the file has no " + std::string(lm_head) +
                             ": the embedding is used for the logits (tied)");
  model.lm_head.weight = model.tied ? model.embedding : matrix(std::string(lm_head), sizes.vocab, sizes.hidden);
  if (config.raw("bos_token_id").is_number_integer())
    model.bos_token_id = config.raw("bos_token_id").get<std::int64_t>();
  return {};
}

std::string llama_prefix(const ModelSource& source) {
  for (const char* prefix : {"model.", "", "model.language_model.", "language_model.model.", "language_model."})
    if (source.find(std::string(prefix) + "embed_tokens.weight")) return prefix;
  return "model.";
}

Result<ModelSpec> translate_llama_relative(const ModelSource& source, const LlamaDefaults& defaults,
                                           const LlamaChange& change) {
  const nlohmann::json* described = &source.config();
  bool tied = defaults.tied;
  if (!defaults.part.empty()) {
    ConfigReader whole(source.config());
    described = &whole.raw(defaults.part);
    if (!described->is_object())
      return refuse_config("the config does not describe its decoder", defaults.part, "an object",
                           described->type_name());
    HEADROOM_TRY(tied, whole.boolean("tie_word_embeddings", tied));
  }
  ConfigReader config(*described, defaults.part.empty() ? "" : std::string(defaults.part) + ".");
  HEADROOM_TRY(const LlamaConfig llama, read_llama_config(source, config, defaults));
  ModelSpec model;
  HEADROOM_TRY_VOID(read_llama_frame(source, config, llama.sizes, llama.prefix, llama.epsilon, model, tied));
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer)
    model.blocks.push_back(llama_block(llama, llama.layer(layer)));
  HEADROOM_TRY_VOID(change(config, llama, model));
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

namespace {

// NAME.weight → NAME.bias.
std::string bias_name(const WeightRef& weight) {
  constexpr std::string_view kWeight = "weight";
  return weight.tensor.substr(0, weight.tensor.size() - kWeight.size()) + "bias";
}

}  // namespace

void use_layer_norms(ModelSpec& model, bool bias) {
  change_norms(model, [bias](NormSpec& norm) {
    norm.kind = NormKind::Layer;
    if (bias) norm.bias = vector(bias_name(norm.weight), norm.weight.rows());
  });
}

void move_norms_behind(BlockSpec& block, const std::string& base, std::int64_t hidden, double epsilon) {
  block.attention_branch.before = block.mlp_branch.before = {};
  block.attention_branch.after = rms_norm(base + "post_attention_layernorm.weight", hidden, epsilon);
  block.mlp_branch.after = rms_norm(base + "post_feedforward_layernorm.weight", hidden, epsilon);
}

void add_bias(LinearSpec& linear) { linear.bias = vector(bias_name(linear.weight), linear.weight.rows()); }

void add_mlp_bias(ModelSpec& model) {
  for (BlockSpec& block : model.blocks)
    for (LinearSpec* linear : {&block.mlp.gate, &block.mlp.up, &block.mlp.down}) add_bias(*linear);
}

void fuse_qkv(BlockSpec& block, const std::string& name, const DecoderSizes& sizes) {
  const std::int64_t q_rows = sizes.heads * sizes.head_dim, kv_rows = sizes.kv_heads * sizes.head_dim;
  const std::int64_t all = q_rows + 2 * kv_rows;
  AttentionSpec& attention = block.attention;
  const bool bias = attention.q.bias.present();
  attention.q = linear_rows(name, all, sizes.hidden, {0, q_rows}, bias);
  attention.k = linear_rows(name, all, sizes.hidden, {q_rows, kv_rows}, bias);
  attention.v = linear_rows(name, all, sizes.hidden, {q_rows + kv_rows, kv_rows}, bias);
}

void fuse_gate_and_up(BlockSpec& block, const std::string& name, const DecoderSizes& sizes) {
  block.mlp.gate = linear_rows(name, 2 * sizes.inner, sizes.hidden, {0, sizes.inner}, false);
  block.mlp.up = linear_rows(name, 2 * sizes.inner, sizes.hidden, {sizes.inner, sizes.inner}, false);
}

void add_qk_norm(BlockSpec& block, const std::string& base, QkNormScope scope, double epsilon) {
  AttentionSpec& attention = block.attention;
  attention.qk_norm = scope;
  const bool whole = scope == QkNormScope::Whole;
  const auto size = [&](std::int64_t blocks) { return whole ? blocks * attention.head_dim : attention.head_dim; };
  attention.q_norm = rms_norm(base + "self_attn.q_norm.weight", size(attention.num_query_blocks), epsilon);
  attention.k_norm = rms_norm(base + "self_attn.k_norm.weight", size(attention.num_key_blocks), epsilon);
}

Result<std::int64_t> read_window(ConfigReader& config, std::int64_t fallback) {
  const bool null = config.mentions("sliding_window") && !config.has("sliding_window");
  return config.integer("sliding_window", null ? 0 : fallback, null ? 0 : 1, std::int64_t{1} << 40);
}

Result<std::vector<bool>> read_sliding_layers(ConfigReader& config, std::int64_t layers,
                                              const std::function<bool(std::int64_t)>& slides) {
  return read_layers_of_kind(config, layers, "sliding_attention", slides);
}

Result<std::vector<bool>> read_layers_of_kind(ConfigReader& config, std::int64_t layers, std::string_view name,
                                              const std::function<bool(std::int64_t)>& otherwise) {
  std::vector<bool> of_kind(static_cast<std::size_t>(layers));
  const nlohmann::json& types = config.raw("layer_types");
  if (types.is_null()) {
    for (std::int64_t layer = 0; layer < layers; ++layer) of_kind[static_cast<std::size_t>(layer)] = otherwise(layer);
    return of_kind;
  }
  if (!types.is_array() || types.size() != of_kind.size())
    return refuse_config("layer_types does not describe every layer", "layer_types",
                         "a list of " + std::to_string(layers),
                         types.is_array() ? std::to_string(types.size()) : types.type_name());
  for (std::size_t layer = 0; layer < of_kind.size(); ++layer) {
    const std::string type = types[layer].is_string() ? types[layer].get<std::string>() : types[layer].dump();
    if (type != name && type != "full_attention") {
      Error error(ErrorCode::Unsupported, "a kind of layer that this family does not have");
      error.at_tensor("layer_types[" + std::to_string(layer) + "]");
      return error.wanted(std::string(name) + " or full_attention", type);
    }
    of_kind[layer] = type == name;
  }
  return of_kind;
}

Result<std::vector<bool>> read_rotating_layers(ConfigReader& config, std::int64_t layers) {
  HEADROOM_TRY(const std::int64_t interval, config.integer("no_rope_layer_interval", 4, 1, 1 << 20));
  HEADROOM_TRY(const std::vector<double> given, config.numbers("no_rope_layers"));
  if (!given.empty() && static_cast<std::int64_t>(given.size()) < layers)
    return refuse_config("not every layer is said to rotate or not", "no_rope_layers",
                         std::to_string(layers) + " numbers", std::to_string(given.size()));
  std::vector<bool> rotates(static_cast<std::size_t>(layers));
  for (std::size_t layer = 0; layer < rotates.size(); ++layer)
    rotates[layer] = given.empty() ? (static_cast<std::int64_t>(layer) + 1) % interval != 0 : given[layer] != 0.0;
  return rotates;
}

std::function<bool(std::int64_t)> all_but_each(std::int64_t pattern) {
  return [pattern](std::int64_t layer) { return (layer + 1) % pattern != 0; };
}

void set_windows(ModelSpec& model, const std::vector<bool>& sliding, std::int64_t window) {
  for (std::size_t layer = 0; layer < sliding.size(); ++layer)
    if (sliding[layer]) model.blocks[layer].attention.window = window;
}

}  // namespace headroom
