#include "core/model/encoder_parts.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

namespace headroom {
namespace {

constexpr std::int64_t kMostTypes = 1 << 20;

BlockSpec bert_block(const BertFrame& frame, const std::string& base, bool causal) {
  const std::int64_t hidden = frame.sizes.hidden;
  BlockSpec block;
  block.attention = grouped_attention(frame.sizes, {});
  block.attention.causal = causal;
  block.attention.q = linear(base + "attention.self.query", hidden, hidden, true);
  block.attention.k = linear(base + "attention.self.key", hidden, hidden, true);
  block.attention.v = linear(base + "attention.self.value", hidden, hidden, true);
  block.attention.o = linear(base + "attention.output.dense", hidden, hidden, true);
  block.attention_branch.sum = layer_norm(base + "attention.output.LayerNorm", hidden, frame.epsilon);
  block.mlp =
      plain_mlp(base + "intermediate.dense", base + "output.dense", hidden, frame.sizes.inner, frame.activation, true);
  block.mlp_branch.sum = layer_norm(base + "output.LayerNorm", hidden, frame.epsilon);
  return block;
}

}  // namespace

std::string encoder_prefix(const ModelSource& source, const std::string& prefix, std::string_view first) {
  return source.find(std::string(first)) ? "" : prefix;
}

Result<void> add_masked_head(ConfigReader& config, const ModelSource& source, const MaskedHeadNames& names,
                             std::int64_t hidden, std::int64_t embedded, Activation activation, double epsilon,
                             ModelSpec& model) {
  HEADROOM_TRY(const bool tied, config.boolean("tie_word_embeddings", true));
  const std::string dense(names.dense), output(names.output), bias(names.bias);
  if (!source.find(dense + ".weight")) return {};
  model.head_transform.dense = linear(dense, embedded, hidden, true);
  model.head_transform.activation = activation;
  model.head_transform.norm = layer_norm(std::string(names.norm), embedded, epsilon);
  model.tied = tied || !source.find(output + ".weight");
  model.lm_head.weight = model.tied ? model.embedding : matrix(output + ".weight", model.vocab_size, embedded);
  model.lm_head.bias = vector(source.find(output + ".bias") ? output + ".bias" : bias, model.vocab_size);
  // Files hold what is tied twice, or once.
  if (model.tied) model.set_aside.push_back(output + ".weight");
  model.set_aside.push_back(bias);
  return {};
}

Result<BertFrame> read_bert_frame(ConfigReader& config, const ModelSource& source, const std::string& prefix,
                                  ModelSpec& model) {
  BertFrame frame;
  frame.prefix = encoder_prefix(source, prefix);
  HEADROOM_TRY(frame.sizes, read_sizes(config, {.kv_heads = {}, .head_dim = {}, .default_positions = 512}));
  HEADROOM_TRY(frame.epsilon, config.norm_epsilon("layer_norm_eps", 1e-12));
  HEADROOM_TRY(frame.activation, read_activation(config, "hidden_act", "gelu"));
  HEADROOM_TRY(const std::int64_t types, config.integer("type_vocab_size", 2, 1, kMostTypes));
  HEADROOM_TRY(frame.embedded, config.integer("embedding_size", frame.sizes.hidden, 1, 1 << 20));
  HEADROOM_TRY(const bool decoder, config.boolean("is_decoder", false));
  HEADROOM_TRY(const std::string positions, config.text("position_embedding_type", "absolute"));
  if (positions != "absolute") {
    Error error(ErrorCode::Unsupported, "positions relative to each other, which this family does not run");
    error.at_tensor("position_embedding_type").wanted("absolute", positions);
    return error;
  }
  for (const char* key : {"classifier_dropout", "summary_last_dropout"}) (void)config.raw(key);
  fill_sizes(model, frame.sizes);
  const std::string base = frame.prefix + "embeddings.";
  model.embedding = matrix(base + "word_embeddings.weight", frame.sizes.vocab, frame.embedded);
  model.position_embedding = matrix(base + "position_embeddings.weight", frame.sizes.max_positions, frame.embedded);
  model.type_embedding = matrix(base + "token_type_embeddings.weight", types, frame.embedded);
  model.embedding_norm = layer_norm(base + "LayerNorm", frame.embedded, frame.epsilon);
  for (std::int64_t layer = 0; layer < frame.sizes.layers; ++layer)
    model.blocks.push_back(bert_block(frame, frame.prefix + "encoder.layer." + std::to_string(layer) + ".", decoder));
  model.set_aside = {frame.prefix + "pooler.", "classifier.", "cls.seq_relationship.", "qa_outputs."};
  return frame;
}

Result<ModelSpec> translate_roberta(const ModelSource& source) {
  ConfigReader config(source.config());
  ModelSpec model;
  HEADROOM_TRY(const BertFrame frame, read_bert_frame(config, source, "roberta.", model));
  HEADROOM_TRY(model.padding_id, config.integer("pad_token_id", 1, 0, frame.sizes.max_positions - 2));
  model.max_positions = model.learned_positions();
  HEADROOM_TRY_VOID(add_masked_head(
      config, source,
      {.dense = "lm_head.dense", .norm = "lm_head.layer_norm", .output = "lm_head.decoder", .bias = "lm_head.bias"},
      frame.sizes.hidden, frame.embedded, Activation::Gelu, frame.epsilon, model));
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

}  // namespace headroom
