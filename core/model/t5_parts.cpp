#include "core/model/t5_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/model/config_reader.h"
#include "core/model/decoder_parts.h"
#include "core/model/encoder_decoder_parts.h"

namespace headroom {
namespace {

constexpr std::int64_t kMostBuckets = 1 << 20;

struct T5Frame {
  DecoderSizes sizes;
  double epsilon = 1e-6;
  bool gated = false;
  Activation activation = Activation::Relu;
  std::int64_t buckets = 32, furthest = 128;
};

// "relu", or "gated-gelu" for a gated MLP, whose gelu is the tanh form.
Result<void> read_feed_forward(ConfigReader& config, const std::string& fallback, T5Frame& frame) {
  constexpr std::string_view kKey = "feed_forward_proj", kGated = "gated-";
  HEADROOM_TRY(std::string name, config.text(kKey, fallback));
  frame.gated = name.starts_with(kGated);
  if (name == "gated-gelu") name = "gated-gelu_new";
  const nlohmann::json named = {{kKey, frame.gated ? name.substr(kGated.size()) : name}};
  ConfigReader reader(named);
  HEADROOM_TRY(frame.activation, read_activation(reader, kKey, ""));
  // What the library makes of this key stands in some files beside it.
  for (const char* key : {"dense_act_fn", "is_gated_act"}) (void)config.raw(key);
  return {};
}

// Whether a file holds a gated MLP, where the config does not say it: GGUF's does not.
std::string feed_forward_of(const ModelSource& source, const T5Form& form) {
  const std::string dense = "encoder.block.0.layer.1.DenseReluDense.";
  if (source.find(dense + "wi_0.weight")) return "gated-gelu";
  return source.find(dense + "wi.weight") ? "relu" : std::string(form.feed_forward);
}

Result<T5Frame> read_t5_frame(ConfigReader& config, const ModelSource& source, const T5Form& form) {
  T5Frame frame;
  HEADROOM_TRY(frame.sizes, read_sizes(config, {.layers = "num_layers",
                                                .hidden = "d_model",
                                                .inner = "d_ff",
                                                .heads = "num_heads",
                                                .max_positions = "n_positions",
                                                .kv_heads = {},
                                                .head_dim = "d_kv",
                                                .default_head_dim = 64}));
  HEADROOM_TRY(frame.epsilon, config.norm_epsilon("layer_norm_epsilon", 1e-6));
  HEADROOM_TRY(frame.buckets, config.integer("relative_attention_num_buckets", 32, 4, kMostBuckets));
  HEADROOM_TRY(frame.furthest, config.integer("relative_attention_max_distance", 128, 2, kMostBuckets));
  // The buckets of exact distances end before the furthest one.
  if (frame.furthest <= frame.buckets / 2)
    return refuse_config("distances have more buckets than there are", "relative_attention_max_distance",
                         "more than " + std::to_string(frame.buckets / 2), std::to_string(frame.furthest));
  for (const char* key :
       {"dropout_rate", "classifier_dropout", "initializer_factor", "num_hidden_layers", "output_past"})
    (void)config.raw(key);
  HEADROOM_TRY_VOID(read_feed_forward(config, feed_forward_of(source, form), frame));
  return frame;
}

AttentionSpec t5_attention(const T5Frame& frame, const std::string& prefix) {
  const std::int64_t hidden = frame.sizes.hidden, inner = frame.sizes.heads * frame.sizes.head_dim;
  AttentionSpec attention = grouped_attention(frame.sizes, {});
  attention.scale = 1.0;
  attention.q = linear(prefix + "q", inner, hidden, false);
  attention.k = linear(prefix + "k", inner, hidden, false);
  attention.v = linear(prefix + "v", inner, hidden, false);
  attention.o = linear(prefix + "o", hidden, inner, false);
  return attention;
}

NormSpec t5_norm(const T5Frame& frame, const std::string& name) {
  return rms_norm(name + "layer_norm.weight", frame.sizes.hidden, frame.epsilon);
}

// The self-attention of a layer of STACK; its bias is the table of the stack's first layer.
BlockSpec t5_self_block(const T5Frame& frame, const std::string& stack, const std::string& base, bool causal) {
  BlockSpec block;
  block.attention = t5_attention(frame, base + "layer.0.SelfAttention.");
  block.attention.causal = causal;
  block.attention.bias.table =
      matrix(stack + "block.0.layer.0.SelfAttention.relative_attention_bias.weight", frame.buckets, frame.sizes.heads);
  block.attention.bias.bidirectional = !causal;
  block.attention.bias.max_distance = frame.furthest;
  block.attention_branch.before = t5_norm(frame, base + "layer.0.");
  return block;
}

void add_t5_mlp(const T5Frame& frame, const std::string& base, BlockSpec& block) {
  const std::string dense = base + "DenseReluDense.";
  const std::int64_t hidden = frame.sizes.hidden, inner = frame.sizes.inner;
  block.mlp = plain_mlp(dense + (frame.gated ? "wi_1" : "wi"), dense + "wo", hidden, inner, frame.activation, false);
  if (frame.gated) {
    block.mlp.kind = MlpKind::Gated;
    block.mlp.gate = linear(dense + "wi_0", inner, hidden, false);
  }
  block.mlp_branch.before = t5_norm(frame, base);
}

void add_t5_layer(const T5Frame& frame, const std::string& base, ModelSpec& model) {
  model.blocks.push_back(t5_self_block(frame, "decoder.", base, true));
  BlockSpec cross;
  cross.attention = t5_attention(frame, base + "layer.1.EncDecAttention.");
  use_encoder(cross.attention);
  cross.attention_branch.before = t5_norm(frame, base + "layer.1.");
  add_t5_mlp(frame, base + "layer.2.", cross);
  model.blocks.push_back(std::move(cross));
}

}  // namespace

Result<ModelSpec> translate_t5_form(const ModelSource& source, const T5Form& form) {
  ConfigReader config(source.config());
  HEADROOM_TRY(const T5Frame frame, read_t5_frame(config, source, form));
  const DecoderSizes& sizes = frame.sizes;
  HEADROOM_TRY(const std::int64_t layers, config.integer("num_decoder_layers", sizes.layers, 1, 4096));
  HEADROOM_TRY(const bool tied, config.boolean("tie_word_embeddings", true));
  HEADROOM_TRY(const std::int64_t padding, config.integer("pad_token_id", 0, 0, sizes.vocab - 1));
  HEADROOM_TRY(const std::int64_t start, config.integer("decoder_start_token_id", padding, 0, sizes.vocab - 1));
  ModelSpec model;
  fill_sizes(model, sizes);
  model.max_positions = 0;  // n_positions is the length of the training, and distances go on beyond it
  model.embedding = matrix(shared_embedding(source, ""), sizes.vocab, sizes.hidden);
  model.encoder.emplace();
  model.encoder->blocks = sizes.layers;
  model.encoder->embedding = model.embedding;
  model.encoder->final_norm = t5_norm(frame, "encoder.final_");
  model.encoder->start_token_id = start;
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string base = "encoder.block." + std::to_string(layer) + ".";
    BlockSpec block = t5_self_block(frame, "encoder.", base, false);
    add_t5_mlp(frame, base + "layer.1.", block);
    model.blocks.push_back(std::move(block));
  }
  for (std::int64_t layer = 0; layer < layers; ++layer)
    add_t5_layer(frame, "decoder.block." + std::to_string(layer) + ".", model);
  model.final_norm = t5_norm(frame, "decoder.final_");
  // Published files say of tied models that they are not, and hold lm_head where it is a matrix of its own.
  model.tied = !source.find("lm_head.weight");
  model.lm_head.weight = model.tied ? model.embedding : matrix("lm_head.weight", sizes.vocab, sizes.hidden);
  if (form.scales_logits && tied) model.logit_scale = 1.0 / std::sqrt(static_cast<double>(sizes.hidden));
  model.set_aside = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias."};
  set_shared_aside(model, "");
  // What GGUF calls by one name has two here.
  for (std::int64_t layer = 0; layer < std::max(sizes.layers, layers); ++layer) {
    const std::string block = "block." + std::to_string(layer) + ".layer.", other = frame.gated ? "wi." : "wi_1.";
    model.set_aside.push_back("encoder." + block + "1.DenseReluDense." + other);
    model.set_aside.push_back("decoder." + block + "2.DenseReluDense." + other);
  }
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

}  // namespace headroom
