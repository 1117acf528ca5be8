#include "core/model/t5_parts.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/model/config_reader.h"
#include "core/model/decoder_parts.h"

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
Result<void> read_feed_forward(ConfigReader& config, std::string_view fallback, T5Frame& frame) {
  constexpr std::string_view kKey = "feed_forward_proj", kGated = "gated-";
  HEADROOM_TRY(std::string name, config.text(kKey, std::string(fallback)));
  frame.gated = name.starts_with(kGated);
  if (name == "gated-gelu") name = "gated-gelu_new";
  const nlohmann::json named = {{kKey, frame.gated ? name.substr(kGated.size()) : name}};
  ConfigReader reader(named);
  HEADROOM_TRY(frame.activation, read_activation(reader, kKey, ""));
  // What the library makes of this key stands in some files beside it.
  for (const char* key : {"dense_act_fn", "is_gated_act"}) (void)config.raw(key);
  return {};
}

Result<T5Frame> read_frame(ConfigReader& config, const T5Form& form) {
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
  for (const char* key : {"dropout_rate", "classifier_dropout", "initializer_factor", "num_hidden_layers", "output_past"})
    (void)config.raw(key);
  HEADROOM_TRY_VOID(read_feed_forward(config, form.feed_forward, frame));
  return frame;
}

AttentionSpec attention_of(const T5Frame& frame, const std::string& prefix) {
  const std::int64_t hidden = frame.sizes.hidden, inner = frame.sizes.heads * frame.sizes.head_dim;
  AttentionSpec attention = grouped_attention(frame.sizes, {});
  attention.scale = 1.0;
  attention.q = linear(prefix + "q", inner, hidden, false);
  attention.k = linear(prefix + "k", inner, hidden, false);
  attention.v = linear(prefix + "v", inner, hidden, false);
  attention.o = linear(prefix + "o", hidden, inner, false);
  return attention;
}

NormSpec norm_of(const T5Frame& frame, const std::string& name) {
  return rms_norm(name + "layer_norm.weight", frame.sizes.hidden, frame.epsilon);
}

// The self-attention of a layer of STACK; its bias is the table of the stack's first layer.
BlockSpec self_block(const T5Frame& frame, const std::string& stack, const std::string& base, bool causal) {
  BlockSpec block;
  block.attention = attention_of(frame, base + "layer.0.SelfAttention.");
  block.attention.causal = causal;
  block.attention.bias.table =
      matrix(stack + "block.0.layer.0.SelfAttention.relative_attention_bias.weight", frame.buckets, frame.sizes.heads);
  block.attention.bias.bidirectional = !causal;
  block.attention.bias.max_distance = frame.furthest;
  block.attention_branch.before = norm_of(frame, base + "layer.0.");
  return block;
}

void add_mlp(const T5Frame& frame, const std::string& base, BlockSpec& block) {
  const std::string dense = base + "DenseReluDense.";
  const std::int64_t hidden = frame.sizes.hidden, inner = frame.sizes.inner;
  block.mlp = plain_mlp(dense + (frame.gated ? "wi_1" : "wi"), dense + "wo", hidden, inner, frame.activation, false);
  if (frame.gated) {
    block.mlp.kind = MlpKind::Gated;
    block.mlp.gate = linear(dense + "wi_0", inner, hidden, false);
  }
  block.mlp_branch.before = norm_of(frame, base);
}

void add_decoder_layer(const T5Frame& frame, const std::string& base, ModelSpec& model) {
  model.blocks.push_back(self_block(frame, "decoder.", base, true));
  BlockSpec cross;
  cross.attention = attention_of(frame, base + "layer.1.EncDecAttention.");
  cross.attention.causal = false;
  cross.attention.cross = true;
  cross.attention_branch.before = norm_of(frame, base + "layer.1.");
  add_mlp(frame, base + "layer.2.", cross);
  model.blocks.push_back(std::move(cross));
}

std::string embedding_name(const ModelSource& source) {
  for (const char* name : {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"})
    if (source.find(name)) return name;
  return "shared.weight";
}

}  // namespace

Result<ModelSpec> translate_t5_form(const ModelSource& source, const T5Form& form) {
  ConfigReader config(source.config());
  HEADROOM_TRY(const T5Frame frame, read_frame(config, form));
  const DecoderSizes& sizes = frame.sizes;
  HEADROOM_TRY(const std::int64_t layers, config.integer("num_decoder_layers", sizes.layers, 1, 4096));
  HEADROOM_TRY(const bool tied, config.boolean("tie_word_embeddings", true));
  HEADROOM_TRY(const std::int64_t padding, config.integer("pad_token_id", 0, 0, sizes.vocab - 1));
  HEADROOM_TRY(const std::int64_t start, config.integer("decoder_start_token_id", padding, 0, sizes.vocab - 1));
  ModelSpec model;
  fill_sizes(model, sizes);
  model.max_positions = 0;  // n_positions is the length of the training, and distances go on beyond it
  model.embedding = matrix(embedding_name(source), sizes.vocab, sizes.hidden);
  model.encoder.emplace();
  model.encoder->blocks = sizes.layers;
  model.encoder->embedding = model.embedding;
  model.encoder->final_norm = norm_of(frame, "encoder.final_");
  model.encoder->start_token_id = start;
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string base = "encoder.block." + std::to_string(layer) + ".";
    BlockSpec block = self_block(frame, "encoder.", base, false);
    add_mlp(frame, base + "layer.1.", block);
    model.blocks.push_back(std::move(block));
  }
  for (std::int64_t layer = 0; layer < layers; ++layer)
    add_decoder_layer(frame, "decoder.block." + std::to_string(layer) + ".", model);
  model.final_norm = norm_of(frame, "decoder.final_");
  // Published files say of tied models that they are not, and hold lm_head where it is a matrix of its own.
  model.tied = !source.find("lm_head.weight");
  model.lm_head.weight = model.tied ? model.embedding : matrix("lm_head.weight", sizes.vocab, sizes.hidden);
  if (form.scales_logits && tied) model.logit_scale = 1.0 / std::sqrt(static_cast<double>(sizes.hidden));
  model.set_aside = {"shared.", "encoder.embed_tokens.", "decoder.embed_tokens.",
                     "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias."};
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

}  // namespace headroom
