// Llama 4, text: rotating layers in chunks and others without positions, experts whose input is weighed
// (core/model/ARCHITECTURES.md#llama4).
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/model/expert_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

// Of layers without positions. The first configs say a number where it is on.
Result<QueryScale> read_temperature(ConfigReader& config) {
  const nlohmann::json& tuned = config.raw("attn_temperature_tuning");
  bool on = !tuned.is_number() || tuned != 0;
  if (!tuned.is_number()) {
    HEADROOM_TRY(on, config.boolean("attn_temperature_tuning", true));
  }
  QueryScale scale;
  scale.offset = 1.0;
  HEADROOM_TRY(scale.amount, config.number("attn_scale", 0.1));
  HEADROOM_TRY(scale.length, config.number("floor_scale", 8192.0));
  if (!(scale.length > 0.0))
    return refuse_config("positions are divided by this number", config.name_of("floor_scale"), "> 0",
                         format("%g", scale.length));
  return on ? scale : QueryScale{};
}

Result<std::vector<bool>> read_expert_layers(ConfigReader& config, std::int64_t layers) {
  HEADROOM_TRY(const std::int64_t step, config.integer("interleave_moe_layer_step", 1, 1, 1 << 20));
  std::vector<bool> sparse(static_cast<std::size_t>(layers));
  const nlohmann::json& list = config.raw("moe_layers");
  if (list.is_null())
    for (std::int64_t layer = step - 1; layer < layers; layer += step) sparse[static_cast<std::size_t>(layer)] = true;
  HEADROOM_TRY(const std::vector<double> named, config.numbers("moe_layers"));
  for (const double layer : named) {
    if (!(layer >= 0.0 && layer < static_cast<double>(layers)))
      return refuse_config("moe_layers names a layer that the model does not have", config.name_of("moe_layers"),
                           "0 … " + std::to_string(layers - 1), format("%g", layer));
    sparse[static_cast<std::size_t>(layer)] = true;
  }
  return sparse;
}

// [E, in, out] each, gate beside up; or one by one, as GGUF has them.
void use_llama4_experts(BlockSpec& block, const ModelSource& source, const std::string& base, const ExpertSizes& sizes,
                        std::int64_t hidden, Activation activation) {
  const auto slice = [](const std::string& name, std::vector<std::int64_t> shape, std::int64_t expert, RowRange rows) {
    LinearSpec linear;
    linear.weight.tensor = name;
    linear.weight.stored_shape = std::move(shape);
    linear.weight.slice = expert;
    linear.weight.transposed = true;
    linear.weight.row_begin = rows.begin;
    linear.weight.row_count = rows.count;
    return linear;
  };
  const std::string gate_up = base + "experts.gate_up_proj";
  const bool apart = source.find(base + "experts.0.gate_proj.weight") != nullptr;
  if (apart) use_experts(block, source, {.base = base}, sizes, hidden, activation);
  for (std::int64_t e = 0; !apart && e < sizes.count; ++e) {
    MlpSpec expert;
    expert.kind = MlpKind::Gated;
    expert.activation = activation;
    expert.gate = slice(gate_up, {sizes.count, hidden, 2 * sizes.inner}, e, {0, sizes.inner});
    expert.up = slice(gate_up, {sizes.count, hidden, 2 * sizes.inner}, e, {sizes.inner, sizes.inner});
    expert.down = slice(base + "experts.down_proj", {sizes.count, sizes.inner, hidden}, e, {0, -1});
    block.experts.experts.push_back(std::move(expert));
  }
  RouterSpec& router = block.experts.router;
  router.logits.weight = matrix(base + "router.weight", sizes.count, hidden);
  router.chosen = sizes.chosen;
  router.score = RouterScore::Sigmoid;
  router.scales_input = true;
  block.mlp = gated_mlp(base + "shared_expert.", hidden, sizes.inner, activation, false);
}

Result<void> change_llama4(const ModelSource& source, ConfigReader& config, const LlamaConfig& llama,
                           ModelSpec& model) {
  const std::int64_t layers = llama.sizes.layers, hidden = llama.sizes.hidden;
  HEADROOM_TRY(const std::vector<bool> rotates, read_rotating_layers(config, layers));
  HEADROOM_TRY(const std::int64_t chunk, config.integer("attention_chunk_size", 8192, 1, std::int64_t{1} << 40));
  HEADROOM_TRY(const std::vector<bool> chunked,
               read_layers_of_kind(config, layers, "chunked_attention",
                                   [&](std::int64_t layer) { return rotates[static_cast<std::size_t>(layer)]; }));
  HEADROOM_TRY(const bool normed, config.boolean("use_qk_norm", true));
  HEADROOM_TRY(const QueryScale temperature, read_temperature(config));
  HEADROOM_TRY(const std::vector<bool> sparse, read_expert_layers(config, layers));
  HEADROOM_TRY(const std::int64_t inner, config.integer("intermediate_size_mlp", 16384, 1, std::int64_t{1} << 32));
  HEADROOM_TRY(
      const ExpertSizes sizes,
      read_expert_sizes(config, {.count = "num_local_experts", .default_count = 16, .default_chosen = 1, .inner = {}},
                        llama.sizes.inner));
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) {
    BlockSpec& block = model.blocks[layer];
    AttentionSpec& attention = block.attention;
    if (chunked[layer]) attention.chunk = chunk;
    if (!rotates[layer]) {
      attention.rope = {};
      attention.query_scale = temperature;
    } else if (normed) {
      attention.qk_norm = QkNormScope::PerHead;
      attention.qk_norm_after_rope = true;
      attention.q_norm.kind = attention.k_norm.kind = NormKind::Rms;
      attention.q_norm.epsilon = attention.k_norm.epsilon = llama.epsilon;
    }
    const std::string base = llama.layer(static_cast<std::int64_t>(layer)) + "feed_forward.";
    if (sparse[layer])
      use_llama4_experts(block, source, base, sizes, hidden, llama.activation);
    else
      block.mlp = gated_mlp(base, hidden, inner, llama.activation, false);
  }
  return {};
}

Result<ModelSpec> translate_llama4_text(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
    return change_llama4(source, config, llama, model);
  };
  return translate_llama_relative(
      source, {.epsilon = 1e-5, .head_dim = 128, .rope = {.layout = RopeLayout::Interleaved, .theta = 500000.0}},
      change);
}

// clang-format off
constexpr auto kLlama4GgufTensors = std::to_array<GgufTensor>({
    {"blk.#.ffn_gate", "model.layers.#.feed_forward.gate_proj"},
    {"blk.#.ffn_up", "model.layers.#.feed_forward.up_proj"},
    {"blk.#.ffn_down", "model.layers.#.feed_forward.down_proj"},
    {"blk.#.ffn_gate_inp", "model.layers.#.feed_forward.router"},
    {"blk.#.ffn_gate_exps", "model.layers.#.feed_forward.experts.*.gate_proj"},
    {"blk.#.ffn_up_exps", "model.layers.#.feed_forward.experts.*.up_proj"},
    {"blk.#.ffn_down_exps", "model.layers.#.feed_forward.experts.*.down_proj"},
    {"blk.#.ffn_gate_shexp", "model.layers.#.feed_forward.shared_expert.gate_proj"},
    {"blk.#.ffn_up_shexp", "model.layers.#.feed_forward.shared_expert.up_proj"},
    {"blk.#.ffn_down_shexp", "model.layers.#.feed_forward.shared_expert.down_proj"},
});
constexpr auto kLlama4GgufKeys = std::to_array<GgufKey>({
    {"feed_forward_length", "intermediate_size_mlp", true},
    {"expert_feed_forward_length", "intermediate_size", true},
    {"expert_count", "num_local_experts", true},
    {"expert_used_count", "num_experts_per_tok", true},
    {"interleave_moe_layer_step", "interleave_moe_layer_step", true},
    {"attention.sliding_window", "chunks"},
});
// clang-format on

// llama.cpp's llama4.cpp: chunks and temperature are those of the published models, and the one with 128 experts has no
// norms of queries and keys. A window of 0 is a model in which every layer rotates and sees every key.
Result<void> finish_llama4_gguf(const GgufMetadata&, nlohmann::json& config) {
  constexpr std::size_t kMostLayers = 4096;
  config["use_qk_norm"] = config["num_local_experts"] != 128;
  const bool whole = config.contains("chunks") && config["chunks"] == 0;
  for (const char* key : {"chunks", "sliding_window", "mlp_bias"}) config.erase(key);
  const nlohmann::json& count = config["num_hidden_layers"];
  if (!whole || !count.is_number_unsigned() || count > kMostLayers) return {};
  config["no_rope_layers"] = std::vector<int>(count.get<std::size_t>(), 1);
  config["layer_types"] = std::vector<std::string>(count.get<std::size_t>(), "full_attention");
  return {};
}

constexpr GgufNames kLlama4Gguf{
    .architectures = {"llama4"}, .tensors = kLlama4GgufTensors, .keys = kLlama4GgufKeys, .finish = finish_llama4_gguf};

}  // namespace

extern constinit const Family kFamily_llama4_text{
    "llama4_text", "Llama 4, text: chunks, layers without positions, experts", translate_llama4_text, &kLlama4Gguf};

}  // namespace headroom
