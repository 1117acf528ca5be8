#include "core/model/gguf_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace headroom {
namespace {

using nlohmann::json;

const json kNothing;

// Keys of any family: those that do not have them refuse them.
constexpr std::array kOtherKeys = std::to_array<GgufKey>({
    {"vocab_size", "vocab_size"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.scale", "attention_multiplier"},
    {"attention.clamp_kqv", "clip_qkv"},
    {"attention.max_alibi_bias", "alibi"},
    {"attention.temperature_scale", "attn_temperature_tuning"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"embedding_scale", "embedding_multiplier"},
    {"residual_scale", "residual_multiplier"},
    {"logit_scale", "logit_scale"},
    {"expert_count", "num_local_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_count", "n_shared_experts"},
    {"expert_weights_scale", "routed_scaling_factor"},
    {"expert_weights_norm", "norm_topk_prob"},
    {"expert_group_count", "n_group"},
    {"expert_group_used_count", "topk_group"},
    {"leading_dense_block_count", "first_k_dense_replace"},
    {"use_parallel_residual", "use_parallel_residual"},
    {"rope.dimension_sections", "mrope_section"},
});

// Read below, or without effect on the forward pass.
constexpr std::array<std::string_view, 9> kKnownKeys = {
    "rope.dimension_count", "rope.freq_base_swa", "rope.scale_linear",        "attention.sliding_window_pattern",
    "attention.causal",     "tensor_data_layout", "attention.key_length_mla", "attention.value_length_mla",
    "pooling_type"};

const GgufKey* find_key(const GgufNames& names, std::string_view key) {
  for (const std::span<const GgufKey> table : {names.keys, names.common_keys, std::span<const GgufKey>(kOtherKeys)})
    for (const GgufKey& entry : table)
      if (entry.gguf == key) return &entry;
  return nullptr;
}

// The least share of which so many channels are the whole part.
double share_of(std::int64_t rotated, std::int64_t head_dim) {
  double share = static_cast<double>(rotated) / static_cast<double>(head_dim);
  while (static_cast<std::int64_t>(static_cast<double>(head_dim) * share) < rotated)
    share = std::nextafter(share, std::numeric_limits<double>::infinity());
  return share;
}

Result<void> read_numbers(const Checkpoint& checkpoint, const char* name, const char* key, json& target) {
  constexpr std::int64_t kMost = 65536;
  const TensorInfo* tensor = checkpoint.find(name);
  if (!tensor || tensor->shape.size() != 1 || tensor->shape[0] < 1 || tensor->shape[0] > kMost) return {};
  std::vector<double> values(static_cast<std::size_t>(tensor->shape[0]));
  HEADROOM_TRY_VOID(checkpoint.read(*tensor, 0, std::span<double>(values)));
  target[key] = values;
  return {};
}

// rope.scaling.* and the tables of factors, as rope_scaling.
Result<json> rope_scaling(const GgufMetadata& metadata, const GgufNames& names) {
  json rope;
  HEADROOM_TRY_VOID(read_numbers(metadata.checkpoint, "rope_factors_short.weight", "short_factor", rope));
  HEADROOM_TRY_VOID(read_numbers(metadata.checkpoint, "rope_factors_long.weight", "long_factor", rope));
  const json& type = metadata.at("rope.scaling.type");
  if (!rope.is_null())
    rope["rope_type"] = "longrope";
  else if (type.is_null() && metadata.at("rope.scale_linear").is_number() && metadata.at("rope.scale_linear") != 1)
    return json{{"rope_type", "linear"}, {"factor", metadata.at("rope.scale_linear")}};
  else if (type.is_null() || type == "none")
    return rope;
  else
    rope["rope_type"] = type;
  const auto copy = [&](std::string_view key, const char* name) {
    if (const json& value = metadata.at(key); !value.is_null()) rope[name] = value;
  };
  copy("rope.scaling.factor", "factor");
  copy("rope.scaling.original_context_length", "original_max_position_embeddings");
  copy("rope.scaling.attn_factor", "attention_factor");
  copy("rope.scaling.yarn_attn_factor", "attention_factor");
  copy("rope.scaling.yarn_beta_fast", "beta_fast");
  copy("rope.scaling.yarn_beta_slow", "beta_slow");
  // Read by no one, so that a file with them is refused: they blend and scale in ways of their own.
  if (!names.latent) copy("rope.scaling.yarn_log_multiplier", "yarn_log_multiplier");
  // 0.1·mscale_all_dim, which is mscale as well in every published model; a float in the file.
  const json& multiplier = metadata.at("rope.scaling.yarn_log_multiplier");
  if (names.latent && multiplier.is_number())
    rope["mscale"] = rope["mscale_all_dim"] = static_cast<double>(static_cast<float>(multiplier.get<double>() / 0.1));
  if (const json& extrapolated = metadata.at("rope.scaling.yarn_ext_factor");
      !extrapolated.is_null() && extrapolated != 1)
    rope["yarn_ext_factor"] = extrapolated.dump();
  return rope;
}

// Keys of one head are [plain, rotated]. Newer files tell their length and that of values under names of their own,
// since those that every family has are the latent's there.
Result<void> add_latent(const GgufMetadata& metadata, const GgufNames& names, json& config) {
  const auto either = [&](std::string_view own, std::string_view old) -> const json& {
    return metadata.at(own).is_null() ? metadata.at(old) : metadata.at(own);
  };
  const json& keys = either("attention.key_length_mla", "attention.key_length");
  const json& values = either("attention.value_length_mla", "attention.value_length");
  const json& rotated = metadata.at("rope.dimension_count");
  for (const auto& [value, key] :
       {std::pair(&keys, "attention.key_length"), std::pair(&rotated, "rope.dimension_count")})
    if (!value->is_number_integer()) return missing_gguf_key(metadata.checkpoint, metadata.architecture + "." + key);
  config["qk_rope_head_dim"] = rotated;
  config["qk_nope_head_dim"] = keys.get<std::int64_t>() - rotated.get<std::int64_t>();
  if (!values.is_null()) config["v_head_dim"] = values;
  config.erase(metadata.architecture + ".attention.value_length");
  HEADROOM_TRY(json scaling, rope_scaling(metadata, names));
  if (!scaling.is_null()) config["rope_scaling"] = std::move(scaling);
  return {};
}

Result<void> add_rotation(const GgufMetadata& metadata, const GgufNames& names, json& config) {
  const std::int64_t head_dim = metadata.head_dim();
  const json& count = metadata.at("rope.dimension_count");
  if (names.latent) return add_latent(metadata, names, config);
  const std::int64_t rotated = count.is_null() ? head_dim : metadata.integer("rope.dimension_count");
  if (names.rotary_key.empty()) {
    if (rotated != head_dim) config["partial_rotary_factor"] = count.dump() + " of " + std::to_string(head_dim);
  } else if (head_dim > 0 && rotated > 0 && rotated <= head_dim) {
    config[std::string(names.rotary_key)] = share_of(rotated, head_dim);
  } else {
    config[std::string(names.rotary_key)] = count;
  }
  HEADROOM_TRY(json scaling, rope_scaling(metadata, names));
  // llama3's scaling arrives as a table of divisors of the frequencies.
  HEADROOM_TRY_VOID(read_numbers(metadata.checkpoint, "rope_freqs.weight", "rope_frequency_divisors", config));
  if (!names.ropes_by_kind) {
    if (!scaling.is_null()) config["rope_scaling"] = std::move(scaling);
    return {};
  }
  json sliding = {{"rope_type", "default"}};
  if (scaling.is_null()) scaling = {{"rope_type", "default"}};
  if (const json& theta = metadata.at("rope.freq_base"); !theta.is_null())
    scaling["rope_theta"] = sliding["rope_theta"] = theta;
  if (names.sliding_theta > 0.0) sliding["rope_theta"] = names.sliding_theta;
  if (const json& theta = metadata.at("rope.freq_base_swa"); !theta.is_null()) sliding["rope_theta"] = theta;
  config.erase("rope_theta");
  config["rope_parameters"] = {{"full_attention", std::move(scaling)}, {"sliding_attention", std::move(sliding)}};
  return {};
}

void add_windows(const GgufMetadata& metadata, json& config) {
  if (!config.contains("sliding_window") || config["sliding_window"] == 0) config["sliding_window"] = nullptr;
  const json& pattern = metadata.at("attention.sliding_window_pattern");
  if (pattern.is_number_integer()) config["sliding_window_pattern"] = pattern;
  if (!pattern.is_array() || config["sliding_window"].is_null()) return;
  for (const json& slides : pattern)
    config["layer_types"].push_back(slides == true || slides == 1 ? "sliding_attention" : "full_attention");
}

}  // namespace

const json& GgufMetadata::at(std::string_view key) const {
  const json& metadata = checkpoint.metadata();
  const auto found = metadata.find(architecture + "." + std::string(key));
  return found == metadata.end() ? kNothing : *found;
}

bool GgufMetadata::says(std::string_view key) const {
  const json& value = at(key);
  return !value.is_null() && value != 0 && value != false;
}

std::int64_t GgufMetadata::integer(std::string_view key) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 28;  // products of two of them stay far below 2^63
  const json& value = at(key);
  return value.is_number_integer() && value >= 0 && value <= kMost ? value.get<std::int64_t>() : 0;
}

std::int64_t GgufMetadata::heads() const { return integer("attention.head_count"); }

std::int64_t GgufMetadata::kv_heads() const {
  return at("attention.head_count_kv").is_null() ? heads() : integer("attention.head_count_kv");
}

std::int64_t GgufMetadata::head_dim() const {
  if (!at("attention.key_length").is_null()) return integer("attention.key_length");
  return heads() > 0 ? integer("embedding_length") / heads() : 0;
}

Error missing_gguf_key(const Checkpoint& checkpoint, const std::string& key) {
  Error error(ErrorCode::Corrupt, "GGUF metadata lacks a key that the model needs");
  error.at_tensor(key).in_file(checkpoint.path().string());
  return error;
}

Result<json> gguf_config(const GgufMetadata& metadata, const GgufNames& names) {
  json config = json::object();
  for (const std::span<const GgufKey> table : {names.keys, names.common_keys})
    for (const GgufKey& key : table)
      if (key.needed && find_key(names, key.gguf) == &key && metadata.at(key.gguf).is_null())
        return missing_gguf_key(metadata.checkpoint, metadata.architecture + "." + std::string(key.gguf));
  for (const GgufConstant& constant : names.constants)
    config[std::string(constant.config)] = json::parse(constant.json);
  const std::string prefix = metadata.architecture + ".";
  for (const auto& [name, value] : metadata.checkpoint.metadata().items()) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view key = std::string_view(name).substr(prefix.size());
    if (std::ranges::find(kKnownKeys, key) != kKnownKeys.end() || key.starts_with("rope.scaling.")) continue;
    if (key == "attention.value_length" && value == metadata.head_dim()) continue;
    const GgufKey* known = find_key(names, key);
    if (!known || !known->config.empty()) config[known ? std::string(known->config) : name] = value;
  }
  if (const GgufKey* size = find_key(names, "attention.key_length"); size && !size->config.empty())
    config[std::string(size->config)] = metadata.head_dim();
  if (metadata.at("attention.causal") == false) config["use_bidirectional_attention"] = true;
  if (const json& begin = metadata.checkpoint.metadata().value("tokenizer.ggml.bos_token_id", json()); !begin.is_null())
    config["bos_token_id"] = begin;
  const TensorInfo* embedding = metadata.checkpoint.find("token_embd.weight");
  if (!config.contains("vocab_size") && embedding && embedding->shape.size() == 2)
    config["vocab_size"] = embedding->shape[0];
  config["tie_word_embeddings"] = !metadata.checkpoint.find("output.weight");
  for (const GgufFlag& flag : names.flags) {
    const std::string tensor(flag.tensor);
    const bool there = metadata.checkpoint.find("blk.0." + tensor) || metadata.checkpoint.find(tensor);
    config[std::string(flag.config)] = config.value(flag.config, false) || there == flag.when_there;
  }
  add_windows(metadata, config);
  HEADROOM_TRY_VOID(add_rotation(metadata, names, config));
  if (names.finish) {
    HEADROOM_TRY_VOID(names.finish(metadata, config));
  }
  return config;
}

}  // namespace headroom
