// GPT-2 (core/model/ARCHITECTURES.md#gpt2): LayerNorm, learned positions, q|k|v fused in one Conv1D stored [in, out].
// nanoGPT's files, which hold the same weights as Linear [out, in], are told apart by the shape of c_attn.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/decoder_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

struct Layout {
  std::string prefix;      // "transformer." or ""
  bool transposed = true;  // Conv1D [in, out]
  bool bias = true;
};

// Rows [begin, begin + out) of a fused weight with `all` rows.
LinearSpec fused(const Layout& layout, const std::string& name, std::int64_t all, std::int64_t in, std::int64_t begin,
                 std::int64_t out) {
  LinearSpec spec;
  spec.weight = layout.transposed ? matrix(name + ".weight", in, all) : matrix(name + ".weight", all, in);
  spec.weight.transposed = layout.transposed;
  spec.weight.row_begin = begin;
  spec.weight.row_count = out;
  if (layout.bias) {
    spec.bias = vector(name + ".bias", all);
    spec.bias.row_begin = begin;
    spec.bias.row_count = out;
  }
  return spec;
}

NormSpec norm(const Layout& layout, const std::string& prefix, std::int64_t size, double epsilon) {
  NormSpec spec = layer_norm(prefix, size, epsilon);
  if (!layout.bias) spec.bias = {};
  return spec;
}

Layout detect_layout(const ModelSource& source, std::int64_t hidden) {
  Layout layout;
  layout.prefix = source.find("transformer.wte.weight") ? "transformer." : "";
  const std::string first = layout.prefix + "h.0.attn.c_attn";
  if (const SourceTensor* tensor = source.find(first + ".weight"))
    layout.transposed = tensor->info->shape != std::vector<std::int64_t>{3 * hidden, hidden};
  layout.bias = layout.transposed || source.find(first + ".bias");
  return layout;
}

Result<ModelSpec> translate_gpt2(const ModelSource& source) {
  ConfigReader config(source.config());
  ModelSpec model;
  model.model_type = "gpt2";
  HEADROOM_TRY(model.vocab_size, config.integer("vocab_size", std::nullopt, 1, 1 << 26));
  HEADROOM_TRY(model.max_positions, config.integer("n_positions", 1024, 1, 1 << 26));
  HEADROOM_TRY(model.hidden_size, config.integer("n_embd", std::nullopt, 1, 1 << 20));
  HEADROOM_TRY(const std::int64_t layers, config.integer("n_layer", std::nullopt, 1, 4096));
  HEADROOM_TRY(model.num_heads, config.integer("n_head", std::nullopt, 1, 65536));
  const std::int64_t hidden = model.hidden_size;
  HEADROOM_TRY(const std::int64_t inner, config.integer("n_inner", 4 * hidden, 1, 1 << 24));
  if (hidden % model.num_heads != 0) {
    Error error(ErrorCode::Corrupt, "n_embd does not divide among the heads");
    error.at_tensor("n_head").wanted("a divisor of n_embd = " + std::to_string(hidden),
                                     std::to_string(model.num_heads));
    return error;
  }
  HEADROOM_TRY(const double epsilon, config.norm_epsilon("layer_norm_epsilon", 1e-5));
  HEADROOM_TRY(const bool scaled, config.boolean("scale_attn_weights", true));
  HEADROOM_TRY(const bool by_layer, config.boolean("scale_attn_by_inverse_layer_idx", false));
  HEADROOM_TRY(const Activation activation, read_activation(config, "activation_function", "gelu_new"));
  HEADROOM_TRY(const bool tied, config.boolean("tie_word_embeddings", true));
  model.num_kv_heads = model.num_heads;

  const Layout layout = detect_layout(source, hidden);
  model.embedding = matrix(layout.prefix + "wte.weight", model.vocab_size, hidden);
  model.position_embedding = matrix(layout.prefix + "wpe.weight", model.max_positions, hidden);
  model.final_norm = norm(layout, layout.prefix + "ln_f", hidden, epsilon);
  model.tied = tied || !source.find("lm_head.weight");
  model.lm_head.weight = model.tied ? model.embedding : matrix("lm_head.weight", model.vocab_size, hidden);
  const std::int64_t head_dim = hidden / model.num_heads;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string base = layout.prefix + "h." + std::to_string(layer) + ".";
    BlockSpec block;
    block.attention_branch.before = norm(layout, base + "ln_1", hidden, epsilon);
    block.mlp_branch.before = norm(layout, base + "ln_2", hidden, epsilon);
    block.mlp.kind = MlpKind::Plain;
    block.mlp.activation = activation;
    block.mlp.up = fused(layout, base + "mlp.c_fc", inner, hidden, 0, inner);
    block.mlp.down = fused(layout, base + "mlp.c_proj", hidden, inner, 0, hidden);
    AttentionSpec& attention = block.attention;
    attention.kind = "softmax";
    attention.head_dim = attention.value_dim = head_dim;
    attention.num_query_blocks = attention.num_key_blocks = attention.num_value_blocks = model.num_heads;
    attention.q = fused(layout, base + "attn.c_attn", 3 * hidden, hidden, 0, hidden);
    attention.k = fused(layout, base + "attn.c_attn", 3 * hidden, hidden, hidden, hidden);
    attention.v = fused(layout, base + "attn.c_attn", 3 * hidden, hidden, 2 * hidden, hidden);
    attention.o = fused(layout, base + "attn.c_proj", hidden, hidden, 0, hidden);
    attention.scale = scaled ? 1.0 / std::sqrt(static_cast<double>(head_dim)) : 1.0;
    if (by_layer) attention.scale /= static_cast<double>(layer + 1);
    attention.heads = grouped_heads(model.num_heads, model.num_heads);
    model.blocks.push_back(std::move(block));
  }
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

}  // namespace

extern constinit const Family kFamily_gpt2{"gpt2", "GPT-2: LayerNorm, learned positions, fused Conv1D", translate_gpt2};

}  // namespace headroom
