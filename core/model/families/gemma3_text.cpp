// Gemma 3, text: norms of queries and keys, five layers of six with a window and a rotation of their own
// (core/model/ARCHITECTURES.md#gemma).
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/model/family.h"
#include "core/model/model_lines.h"

namespace headroom {
namespace {

Result<void> change_gemma3(ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
  HEADROOM_TRY(const LayerRopes ropes,
               read_layer_ropes(config, {.theta = 1000000.0}, {.theta = 10000.0, .theta_key = "rope_local_base_freq"},
                                llama.sizes.head_dim, llama.sizes.max_positions));
  HEADROOM_TRY(const std::int64_t window, read_window(config, 4096));
  HEADROOM_TRY(const std::int64_t pattern, config.integer("sliding_window_pattern", 6, 1, 1 << 20));
  HEADROOM_TRY(const std::vector<bool> sliding, read_sliding_layers(config, llama.sizes.layers, all_but_each(pattern)));
  set_windows(model, sliding, window);
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    const auto l = static_cast<std::size_t>(layer);
    model.blocks[l].attention.rope = sliding[l] ? ropes.sliding : ropes.full;
    add_qk_norm(model.blocks[l], llama.layer(layer), QkNormScope::PerHead, llama.epsilon);
    add_gemma_norms(model, llama, layer);
  }
  return read_gemma_scales(config, 0.0, 0.0, model);
}

Result<ModelSpec> translate_gemma3(const ModelSource& source) {
  return translate_llama_relative(source,
                                  {.activation_key = "hidden_activation",
                                   .activation = "gelu_pytorch_tanh",
                                   .tied = true,
                                   .head_dim = 256,
                                   .rotates = false},
                                  change_gemma3);
}

constexpr auto kGemma3GgufTensors = std::to_array<GgufTensor>({
    {"blk.#.ffn_norm", "model.layers.#.pre_feedforward_layernorm"},
});
// llama.cpp's gemma3.cpp: 27B alone divides by hidden_size / heads; a file without a window has none in any layer.
Result<void> finish_gemma3_gguf(const GgufMetadata&, nlohmann::json& config) {
  if (config["sliding_window"].is_null()) config["sliding_window_pattern"] = 1;
  return say_gemma_query_scale(config, 62);
}

constexpr GgufNames kGemma3Gguf{.architectures = {"gemma3"},
                                .tensors = kGemma3GgufTensors,
                                .ropes_by_kind = true,
                                .sliding_theta = 10000.0,
                                .norm_offset = 1.0,
                                .finish = finish_gemma3_gguf};

}  // namespace

extern constinit const Family kFamily_gemma3_text{"gemma3_text", "Gemma 3, text: five layers of six with a window",
                                                  translate_gemma3, &kGemma3Gguf};

}  // namespace headroom
