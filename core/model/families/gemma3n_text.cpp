// Gemma 3n, text: streams of AltUp, Laurel, embeddings of the layers, keys of earlier layers
// (core/model/ARCHITECTURES.md#gemma3n).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/model/family.h"
#include "core/model/gemma_parts.h"
#include "core/model/model_lines.h"

namespace headroom {
namespace {

constexpr std::int64_t kMostSize = std::int64_t{1} << 28;

// A number for every layer, or one for all; `fallback` where there is none.
Result<std::vector<double>> read_by_layer(ConfigReader& config, std::string_view key, std::int64_t layers,
                                          const std::vector<double>& fallback) {
  const auto count = static_cast<std::size_t>(layers);
  if (!config.has(key)) {
    (void)config.raw(key);
    return fallback;
  }
  if (config.raw(key).is_number()) {
    HEADROOM_TRY(const double all, config.number(key, 0.0));
    return std::vector<double>(count, all);
  }
  HEADROOM_TRY(std::vector<double> each, config.numbers(key));
  if (each.size() != count)
    return refuse_config("not every layer has a number", config.name_of(key), std::to_string(layers) + " numbers",
                         std::to_string(each.size()));
  return each;
}

// Of the first ten layers of a large model 95 % of the gate's channels are cut off.
std::vector<double> default_sparsity(std::int64_t layers) {
  std::vector<double> sparsity(static_cast<std::size_t>(layers), 0.0);
  if (layers > 10) std::fill_n(sparsity.begin(), 10, 0.95);
  return sparsity;
}

Result<void> add_streams(ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
  const std::int64_t hidden = llama.sizes.hidden;
  HEADROOM_TRY(const std::int64_t count, config.integer("altup_num_inputs", 4, 2, 1024));
  HEADROOM_TRY(model.streams.active, config.integer("altup_active_idx", 0, 0, count - 1));
  HEADROOM_TRY(const bool scaled, config.boolean("altup_correct_scale", true));
  (void)config.raw("altup_coef_clip");  // in training alone
  for (std::int64_t i = 0; i + 1 < count; ++i) {
    const std::string at = std::to_string(i);
    model.streams.in.push_back(linear(llama.prefix + "altup_projections." + at, hidden, hidden, false));
    model.streams.out.push_back(linear(llama.prefix + "altup_unembed_projections." + at, hidden, hidden, false));
  }
  HEADROOM_TRY(const std::int64_t rank, config.integer("laurel_rank", 64, 1, kMostSize));
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    const std::string base = llama.layer(layer), altup = base + "altup.";
    block.altup.norm = rms_norm(altup + "router_norm.weight", hidden, llama.epsilon);
    block.altup.router = linear(altup + "modality_router", count, hidden, false);
    block.altup.prediction = linear(altup + "prediction_coefs", count * count, count, false);
    block.altup.correction = linear(altup + "correction_coefs", count, count, false);
    if (scaled)
      block.altup.scale = vector(altup + "correct_output_scale", hidden);
    else
      model.set_aside.push_back(altup + "correct_output_scale");
    block.laurel.left = linear(base + "laurel.linear_left", rank, hidden, false);
    block.laurel.right = linear(base + "laurel.linear_right", hidden, rank, false);
    block.laurel.norm = rms_norm(base + "laurel.post_laurel_norm.weight", hidden, llama.epsilon);
  }
  return {};
}

Result<void> change_gemma3n(ConfigReader& config, ConfigReader& sizes, const LlamaConfig& llama, ModelSpec& model) {
  const std::int64_t layers = llama.sizes.layers;
  model.embedding_scale = std::sqrt(static_cast<double>(llama.sizes.hidden));
  HEADROOM_TRY(const LayerRopes ropes,
               read_layer_ropes(config, {.theta = 1000000.0}, {.theta = 10000.0, .theta_key = "rope_local_base_freq"},
                                llama.sizes.head_dim, llama.sizes.max_positions));
  HEADROOM_TRY(const std::int64_t window, read_window(config, 512));
  HEADROOM_TRY(const std::vector<bool> sliding, read_sliding_layers(config, layers, all_but_each(5)));
  set_windows(model, sliding, window);
  HEADROOM_TRY(const std::vector<double> inner, read_by_layer(sizes, "intermediate_size", layers, {}));
  HEADROOM_TRY(const std::vector<double> sparsity,
               read_by_layer(config, "activation_sparsity_pattern", layers, default_sparsity(layers)));
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const auto l = static_cast<std::size_t>(layer);
    BlockSpec& block = model.blocks[l];
    const std::string base = llama.layer(layer);
    if (!(inner[l] >= 1.0 && inner[l] <= static_cast<double>(kMostSize)))
      return refuse_config("a layer has a size that cannot be", config.name_of("intermediate_size"), "≥ 1",
                           format("%g of layer %lld", inner[l], static_cast<long long>(layer)));
    if (!(sparsity[l] >= 0.0 && sparsity[l] < 1.0))
      return refuse_config("a layer has a sparsity that cannot be", config.name_of("activation_sparsity_pattern"),
                           "from 0 to below 1", format("%g of layer %lld", sparsity[l], static_cast<long long>(layer)));
    block.mlp =
        gated_mlp(base + "mlp.", llama.sizes.hidden, static_cast<std::int64_t>(inner[l]), llama.activation, false);
    block.mlp.sparsity = sparsity[l];
    add_gemma_norms(model, llama, layer);
    block.attention.rope = sliding[l] ? ropes.sliding : ropes.full;
    norm_every_projection(block, base, llama.epsilon);
  }
  HEADROOM_TRY_VOID(share_late_keys(config, llama, sliding, 15, model));
  HEADROOM_TRY_VOID(add_streams(config, llama, model));
  HEADROOM_TRY_VOID(add_layer_embeddings(config, llama, model));
  model.logit_softcap = 30.0;
  if (config.mentions("final_logit_softcapping")) {
    HEADROOM_TRY(model.logit_softcap, config.number("final_logit_softcapping", 0.0));
  }
  return {};
}

Result<ModelSpec> translate_gemma3n_text(const ModelSource& source) {
  nlohmann::json config = source.config();
  nlohmann::json& inner = config["intermediate_size"];
  const nlohmann::json by_layer = {{"intermediate_size", inner.is_null() ? nlohmann::json(16384) : inner}};
  if (!inner.is_number()) inner = 1;  // each layer says its own
  const auto change = [&](ConfigReader& reader, const LlamaConfig& llama, ModelSpec& model) {
    ConfigReader sizes(by_layer);
    return change_gemma3n(reader, sizes, llama, model);
  };
  return translate_llama_relative(source.with_config(std::move(config)),
                                  {.activation_key = "hidden_activation",
                                   .activation = "gelu_pytorch_tanh",
                                   .tied = true,
                                   .head_dim = 256,
                                   .rotates = false},
                                  change);
}

// clang-format off
constexpr auto kGemma3nGgufTensors = std::to_array<GgufTensor>({
    {"blk.#.ffn_norm", "model.layers.#.pre_feedforward_layernorm"},
    {"per_layer_token_embd", "model.embed_tokens_per_layer"},
    {"per_layer_model_proj", "model.per_layer_model_projection"},
    {"per_layer_proj_norm", "model.per_layer_projection_norm"},
    {"altup_proj", "model.altup_projections.*"},
    {"altup_unembd_proj", "model.altup_unembed_projections.*"},
    {"blk.#.inp_gate", "model.layers.#.per_layer_input_gate"},
    {"blk.#.proj", "model.layers.#.per_layer_projection"},
    {"blk.#.post_norm", "model.layers.#.post_per_layer_input_norm"},
    {"blk.#.altup_correct_coef", "model.layers.#.altup.correction_coefs"},
    {"blk.#.altup_correct_scale.weight", "model.layers.#.altup.correct_output_scale"},
    {"blk.#.altup_predict_coef", "model.layers.#.altup.prediction_coefs"},
    {"blk.#.altup_router", "model.layers.#.altup.modality_router"},
    {"blk.#.altup_router_norm", "model.layers.#.altup.router_norm"},
    {"blk.#.laurel_l", "model.layers.#.laurel.linear_left"},
    {"blk.#.laurel_r", "model.layers.#.laurel.linear_right"},
    {"blk.#.laurel_post_norm", "model.layers.#.laurel.post_laurel_norm"},
});
constexpr auto kGemma3nGgufKeys = std::to_array<GgufKey>({
    {"altup.active_idx", "altup_active_idx"},
    {"altup.num_inputs", "altup_num_inputs"},
    {"embedding_length_per_layer_input", "hidden_size_per_layer_input", true},
    {"attention.shared_kv_layers", "num_kv_shared_layers", true},
    {"activation_sparsity_scale", "activation_sparsity_pattern"},
});
// clang-format on

// The file has quantiles of the normal distribution where the config has shares, −∞ for none, and as many rows in the
// table of the layers as in the embedding.
Result<void> finish_gemma3n_gguf(const GgufMetadata&, nlohmann::json& config) {
  for (nlohmann::json& scale : config["activation_sparsity_pattern"]) {
    if (!scale.is_number()) continue;
    const double quantile = scale.get<double>();
    scale = 0.5 * std::erfc(-quantile / std::numbers::sqrt2);
  }
  config["vocab_size_per_layer_input"] = config["vocab_size"];
  return {};
}

constexpr GgufNames kGemma3nGguf{.architectures = {"gemma3n"},
                                 .tensors = kGemma3nGgufTensors,
                                 .keys = kGemma3nGgufKeys,
                                 .ropes_by_kind = true,
                                 .sliding_theta = 10000.0,
                                 .finish = finish_gemma3n_gguf};

}  // namespace

extern constinit const Family kFamily_gemma3n_text{"gemma3n_text", "Gemma 3n, text: streams, keys of earlier layers",
                                                   translate_gemma3n_text, &kGemma3nGguf};

}  // namespace headroom
