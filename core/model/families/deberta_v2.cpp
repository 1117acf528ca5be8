// DeBERTa-v2 and v3 (He et al. 2021, arXiv 2006.03654 and 2111.09543; core/model/ARCHITECTURES.md#deberta-v2): BERT
// whose logits have terms of content and distance.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/encoder_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

// "c2p|p2c", or a list of them.
Result<std::set<std::string, std::less<>>> read_terms(ConfigReader& config) {
  const nlohmann::json& given = config.raw("pos_att_type");
  std::set<std::string, std::less<>> terms;
  if (given.is_null()) return terms;
  nlohmann::json list = given;
  if (given.is_string()) {
    list = nlohmann::json::array();
    const std::string text = given.get<std::string>() + "|";
    for (std::size_t begin = 0, end = 0; (end = text.find('|', begin)) != std::string::npos; begin = end + 1) {
      std::string term = text.substr(begin, end - begin);
      std::erase(term, ' ');
      std::ranges::transform(term, term.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
      if (!term.empty()) list.push_back(term);
    }
  }
  if (!list.is_array())
    return refuse_config("terms of the logits are no list", "pos_att_type", "c2p|p2c", given.dump());
  for (const nlohmann::json& term : list) {
    if (term != "c2p" && term != "p2c") {
      Error error(ErrorCode::Unsupported, "an unknown term of the logits");
      return error.at_tensor("pos_att_type").wanted("c2p or p2c", term.dump());
    }
    terms.insert(term.get<std::string>());
  }
  return terms;
}

struct DebertaFrame {
  DecoderSizes sizes;
  std::string prefix;
  double epsilon = 1e-7, scale = 1.0;
  Activation activation = Activation::Gelu;
  std::set<std::string, std::less<>> terms;
  DisentangledSpec disentangled;  // without projections; absent: the logits have no such terms
  bool shared_projections = false;
};

Result<void> read_relative(ConfigReader& config, DebertaFrame& frame) {
  HEADROOM_TRY(const bool relative, config.boolean("relative_attention", false));
  HEADROOM_TRY(std::int64_t furthest, config.integer("max_relative_positions", -1, -1, 1 << 24));
  HEADROOM_TRY(const std::int64_t buckets, config.integer("position_buckets", -1, -1, 1 << 20));
  HEADROOM_TRY(frame.shared_projections, config.boolean("share_att_key", false));
  HEADROOM_TRY(const std::string norm, config.text("norm_rel_ebd", "none"));
  if (!relative || frame.terms.empty()) return {};
  if (furthest < 1) furthest = frame.sizes.max_positions;
  if (buckets > 0 && (buckets < 2 || furthest - 1 <= buckets / 2))
    return refuse_config("distances have too few buckets, or too many", "position_buckets",
                         "2 to twice max_relative_positions", std::to_string(buckets));
  DisentangledSpec& spec = frame.disentangled;
  spec.span = buckets > 0 ? buckets : furthest;
  spec.buckets = std::max<std::int64_t>(buckets, 0);
  spec.furthest = furthest;
  spec.embedding = matrix(frame.prefix + "encoder.rel_embeddings.weight", 2 * spec.span, frame.sizes.hidden);
  if (norm.find("layer_norm") != std::string::npos)
    spec.norm = layer_norm(frame.prefix + "encoder.LayerNorm", frame.sizes.hidden, frame.epsilon);
  return {};
}

Result<DebertaFrame> read_deberta_frame(ConfigReader& config, const ModelSource& source) {
  DebertaFrame frame;
  frame.prefix = encoder_prefix(source, "deberta.");
  HEADROOM_TRY(frame.sizes,
               read_sizes(config, {.kv_heads = {}, .head_dim = "attention_head_size", .default_positions = 512}));
  if (frame.sizes.head_dim * frame.sizes.heads != frame.sizes.hidden)
    return refuse_config("contexts are not as wide as the stream", "attention_head_size",
                         std::to_string(frame.sizes.hidden / frame.sizes.heads), std::to_string(frame.sizes.head_dim));
  HEADROOM_TRY(frame.epsilon, config.norm_epsilon("layer_norm_eps", 1e-7));
  HEADROOM_TRY(frame.activation, read_activation(config, "hidden_act", "gelu"));
  HEADROOM_TRY(frame.terms, read_terms(config));
  const std::int64_t terms = static_cast<std::int64_t>(frame.terms.size());
  frame.scale = 1.0 / std::sqrt(static_cast<double>(frame.sizes.head_dim * (1 + terms)));
  HEADROOM_TRY_VOID(read_relative(config, frame));
  HEADROOM_TRY(const std::int64_t convolution, config.integer("conv_kernel_size", 0, 0, 1 << 16));
  if (convolution > 0) {
    Error error(ErrorCode::Unsupported, "a convolution beside the first layer, which is not run here");
    return error.at_tensor("conv_kernel_size").wanted("0", std::to_string(convolution));
  }
  for (const char* key : {"conv_act", "conv_groups", "pooler_dropout", "pooler_hidden_act", "pooler_hidden_size",
                          "cls_dropout", "stable_dropout", "pos_dropout"})
    (void)config.raw(key);
  return frame;
}

BlockSpec deberta_block(const DebertaFrame& frame, const std::string& base) {
  const std::int64_t hidden = frame.sizes.hidden;
  BlockSpec block;
  AttentionSpec& attention = block.attention;
  attention = grouped_attention(frame.sizes, {});
  attention.causal = false;
  attention.scale = frame.scale;
  const std::string self = base + "attention.self.";
  attention.q = linear(self + "query_proj", hidden, hidden, true);
  attention.k = linear(self + "key_proj", hidden, hidden, true);
  attention.v = linear(self + "value_proj", hidden, hidden, true);
  attention.o = linear(base + "attention.output.dense", hidden, hidden, true);
  attention.disentangled = frame.disentangled;
  if (frame.disentangled.present() && frame.terms.contains("c2p"))
    attention.disentangled.key =
        frame.shared_projections ? attention.k : linear(self + "pos_key_proj", hidden, hidden, true);
  if (frame.disentangled.present() && frame.terms.contains("p2c"))
    attention.disentangled.query =
        frame.shared_projections ? attention.q : linear(self + "pos_query_proj", hidden, hidden, true);
  block.attention_branch.sum = layer_norm(base + "attention.output.LayerNorm", hidden, frame.epsilon);
  block.mlp =
      plain_mlp(base + "intermediate.dense", base + "output.dense", hidden, frame.sizes.inner, frame.activation, true);
  block.mlp_branch.sum = layer_norm(base + "output.LayerNorm", hidden, frame.epsilon);
  return block;
}

Result<void> add_embedding(ConfigReader& config, const DebertaFrame& frame, ModelSpec& model) {
  const std::string base = frame.prefix + "embeddings.";
  const std::int64_t hidden = frame.sizes.hidden;
  HEADROOM_TRY(const std::int64_t width, config.integer("embedding_size", hidden, 1, 1 << 20));
  if (width != hidden) {
    Error error(ErrorCode::Unsupported, "an embedding of another width than the stream");
    return error.at_tensor("embedding_size").wanted(std::to_string(hidden), std::to_string(width));
  }
  HEADROOM_TRY(const bool placed, config.boolean("position_biased_input", true));
  HEADROOM_TRY(const std::int64_t types, config.integer("type_vocab_size", 0, 0, 1 << 20));
  model.embedding = matrix(base + "word_embeddings.weight", frame.sizes.vocab, hidden);
  if (placed) model.position_embedding = matrix(base + "position_embeddings.weight", frame.sizes.max_positions, hidden);
  if (types > 0) model.type_embedding = matrix(base + "token_type_embeddings.weight", types, hidden);
  model.embedding_norm = layer_norm(base + "LayerNorm", hidden, frame.epsilon);
  return {};
}

Result<ModelSpec> translate_deberta_v2(const ModelSource& source) {
  ConfigReader config(source.config());
  HEADROOM_TRY(const DebertaFrame frame, read_deberta_frame(config, source));
  HEADROOM_TRY(const bool legacy, config.boolean("legacy", true));
  ModelSpec model;
  fill_sizes(model, frame.sizes);
  HEADROOM_TRY_VOID(add_embedding(config, frame, model));
  for (std::int64_t layer = 0; layer < frame.sizes.layers; ++layer)
    model.blocks.push_back(deberta_block(frame, frame.prefix + "encoder.layer." + std::to_string(layer) + "."));
  // Published files have the head of the training and of replaced tokens, which `legacy` models do not read.
  model.set_aside = {"pooler.", "classifier.", "qa_outputs.", "mask_predictions."};
  if (!model.position_embedding.present()) model.set_aside.push_back(frame.prefix + "embeddings.position_embeddings.");
  if (legacy) model.set_aside.push_back("lm_predictions.");
  const MaskedHeadNames names = legacy ? MaskedHeadNames{.dense = "cls.predictions.transform.dense",
                                                         .norm = "cls.predictions.transform.LayerNorm",
                                                         .output = "cls.predictions.decoder",
                                                         .bias = "cls.predictions.bias"}
                                       : MaskedHeadNames{.dense = "lm_predictions.lm_head.dense",
                                                         .norm = "lm_predictions.lm_head.LayerNorm",
                                                         .output = "lm_predictions.lm_head.decoder",
                                                         .bias = "lm_predictions.lm_head.bias"};
  HEADROOM_TRY_VOID(add_masked_head(config, source, names, frame.sizes.hidden, frame.sizes.hidden, frame.activation,
                                    frame.epsilon, model));
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

}  // namespace

extern constinit const Family kFamily_deberta_v2{"deberta-v2", "DeBERTa v2, v3: logits by content and distance",
                                                 translate_deberta_v2};

}  // namespace headroom
