// Gemma 4, text: Gemma 3 with wide heads in full layers, keys of earlier layers, embeddings of the layers, experts
// (core/model/ARCHITECTURES.md#gemma4).
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/expert_parts.h"
#include "core/model/family.h"
#include "core/model/gemma_parts.h"
#include "core/model/model_lines.h"

namespace headroom {
namespace {

// Heads of each layer: per_layer_config, or the global keys for layers without a window.
Result<std::vector<DecoderSizes>> read_layer_sizes(ConfigReader& config, const LlamaConfig& llama,
                                                   const std::vector<bool>& sliding, bool keys_are_values) {
  constexpr std::int64_t kMost = 65536;
  HEADROOM_TRY(const std::int64_t head_dim, config.integer("global_head_dim", 512, 1, kMost));
  HEADROOM_TRY(const std::int64_t kv_heads,
               config.integer("num_global_key_value_heads", llama.sizes.kv_heads, 1, llama.sizes.heads));
  std::vector<DecoderSizes> sizes(sliding.size(), llama.sizes);
  const nlohmann::json& given = config.raw("per_layer_config");
  for (std::size_t layer = 0; layer < sizes.size(); ++layer) {
    DecoderSizes& own = sizes[layer];
    if (given.is_object()) {
      const std::string number = std::to_string(layer);
      const nlohmann::json one = given.value(number, nlohmann::json::object());
      ConfigReader reader(one, config.name_of("per_layer_config." + number + "."));
      HEADROOM_TRY(own.head_dim, reader.integer("head_dim", own.head_dim, 1, kMost));
      HEADROOM_TRY(own.kv_heads, reader.integer("num_key_value_heads", own.kv_heads, 1, own.heads));
      std::vector<std::string> ignored;
      HEADROOM_TRY_VOID(reader.check_unread(true, ignored));
    } else if (!sliding[layer]) {
      own.head_dim = head_dim;
      if (keys_are_values) own.kv_heads = kv_heads;
    }
    if (own.heads % own.kv_heads != 0)
      return refuse_config(
          "query heads do not divide into groups of key heads", config.name_of("num_global_key_value_heads"),
          "a divisor of num_attention_heads = " + std::to_string(own.heads), std::to_string(own.kv_heads));
  }
  return sizes;
}

// The window's layers by layer_types; the last layer has none, whatever is said.
Result<std::vector<bool>> read_gemma4_windows(ConfigReader& config, std::int64_t layers) {
  HEADROOM_TRY(std::vector<bool> sliding, read_sliding_layers(config, layers, all_but_each(6)));
  sliding.back() = false;
  return sliding;
}

Result<void> add_experts(ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
  constexpr std::int64_t kMostExperts = 65536;
  HEADROOM_TRY(const bool there, config.boolean("enable_moe_block", false));
  if (!there) {
    for (const char* key : {"num_experts", "top_k_experts", "moe_intermediate_size"}) (void)config.raw(key);
    return {};
  }
  ExpertSizes sizes;
  HEADROOM_TRY(sizes.count, config.integer("num_experts", std::nullopt, 1, kMostExperts));
  HEADROOM_TRY(sizes.chosen, config.integer("top_k_experts", std::nullopt, 1, sizes.count));
  HEADROOM_TRY(sizes.inner, config.integer("moe_intermediate_size", std::nullopt, 1, std::int64_t{1} << 32));
  const std::int64_t hidden = llama.sizes.hidden;
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    const std::string base = llama.layer(layer);
    const MlpSpec dense = block.mlp;
    use_stacked_experts(block, base + "experts.gate_up_proj", base + "experts.down_proj", base + "router.proj.weight",
                        sizes, hidden, llama.activation);
    block.mlp = dense;
    ExpertsSpec& experts = block.experts;
    experts.router.normalised = true;
    experts.router.norm = rms_norm(base + "router.scale", hidden, llama.epsilon);
    experts.router.logit_scale = 1.0 / std::sqrt(static_cast<double>(hidden));
    experts.router.expert_scales = vector(base + "router.per_expert_scale", sizes.count);
    const auto norm = [&](const char* name) { return rms_norm(base + name, hidden, llama.epsilon); };
    experts.before = norm("pre_feedforward_layernorm_2.weight");
    experts.mlp_after = norm("post_feedforward_layernorm_1.weight");
    experts.after = norm("post_feedforward_layernorm_2.weight");
  }
  return {};
}

// Heads, rotation and norms of every layer.
Result<void> build_layers(ConfigReader& config, const LlamaConfig& llama, const std::vector<bool>& sliding,
                          ModelSpec& model) {
  const std::int64_t hidden = llama.sizes.hidden;
  HEADROOM_TRY(const bool keys_are_values, config.boolean("attention_k_eq_v", false));
  HEADROOM_TRY(const std::vector<DecoderSizes> sizes, read_layer_sizes(config, llama, sliding, keys_are_values));
  nlohmann::json ropes = config.raw("rope_parameters");
  if (ropes.is_null())
    ropes = {{"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 10000.0}}},
             {"full_attention",
              {{"rope_type", "proportional"}, {"partial_rotary_factor", 0.25}, {"rope_theta", 1000000.0}}}};
  const nlohmann::json rotation = {{"rope_parameters", std::move(ropes)}};
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    const auto l = static_cast<std::size_t>(layer);
    BlockSpec& block = model.blocks[l];
    const std::string base = llama.layer(layer);
    ConfigReader turning(rotation, config.name_of(""));
    HEADROOM_TRY(const LayerRopes own, read_layer_ropes(turning, {}, {}, sizes[l].head_dim, llama.sizes.max_positions));
    block.attention = grouped_attention(sizes[l], sliding[l] ? own.sliding : own.full);
    use_projections(block.attention, base + "self_attn.", "o_proj", hidden, llama.attention_bias, llama.attention_bias);
    if (keys_are_values && !sliding[l]) block.attention.v = block.attention.k;
    norm_every_projection(block, base, llama.epsilon);
    add_gemma_norms(model, llama, layer);
    block.scale = vector(base + "layer_scalar", 1);
  }
  return {};
}

Result<void> change_gemma4(ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
  const std::int64_t layers = llama.sizes.layers, hidden = llama.sizes.hidden;
  model.embedding_scale = std::sqrt(static_cast<double>(hidden));
  HEADROOM_TRY(const std::int64_t window, read_window(config, 512));
  HEADROOM_TRY(const std::vector<bool> sliding, read_gemma4_windows(config, layers));
  HEADROOM_TRY_VOID(build_layers(config, llama, sliding, model));
  set_windows(model, sliding, window);
  HEADROOM_TRY_VOID(share_late_keys(config, llama, sliding, 0, model));
  HEADROOM_TRY(const bool wide, config.boolean("use_double_wide_mlp", false));
  for (std::int64_t layer = 0; wide && layer < layers; ++layer) {
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    if (block.attention.keys_of_layer >= 0)
      block.mlp = gated_mlp(llama.layer(layer) + "mlp.", hidden, 2 * llama.sizes.inner, llama.activation, false);
  }
  HEADROOM_TRY_VOID(add_experts(config, llama, model));
  HEADROOM_TRY_VOID(add_layer_embeddings(config, llama, model));
  HEADROOM_TRY(model.logit_softcap, config.number("final_logit_softcapping", 0.0));
  // Of images: tokens of a text see none behind them.
  const nlohmann::json& both_ways = config.raw("use_bidirectional_attention");
  if (both_ways.is_null() || both_ways == "vision") return {};
  Error error(ErrorCode::Unsupported, "a mask that this family does not have");
  return error.at_tensor(config.name_of("use_bidirectional_attention"))
      .wanted("null or vision", both_ways.is_string() ? both_ways.get<std::string>() : both_ways.dump());
}

Result<ModelSpec> translate_gemma4_text(const ModelSource& source) {
  return translate_llama_relative(source,
                                  {.activation_key = "hidden_activation",
                                   .activation = "gelu_pytorch_tanh",
                                   .tied = true,
                                   .head_dim = 256,
                                   .rotates = false},
                                  change_gemma4);
}

}  // namespace

extern constinit const Family kFamily_gemma4_text{
    "gemma4_text", "Gemma 4, text: wide heads, keys of earlier layers, experts", translate_gemma4_text};

}  // namespace headroom
