#include "core/model/bloom_parts.h"

namespace headroom {

SizeKeys bloom_keys(ConfigReader& config) {
  const auto spelled = [&](std::string_view key, std::string_view other) {
    for (const std::string_view each : {key, other}) (void)config.raw(each);
    return config.has(other) && !config.has(key) ? other : key;
  };
  return {.layers = spelled("num_hidden_layers", "n_layer"),
          .hidden = config.has("n_embed") ? spelled("n_embed", "hidden_size") : "hidden_size",
          .inner = "n_inner",
          .heads = spelled("num_attention_heads", "n_head"),
          .max_positions = "seq_length",
          .kv_heads = {},
          .head_dim = {},
          .inner_needed = false};
}

Result<BloomFrame> read_bloom_frame(const ModelSource& source, ConfigReader& config, const DecoderSizes& sizes,
                                    ModelSpec& model) {
  BloomFrame frame;
  const bool bare = !source.find("transformer.word_embeddings.weight") && source.find("word_embeddings.weight");
  frame.prefix = bare ? "" : "transformer.";
  HEADROOM_TRY(frame.epsilon, config.norm_epsilon("layer_norm_epsilon", 1e-5));
  HEADROOM_TRY(const bool tied, config.boolean("tie_word_embeddings", true));
  fill_sizes(model, sizes);
  model.embedding = matrix(frame.prefix + "word_embeddings.weight", sizes.vocab, sizes.hidden);
  model.final_norm = layer_norm(frame.prefix + "ln_f", sizes.hidden, frame.epsilon);
  model.tied = tied || !source.find("lm_head.weight");
  model.lm_head.weight = model.tied ? model.embedding : matrix("lm_head.weight", sizes.vocab, sizes.hidden);
  return frame;
}

BlockSpec bloom_block(const BloomFrame& frame, const DecoderSizes& sizes, std::int64_t layer, Activation activation,
                      bool bias) {
  const std::string base = frame.layer(layer);
  BlockSpec block;
  block.attention_branch.before = layer_norm(base + "input_layernorm", sizes.hidden, frame.epsilon);
  block.mlp_branch.before = layer_norm(base + "post_attention_layernorm", sizes.hidden, frame.epsilon);
  block.mlp =
      plain_mlp(base + "mlp.dense_h_to_4h", base + "mlp.dense_4h_to_h", sizes.hidden, sizes.inner, activation, bias);
  block.attention = grouped_attention(sizes, {});
  const std::int64_t d = sizes.head_dim, queries = sizes.heads / sizes.kv_heads * d, group = queries + 2 * d;
  const auto rows = [&](RowRange range) {
    return linear_rows(base + "self_attention.query_key_value", sizes.kv_heads * group, sizes.hidden, range, bias);
  };
  block.attention.q = rows({0, sizes.heads * d, queries, group});
  block.attention.k = rows({queries, sizes.kv_heads * d, d, group});
  block.attention.v = rows({queries + d, sizes.kv_heads * d, d, group});
  block.attention.o = linear(base + "self_attention.dense", sizes.hidden, sizes.hidden, bias);
  return block;
}

}  // namespace headroom
