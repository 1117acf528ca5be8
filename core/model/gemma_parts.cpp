#include "core/model/gemma_parts.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

void norm_every_projection(BlockSpec& block, const std::string& base, double epsilon) {
  add_qk_norm(block, base, QkNormScope::PerHead, epsilon);
  block.attention.v_norm.kind = NormKind::Rms;
  block.attention.v_norm.epsilon = epsilon;
  block.attention.scale = 1.0;
}

Result<void> share_late_keys(ConfigReader& config, const LlamaConfig& llama, const std::vector<bool>& sliding,
                             std::int64_t fallback, ModelSpec& model) {
  const std::int64_t layers = llama.sizes.layers;
  HEADROOM_TRY(const std::int64_t shared, config.integer("num_kv_shared_layers", fallback, 0, std::int64_t{1} << 20));
  if (shared >= layers)
    return refuse_config("no layer is left that makes keys", config.name_of("num_kv_shared_layers"),
                         "at most " + std::to_string(layers - 1), std::to_string(shared));
  const std::int64_t first = layers - shared;
  for (std::int64_t layer = first; layer < layers; ++layer) {
    const auto kind_of = [&](std::int64_t of) { return sliding[static_cast<std::size_t>(of)]; };
    std::int64_t of = first - 1;
    while (of >= 0 && kind_of(of) != kind_of(layer)) --of;
    if (of < 0)
      return refuse_config("a layer uses keys of an earlier one of its kind, and there is none",
                           config.name_of("num_kv_shared_layers"), "fewer layers", std::to_string(shared));
    AttentionSpec& attention = model.blocks[static_cast<std::size_t>(layer)].attention;
    attention.keys_of_layer = of;
    attention.k = attention.v = {};
    attention.k_norm = attention.v_norm = {};
    // Files carry them all the same.
    for (const char* name : {"k_proj", "v_proj", "k_norm", "v_norm"})
      model.set_aside.push_back(llama.layer(layer) + "self_attn." + name);
  }
  return {};
}

Result<void> add_layer_embeddings(ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
  constexpr std::int64_t kMostVocab = 1 << 26, kMostWidth = 1 << 20;
  const std::int64_t hidden = llama.sizes.hidden;
  HEADROOM_TRY(const std::int64_t vocab, config.integer("vocab_size_per_layer_input", 262144, 1, kMostVocab));
  HEADROOM_TRY(const std::int64_t width, config.integer("hidden_size_per_layer_input", 256, 0, kMostWidth));
  if (width == 0) return {};
  const std::int64_t all = llama.sizes.layers * width;
  LayerEmbeddingSpec& embedding = model.layer_embedding;
  embedding.width = width;
  embedding.table = matrix(llama.prefix + "embed_tokens_per_layer.weight", vocab, all);
  embedding.table_scale = std::sqrt(static_cast<double>(width));
  embedding.projection = linear(llama.prefix + "per_layer_model_projection", all, hidden, false);
  embedding.projection_scale = 1.0 / std::sqrt(static_cast<double>(hidden));
  embedding.norm = rms_norm(llama.prefix + "per_layer_projection_norm.weight", width, llama.epsilon);
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    const std::string base = llama.layer(layer);
    block.token_branch.activation = llama.activation;
    block.token_branch.gate = linear(base + "per_layer_input_gate", width, hidden, false);
    block.token_branch.up = linear(base + "per_layer_projection", hidden, width, false);
    block.token_branch.norm = rms_norm(base + "post_per_layer_input_norm.weight", hidden, llama.epsilon);
  }
  return {};
}

}  // namespace headroom
