#include "core/model/decoder_parts.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
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

}  // namespace

SizeKeys gpt_keys() {
  return {.layers = "n_layer",
          .hidden = "n_embd",
          .inner = "n_inner",
          .heads = "n_head",
          .max_positions = "n_positions",
          .kv_heads = {},
          .head_dim = {},
          .inner_needed = false,
          .default_positions = 1024};
}

Result<DecoderSizes> read_sizes(ConfigReader& config, const SizeKeys& keys) {
  DecoderSizes sizes;
  HEADROOM_TRY(sizes.layers, config.integer(keys.layers, std::nullopt, 1, kMaxLayers));
  HEADROOM_TRY(sizes.hidden, config.integer(keys.hidden, std::nullopt, 1, kMaxHidden));
  const auto inner = keys.inner_needed ? std::nullopt : std::optional(4 * sizes.hidden);
  HEADROOM_TRY(sizes.inner, config.integer(keys.inner, inner, keys.inner_minimum, kMaxHidden * 16));
  HEADROOM_TRY(sizes.heads, config.integer(keys.heads, std::nullopt, 1, kMaxHeads));
  sizes.kv_heads = sizes.heads;
  if (!keys.kv_heads.empty()) {
    HEADROOM_TRY(sizes.kv_heads, config.integer(keys.kv_heads, sizes.heads, 1, kMaxHeads));
  }
  HEADROOM_TRY(sizes.vocab, config.integer("vocab_size", std::nullopt, 1, kMaxVocab));
  HEADROOM_TRY(sizes.max_positions, config.integer(keys.max_positions, keys.default_positions, 1, kMaxPositions));
  if (sizes.heads % sizes.kv_heads != 0)
    return refuse_config("query heads do not divide into groups of key heads", keys.kv_heads,
                         "a divisor of " + std::string(keys.heads) + " = " + std::to_string(sizes.heads),
                         std::to_string(sizes.kv_heads));
  const bool says_head_dim = !keys.head_dim.empty() && config.has(keys.head_dim);
  if (!says_head_dim && keys.default_head_dim == 0 && sizes.hidden % sizes.heads != 0)
    return refuse_config(std::string(keys.hidden) + " does not divide among the heads and there is no head_dim",
                         keys.heads, "a divisor of " + std::string(keys.hidden) + " = " + std::to_string(sizes.hidden),
                         std::to_string(sizes.heads));
  sizes.head_dim = keys.default_head_dim > 0 ? keys.default_head_dim : sizes.hidden / sizes.heads;
  if (!keys.head_dim.empty()) {
    HEADROOM_TRY(sizes.head_dim, config.integer(keys.head_dim, sizes.head_dim, 1, kMaxHeadDim));
  }
  if (sizes.head_dim * sizes.heads > kMaxHidden * 16)
    return refuse_config("the query projection would be absurdly large", "head_dim", "a smaller number",
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

LinearSpec linear_rows(const std::string& prefix, std::int64_t all, std::int64_t in, RowRange rows, bool bias) {
  LinearSpec spec = linear(prefix, all, in, bias);
  for (WeightRef* weight : {&spec.weight, &spec.bias}) {
    if (!weight->present()) continue;
    weight->row_begin = rows.begin;
    weight->row_count = rows.count;
    weight->row_group = rows.group;
    weight->row_stride = rows.stride;
  }
  return spec;
}

CausalConvSpec causal_conv(const std::string& prefix, std::int64_t channels, std::int64_t width, bool bias) {
  CausalConvSpec conv{matrix(prefix + ".weight", channels, width), {}};
  conv.weight.stored_shape = {channels, 1, width};
  if (bias) conv.bias = vector(prefix + ".bias", channels);
  return conv;
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

MlpSpec plain_mlp(const std::string& up, const std::string& down, std::int64_t hidden, std::int64_t inner,
                  Activation activation, bool bias) {
  MlpSpec mlp;
  mlp.kind = MlpKind::Plain;
  mlp.activation = activation;
  mlp.up = linear(up, inner, hidden, bias);
  mlp.down = linear(down, hidden, inner, bias);
  return mlp;
}

Result<Activation> read_activation(ConfigReader& config, std::string_view key, std::string_view fallback) {
  HEADROOM_TRY(const std::string name, config.text(key, std::string(fallback)));
  if (name == "silu" || name == "swish") return Activation::Silu;
  if (name == "gelu") return Activation::Gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_tanh") return Activation::GeluTanh;
  if (name == "quick_gelu") return Activation::QuickGelu;
  if (name == "relu") return Activation::Relu;
  if (name == "relu2") return Activation::ReluSquared;
  Error error(ErrorCode::Unsupported, "unknown activation function");
  error.at_tensor(key).wanted("silu, gelu, gelu_new, quick_gelu, relu or relu2", name);
  return error;
}

void fill_sizes(ModelSpec& model, const DecoderSizes& sizes) {
  model.vocab_size = sizes.vocab;
  model.hidden_size = sizes.hidden;
  model.max_positions = sizes.max_positions;
  model.num_heads = sizes.heads;
  model.num_kv_heads = sizes.kv_heads;
}

Result<void> read_clip(ConfigReader& config, ModelSpec& model) {
  HEADROOM_TRY(const double clip, config.number("clip_qkv", 0.0));
  if (clip < 0.0)
    return refuse_config("queries, keys and values are cut to ± this", config.name_of("clip_qkv"), "≥ 0",
                         format("%g", clip));
  for (BlockSpec& block : model.blocks) block.attention.clip_qkv = clip;
  return {};
}

void change_norms(ModelSpec& model, const std::function<void(NormSpec&)>& change) {
  const auto visit = [&](NormSpec& norm) {
    if (norm.kind != NormKind::None) change(norm);
  };
  visit(model.embedding_norm);
  if (model.encoder)
    for (NormSpec* norm : {&model.encoder->embedding_norm, &model.encoder->final_norm}) visit(*norm);
  for (BlockSpec& block : model.blocks)
    for (BranchSpec* branch : {&block.attention_branch, &block.mlp_branch})
      for (NormSpec* norm : {&branch->before, &branch->after, &branch->sum}) visit(*norm);
  visit(model.final_norm);
  visit(model.head_transform.norm);
}

void share_norm(BlockSpec& block) {
  block.parallel = true;
  block.mlp_branch.before = block.attention_branch.before;
}

std::vector<HeadProgram> grouped_heads(std::int64_t heads, std::int64_t kv_heads) {
  std::vector<HeadProgram> programs(static_cast<std::size_t>(heads));
  for (std::int64_t i = 0; i < heads; ++i) {
    const std::int64_t group = i / (heads / kv_heads);
    programs[static_cast<std::size_t>(i)].first = {i, group, {group}};
  }
  return programs;
}

AttentionSpec grouped_attention(const DecoderSizes& sizes, const RopeSpec& rope) {
  AttentionSpec attention;
  attention.kind = "softmax";
  attention.head_dim = attention.value_dim = sizes.head_dim;
  attention.num_query_blocks = sizes.heads;
  attention.num_key_blocks = attention.num_value_blocks = sizes.kv_heads;
  attention.rope = rope;
  attention.scale = 1.0 / std::sqrt(static_cast<double>(sizes.head_dim));
  attention.heads = grouped_heads(sizes.heads, sizes.kv_heads);
  return attention;
}

void use_projections(AttentionSpec& attention, const std::string& prefix, const std::string& output,
                     std::int64_t hidden, bool bias, bool output_bias) {
  const std::int64_t d = attention.head_dim;
  attention.q = linear(prefix + "q_proj", attention.num_query_blocks * d, hidden, bias);
  attention.k = linear(prefix + "k_proj", attention.num_key_blocks * d, hidden, bias);
  attention.v = linear(prefix + "v_proj", attention.num_value_blocks * attention.value_dim, hidden, bias);
  attention.o = linear(prefix + output, hidden, attention.num_query_blocks * attention.value_dim, output_bias);
}

double lambda_init(std::int64_t depth) { return 0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(depth)); }

}  // namespace headroom
