#include "core/model/decoder_parts.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr std::int64_t kMaxLayers = 4096;
constexpr std::int64_t kMaxHidden = 1 << 20;
constexpr std::int64_t kMaxHeads = 65536;
constexpr std::int64_t kMaxHeadDim = 65536;
constexpr std::int64_t kMaxVocab = 1 << 26;
constexpr std::int64_t kMaxPositions = std::int64_t{1} << 40;

Error refuse(std::string message, const std::string& field, const std::string& expected, const std::string& found) {
  Error error(ErrorCode::Corrupt, std::move(message));
  error.at_tensor(field).wanted(expected, found);
  return error;
}

}  // namespace

Result<DecoderSizes> read_sizes(ConfigReader& config, std::int64_t inner_minimum) {
  DecoderSizes sizes;
  HEADROOM_TRY(sizes.layers, config.integer("num_hidden_layers", std::nullopt, 1, kMaxLayers));
  HEADROOM_TRY(sizes.hidden, config.integer("hidden_size", std::nullopt, 1, kMaxHidden));
  HEADROOM_TRY(sizes.inner, config.integer("intermediate_size", std::nullopt, inner_minimum, kMaxHidden * 16));
  HEADROOM_TRY(sizes.heads, config.integer("num_attention_heads", std::nullopt, 1, kMaxHeads));
  HEADROOM_TRY(sizes.kv_heads, config.integer("num_key_value_heads", sizes.heads, 1, kMaxHeads));
  HEADROOM_TRY(sizes.vocab, config.integer("vocab_size", std::nullopt, 1, kMaxVocab));
  HEADROOM_TRY(sizes.max_positions, config.integer("max_position_embeddings", 2048, 1, kMaxPositions));
  if (sizes.heads % sizes.kv_heads != 0)
    return refuse("query heads do not divide into groups of key heads", "num_key_value_heads",
                  "a divisor of num_attention_heads = " + std::to_string(sizes.heads), std::to_string(sizes.kv_heads));
  if (!config.has("head_dim") && sizes.hidden % sizes.heads != 0)
    return refuse("hidden_size does not divide among the heads and there is no head_dim", "num_attention_heads",
                  "a divisor of hidden_size = " + std::to_string(sizes.hidden), std::to_string(sizes.heads));
  HEADROOM_TRY(sizes.head_dim, config.integer("head_dim", sizes.hidden / sizes.heads, 1, kMaxHeadDim));
  if (sizes.head_dim * sizes.heads > kMaxHidden * 16)
    return refuse("the query projection would be absurdly large", "head_dim", "a smaller number",
                  std::to_string(sizes.head_dim));
  return sizes;
}

WeightRef matrix(std::string name, std::int64_t out, std::int64_t in) {
  WeightRef weight;
  weight.tensor = std::move(name);
  weight.stored_shape = {out, in};
  return weight;
}

WeightRef vector(std::string name, std::int64_t size) {
  WeightRef weight;
  weight.tensor = std::move(name);
  weight.stored_shape = {size};
  return weight;
}

LinearSpec linear(const std::string& prefix, std::int64_t out, std::int64_t in, bool bias) {
  LinearSpec spec{matrix(prefix + ".weight", out, in), {}};
  if (bias) spec.bias = vector(prefix + ".bias", out);
  return spec;
}

NormSpec rms_norm(const std::string& name, std::int64_t size, double epsilon) {
  NormSpec norm;
  norm.kind = NormKind::Rms;
  norm.weight = vector(name, size);
  norm.epsilon = epsilon;
  return norm;
}

NormSpec layer_norm(const std::string& prefix, std::int64_t size, double epsilon) {
  NormSpec norm;
  norm.kind = NormKind::Layer;
  norm.weight = vector(prefix + ".weight", size);
  norm.bias = vector(prefix + ".bias", size);
  norm.epsilon = epsilon;
  return norm;
}

MlpSpec gated_mlp(const std::string& prefix, std::int64_t hidden, std::int64_t inner, Activation activation,
                  bool bias) {
  MlpSpec mlp;
  mlp.kind = MlpKind::Gated;
  mlp.activation = activation;
  mlp.gate = linear(prefix + "gate_proj", inner, hidden, bias);
  mlp.up = linear(prefix + "up_proj", inner, hidden, bias);
  mlp.down = linear(prefix + "down_proj", hidden, inner, bias);
  return mlp;
}

Result<Activation> read_activation(ConfigReader& config, std::string_view key, std::string_view fallback) {
  HEADROOM_TRY(const std::string name, config.text(key, std::string(fallback)));
  if (name == "silu" || name == "swish") return Activation::Silu;
  if (name == "gelu") return Activation::Gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_tanh") return Activation::GeluTanh;
  if (name == "quick_gelu") return Activation::QuickGelu;
  if (name == "relu") return Activation::Relu;
  Error error(ErrorCode::Unsupported, "unknown activation function");
  error.at_tensor(key).wanted("silu, gelu, gelu_new, quick_gelu or relu", name);
  return error;
}

namespace {

Result<RopeScaling> read_scaling(const nlohmann::json& object, const std::string& scope, double max_positions,
                                 std::int64_t rotary_dim) {
  RopeScaling scaling;
  if (object.is_null()) return scaling;
  if (!object.is_object()) return refuse("rope scaling is not an object", scope, "an object", object.type_name());
  ConfigReader config(object, scope + ".");
  HEADROOM_TRY(const std::string old_name, config.text("type", "default"));
  HEADROOM_TRY(const std::string name, config.text("rope_type", old_name));
  (void)config.raw("rope_theta");
  std::vector<std::string> ignored;
  if (name == "default" || name == "none") {
    HEADROOM_TRY_VOID(config.check_unread(true, ignored));
    return scaling;
  }
  if (name == "linear")
    scaling.kind = RopeScalingKind::Linear;
  else if (name == "dynamic")
    scaling.kind = RopeScalingKind::Dynamic;
  else if (name == "llama3")
    scaling.kind = RopeScalingKind::Llama3;
  else if (name == "yarn")
    scaling.kind = RopeScalingKind::Yarn;
  else if (name == "longrope" || name == "su")
    scaling.kind = RopeScalingKind::LongRope;
  else {
    Error error(ErrorCode::Unsupported, "unknown rope scaling");
    error.at_tensor(scope + ".rope_type").wanted("default, linear, dynamic, llama3, yarn or longrope", name);
    return error;
  }
  HEADROOM_TRY(scaling.original_max_positions, config.number("original_max_position_embeddings", max_positions));
  const bool longrope = scaling.kind == RopeScalingKind::LongRope;
  const double reach = max_positions / scaling.original_max_positions;
  HEADROOM_TRY(
      scaling.factor,
      config.number("factor", longrope || scaling.kind == RopeScalingKind::Yarn ? std::optional(reach) : std::nullopt));
  HEADROOM_TRY(scaling.low_freq_factor, config.number("low_freq_factor", 1.0));
  HEADROOM_TRY(scaling.high_freq_factor, config.number("high_freq_factor", 4.0));
  HEADROOM_TRY(scaling.beta_fast, config.number("beta_fast", 32.0));
  HEADROOM_TRY(scaling.beta_slow, config.number("beta_slow", 1.0));
  HEADROOM_TRY(scaling.truncate, config.boolean("truncate", true));
  HEADROOM_TRY(scaling.mscale, config.number("mscale", 0.0));
  HEADROOM_TRY(scaling.mscale_all_dim, config.number("mscale_all_dim", 0.0));
  HEADROOM_TRY(scaling.attention_factor, config.number("attention_factor", 0.0));
  HEADROOM_TRY(scaling.short_factor, config.numbers("short_factor"));
  HEADROOM_TRY(scaling.long_factor, config.numbers("long_factor"));
  HEADROOM_TRY_VOID(config.check_unread(true, ignored));
  if (!(scaling.factor > 0.0))
    return refuse("rope scaling needs a positive factor", scope + ".factor", "> 0", format("%g", scaling.factor));
  if (!(scaling.original_max_positions > 0.0))
    return refuse("rope scaling needs a positive original length", scope + ".original_max_position_embeddings", "> 0",
                  format("%g", scaling.original_max_positions));
  if (longrope)
    for (const auto* factors : {&scaling.short_factor, &scaling.long_factor})
      if (static_cast<std::int64_t>(factors->size()) != rotary_dim / 2)
        return refuse("longrope needs one factor per pair of channels", scope + ".short_factor, long_factor",
                      std::to_string(rotary_dim / 2), std::to_string(factors->size()));
  return scaling;
}

}  // namespace

Result<RopeSpec> read_rope(ConfigReader& config, RopeLayout layout, std::int64_t rotary_dim,
                           std::int64_t max_positions) {
  RopeSpec rope;
  rope.layout = layout;
  rope.rotary_dim = rotary_dim;
  rope.max_positions = static_cast<double>(max_positions);
  if (rotary_dim % 2 != 0)
    return refuse("rotary embedding needs an even number of channels", "head_dim", "an even number",
                  std::to_string(rotary_dim));
  const bool newer = config.has("rope_parameters");
  const nlohmann::json& parameters = config.raw("rope_parameters");
  const nlohmann::json& older = config.raw("rope_scaling");
  if (newer && older.is_object() && !older.empty()) {
    Error error(ErrorCode::Unsupported,
                "two descriptions of the rotary embedding, of which readers take different ones");
    error.at_tensor("rope_parameters, rope_scaling").wanted("one of them", "both");
    return error;
  }
  HEADROOM_TRY(rope.theta, config.number("rope_theta", 10000.0));
  if (newer && parameters.is_object()) {
    ConfigReader nested(parameters, "rope_parameters.");
    HEADROOM_TRY(rope.theta, nested.number("rope_theta", rope.theta));
  }
  if (!(rope.theta > 1.0)) return refuse("rope_theta is out of range", "rope_theta", "> 1", format("%g", rope.theta));
  HEADROOM_TRY(rope.scaling, read_scaling(newer ? parameters : older, newer ? "rope_parameters" : "rope_scaling",
                                          rope.max_positions, rotary_dim));
  HEADROOM_TRY(rope.frequency_divisors, config.numbers("rope_frequency_divisors"));
  if (!rope.frequency_divisors.empty() && static_cast<std::int64_t>(rope.frequency_divisors.size()) != rotary_dim / 2)
    return refuse("rope_freqs has the wrong length", "rope_freqs.weight", std::to_string(rotary_dim / 2),
                  std::to_string(rope.frequency_divisors.size()));
  for (const double divisor : rope.frequency_divisors)
    if (!(divisor > 0.0) || !std::isfinite(divisor))
      return refuse("rope_freqs divides a frequency by a useless number", "rope_freqs.weight", "> 0 and finite",
                    format("%g", divisor));
  return rope;
}

std::vector<HeadProgram> grouped_heads(std::int64_t heads, std::int64_t kv_heads) {
  std::vector<HeadProgram> programs(static_cast<std::size_t>(heads));
  for (std::int64_t i = 0; i < heads; ++i) {
    const std::int64_t group = i / (heads / kv_heads);
    programs[static_cast<std::size_t>(i)].first = {i, group, {group}};
  }
  return programs;
}

double lambda_init(std::int64_t depth) { return 0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(depth)); }

Result<LlamaConfig> read_llama_config(ConfigReader& config, double default_epsilon) {
  LlamaConfig llama;
  HEADROOM_TRY(llama.sizes, read_sizes(config));
  HEADROOM_TRY(llama.epsilon, config.norm_epsilon("rms_norm_eps", default_epsilon));
  HEADROOM_TRY(llama.attention_bias, config.boolean("attention_bias", false));
  HEADROOM_TRY(llama.activation, read_activation(config, "hidden_act", "silu"));
  HEADROOM_TRY(llama.rope, read_rope(config, RopeLayout::HalfSplit, llama.sizes.head_dim, llama.sizes.max_positions));
  return llama;
}

BlockSpec llama_block(const LlamaConfig& llama, const std::string& base) {
  const DecoderSizes& sizes = llama.sizes;
  const std::int64_t q_rows = sizes.heads * sizes.head_dim;
  const std::int64_t kv_rows = sizes.kv_heads * sizes.head_dim;
  BlockSpec block;
  block.attention_branch.before = rms_norm(base + "input_layernorm.weight", sizes.hidden, llama.epsilon);
  block.mlp_branch.before = rms_norm(base + "post_attention_layernorm.weight", sizes.hidden, llama.epsilon);
  block.mlp = gated_mlp(base + "mlp.", sizes.hidden, sizes.inner, llama.activation, llama.mlp_bias);
  AttentionSpec& attention = block.attention;
  attention.kind = "softmax";
  attention.head_dim = attention.value_dim = sizes.head_dim;
  attention.num_query_blocks = sizes.heads;
  attention.num_key_blocks = attention.num_value_blocks = sizes.kv_heads;
  attention.q = linear(base + "self_attn.q_proj", q_rows, sizes.hidden, llama.attention_bias);
  attention.k = linear(base + "self_attn.k_proj", kv_rows, sizes.hidden, llama.attention_bias);
  attention.v = linear(base + "self_attn.v_proj", kv_rows, sizes.hidden, llama.attention_bias);
  attention.o = linear(base + "self_attn.o_proj", sizes.hidden, q_rows, llama.attention_bias);
  attention.rope = llama.rope;
  attention.scale = 1.0 / std::sqrt(static_cast<double>(sizes.head_dim));
  attention.heads = grouped_heads(sizes.heads, sizes.kv_heads);
  return block;
}

std::string layer_prefix(const std::string& prefix, std::int64_t layer) {
  return prefix + "layers." + std::to_string(layer) + ".";
}

Result<void> read_llama_frame(const ModelSource& source, ConfigReader& config, const DecoderSizes& sizes,
                              const std::string& prefix, double epsilon, ModelSpec& model) {
  model.vocab_size = sizes.vocab;
  model.hidden_size = sizes.hidden;
  model.max_positions = sizes.max_positions;
  model.num_kv_heads = sizes.kv_heads;
  model.embedding = matrix(prefix + "embed_tokens.weight", sizes.vocab, sizes.hidden);
  model.final_norm = rms_norm(prefix + "norm.weight", sizes.hidden, epsilon);
  HEADROOM_TRY(const bool tied, config.boolean("tie_word_embeddings", false));
  model.tied = tied || (source.has_weights() && !source.find("lm_head.weight"));
  if (model.tied && !tied)
    model.warnings.push_back("the file has no lm_head.weight: the embedding is used for the logits (tied)");
  model.lm_head.weight = model.tied ? model.embedding : matrix("lm_head.weight", sizes.vocab, sizes.hidden);
  if (config.raw("bos_token_id").is_number_integer())
    model.bos_token_id = config.raw("bos_token_id").get<std::int64_t>();
  return {};
}

std::string llama_prefix(const ModelSource& source) {
  return !source.find("model.embed_tokens.weight") && source.find("embed_tokens.weight") ? "" : "model.";
}

}  // namespace headroom
