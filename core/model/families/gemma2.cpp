// Gemma 2: four norms a block, capped logits, a window in every other layer (core/model/ARCHITECTURES.md#gemma).
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/model/family.h"
#include "core/model/model_lines.h"

namespace headroom {
namespace {

Result<void> change_gemma2(ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) add_gemma_norms(model, llama, layer);
  HEADROOM_TRY_VOID(read_gemma_scales(config, 50.0, 30.0, model));
  HEADROOM_TRY(const std::int64_t window, read_window(config, 4096));
  HEADROOM_TRY(const std::vector<bool> sliding, read_sliding_layers(config, llama.sizes.layers, all_but_each(2)));
  set_windows(model, sliding, window);
  return {};
}

Result<ModelSpec> translate_gemma2(const ModelSource& source) {
  return translate_llama_relative(
      source, {.activation_key = "hidden_activation", .activation = "gelu_pytorch_tanh", .tied = true, .head_dim = 256},
      change_gemma2);
}

constexpr auto kGemma2GgufTensors = std::to_array<GgufTensor>({
    {"blk.#.ffn_norm", "model.layers.#.pre_feedforward_layernorm"},
});
constexpr auto kGemma2GgufConstants = std::to_array<GgufConstant>({
    {"sliding_window", "4096"},
});
// llama.cpp's gemma2.cpp: of the sizes by their layers, 27B alone divides by hidden_size / heads.
Result<void> finish_gemma2_gguf(const GgufMetadata&, nlohmann::json& config) {
  return say_gemma_query_scale(config, 46);
}

constexpr GgufNames kGemma2Gguf{.architectures = {"gemma2"},
                                .tensors = kGemma2GgufTensors,
                                .constants = kGemma2GgufConstants,
                                .norm_offset = 1.0,
                                .finish = finish_gemma2_gguf};

}  // namespace

extern constinit const Family kFamily_gemma2{"gemma2", "Gemma 2: four norms a block, capped logits, windows",
                                             translate_gemma2, &kGemma2Gguf};

}  // namespace headroom
