// Ministral 3: llama with YaRN, whose queries grow with their position (core/model/ARCHITECTURES.md#ministral3).
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/format.h"
#include "core/model/family.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

constexpr std::string_view kBeta = "llama_4_scaling_beta", kOriginal = "original_max_position_embeddings";

// What holds where a config says nothing of the rotation.
nlohmann::json published_rotation() {
  return {{"rope_type", "yarn"}, {"rope_theta", 1000000.0}, {kOriginal, 16384},
          {"factor", 16.0},      {"beta_fast", 32.0},       {"beta_slow", 1.0},
          {"mscale", 1.0},       {"mscale_all_dim", 1.0},   {kBeta, 0.1}};
}

// The scale of the queries stands among the keys of the rotation.
Result<ModelSpec> translate_ministral3(const ModelSource& source) {
  nlohmann::json config = source.config();
  nlohmann::json& rotation = config["rope_parameters"];
  if (rotation.is_null() && !config.contains("rope_scaling")) rotation = published_rotation();
  QueryScale scale;
  if (rotation.is_object()) {
    ConfigReader reader(rotation, "rope_parameters.");
    HEADROOM_TRY(scale.amount, reader.number(kBeta, 0.0));
    if (scale.amount != 0.0) {
      HEADROOM_TRY(scale.length, reader.number(kOriginal, std::nullopt));
    }
    if (!(scale.length > 0.0))
      return refuse_config("positions are divided by this number", reader.name_of(kOriginal), "> 0",
                           format("%g", scale.length));
    rotation.erase(std::string(kBeta));
    rotation.erase("max_position_embeddings");  // a copy
  }
  const auto change = [&](ConfigReader& reader, const LlamaConfig&, ModelSpec& model) -> Result<void> {
    HEADROOM_TRY(const std::int64_t window, read_window(reader, 0));
    for (BlockSpec& block : model.blocks) {
      block.attention.window = window;
      block.attention.query_scale = scale;
    }
    return {};
  };
  const ModelSource changed = source.with_config(std::move(config));
  return translate_llama_relative(
      changed, {.epsilon = 1e-5, .bias_key = {}, .head_dim = 128, .rope = {.theta = 1000000.0}}, change);
}

// The converter says mscale_all_dim in a key of its own, and nothing of mscale, which is 1 in llama.cpp.
Result<void> finish_ministral3_gguf(const GgufMetadata&, nlohmann::json& config) {
  nlohmann::json rotation = config.value("rope_scaling", nlohmann::json::object());
  config.erase("rope_scaling");
  if (const auto found = rotation.find("yarn_log_multiplier"); found != rotation.end()) {
    rotation["mscale"] = 1.0;
    rotation["mscale_all_dim"] = *found;
    rotation.erase("yarn_log_multiplier");
  }
  if (const auto found = config.find("rope_theta"); found != config.end()) rotation["rope_theta"] = *found;
  if (const auto found = config.find("attn_temperature_tuning"); found != config.end()) rotation[kBeta] = *found;
  config.erase("rope_theta");
  config.erase("attn_temperature_tuning");
  config["rope_parameters"] = std::move(rotation);
  return {};
}

constexpr GgufNames kMinistral3Gguf{.architectures = {"mistral3"},
                                    .only_with = "attention.temperature_scale",
                                    .tensors = kGgufPairs,
                                    .finish = finish_ministral3_gguf};

}  // namespace

extern constinit const Family kFamily_ministral3{"ministral3", "Ministral 3: llama whose queries grow with position",
                                                 translate_ministral3, &kMinistral3Gguf};

}  // namespace headroom
