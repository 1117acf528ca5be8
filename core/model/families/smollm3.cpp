// SmolLM 3: llama whose every fourth layer has no positions (core/model/ARCHITECTURES.md#smollm3).
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/family.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

Result<void> change_smollm3(ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
  HEADROOM_TRY(const bool bias, config.boolean("mlp_bias", false));
  if (bias) add_mlp_bias(model);
  HEADROOM_TRY(const std::vector<bool> rotating, read_rotating_layers(config, llama.sizes.layers));
  const auto rotates = [&](std::int64_t layer) { return rotating[static_cast<std::size_t>(layer)]; };
  HEADROOM_TRY(const bool used, config.boolean("use_sliding_window", false));
  HEADROOM_TRY(const std::int64_t window, read_window(config, 0));
  HEADROOM_TRY(const std::vector<bool> sliding,
               read_sliding_layers(config, llama.sizes.layers,
                                   [&](std::int64_t layer) { return used && window > 0 && !rotates(layer); }));
  set_windows(model, sliding, window);
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer)
    if (!rotates(layer)) model.blocks[static_cast<std::size_t>(layer)].attention.rope = {};
  return {};
}

Result<ModelSpec> translate_smollm3(const ModelSource& source) {
  return translate_llama_relative(source, {.tied = true, .rope = {.theta = 2000000.0}}, change_smollm3);
}

constexpr GgufNames kSmollm3Gguf{.architectures = {"smollm3"}, .tensors = kGgufPairs};

}  // namespace

extern constinit const Family kFamily_smollm3{"smollm3", "SmolLM 3: llama, each fourth layer without positions",
                                              translate_smollm3, &kSmollm3Gguf};

}  // namespace headroom
