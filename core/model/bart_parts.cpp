#include "core/model/bart_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/config_reader.h"
#include "core/model/decoder_parts.h"
#include "core/model/encoder_decoder_parts.h"

namespace headroom {
namespace {

constexpr double kEpsilon = 1e-5;        // of torch.nn.LayerNorm
constexpr std::int64_t kFirstPlace = 2;  // the first rows of the table of positions are of no token

struct BartFrame {
  DecoderSizes encoder, decoder;
  Activation activation = Activation::Gelu;
  bool norms_before = false;
};

SizeKeys stack_keys(std::string_view layers, std::string_view inner, std::string_view heads) {
  return {.layers = layers,
          .hidden = "d_model",
          .inner = inner,
          .heads = heads,
          .kv_heads = {},
          .head_dim = {},
          .default_positions = 1024};
}

AttentionSpec bart_attention(const DecoderSizes& sizes, const std::string& prefix) {
  AttentionSpec attention = grouped_attention(sizes, {});
  use_projections(attention, prefix, "out_proj", sizes.hidden, true, true);
  return attention;
}

void place_norm(const BartFrame& frame, const std::string& name, BranchSpec& branch) {
  (frame.norms_before ? branch.before : branch.sum) = layer_norm(name, frame.encoder.hidden, kEpsilon);
}

void add_bart_mlp(const BartFrame& frame, const DecoderSizes& sizes, const std::string& base, BlockSpec& block) {
  block.mlp = plain_mlp(base + "fc1", base + "fc2", sizes.hidden, sizes.inner, frame.activation, true);
  place_norm(frame, base + "final_layer_norm", block.mlp_branch);
}

BlockSpec encoder_block(const BartFrame& frame, const std::string& base) {
  BlockSpec block;
  block.attention = bart_attention(frame.encoder, base + "self_attn.");
  block.attention.causal = false;
  place_norm(frame, base + "self_attn_layer_norm", block.attention_branch);
  add_bart_mlp(frame, frame.encoder, base, block);
  return block;
}

void add_decoder_layer(const BartFrame& frame, const std::string& base, ModelSpec& model) {
  BlockSpec self, cross;
  self.attention = bart_attention(frame.decoder, base + "self_attn.");
  place_norm(frame, base + "self_attn_layer_norm", self.attention_branch);
  cross.attention = bart_attention(frame.decoder, base + "encoder_attn.");
  use_encoder(cross.attention);
  place_norm(frame, base + "encoder_attn_layer_norm", cross.attention_branch);
  add_bart_mlp(frame, frame.decoder, base, cross);
  model.blocks.push_back(std::move(self));
  model.blocks.push_back(std::move(cross));
}

WeightRef positions_of(const std::string& stack, const DecoderSizes& sizes) {
  WeightRef table = matrix(stack + "embed_positions.weight", sizes.max_positions + kFirstPlace, sizes.hidden);
  table.row_begin = kFirstPlace;
  table.row_count = sizes.max_positions;
  return table;
}

// The embedding of a stack: its own where the file has one and nothing is tied, else the first of the names under which
// a file may have what the stacks share.
std::string stack_embedding(const ModelSource& source, const std::string& prefix, const std::string& stack, bool tied) {
  if (!tied && source.find(stack + "embed_tokens.weight")) return stack + "embed_tokens.weight";
  return shared_embedding(source, prefix);
}

Result<BartFrame> read_bart_frame(ConfigReader& config, const BartForm& form) {
  BartFrame frame;
  frame.norms_before = form.norms_before;
  HEADROOM_TRY(frame.encoder,
               read_sizes(config, stack_keys("encoder_layers", "encoder_ffn_dim", "encoder_attention_heads")));
  HEADROOM_TRY(frame.decoder,
               read_sizes(config, stack_keys("decoder_layers", "decoder_ffn_dim", "decoder_attention_heads")));
  HEADROOM_TRY(frame.activation, read_activation(config, "activation_function", "gelu"));
  // Of the library these models come from, and for other tasks; `num_hidden_layers` says encoder_layers again.
  for (const char* key : {"num_hidden_layers", "dropout", "activation_dropout", "classifier_dropout", "classif_dropout",
                          "encoder_layerdrop", "decoder_layerdrop", "init_std", "_num_labels", "extra_pos_embeddings",
                          "normalize_embedding", "add_bias_logits", "force_bos_token_to_be_generated",
                          "forced_bos_token_id", "forced_eos_token_id", "no_repeat_ngram_size", "save_step"})
    (void)config.raw(key);
  for (const char* key : {"normalize_before", "add_final_layer_norm"}) {
    HEADROOM_TRY(const bool said, config.boolean(key, form.norms_before));
    if (said == form.norms_before || !config.mentions(key)) continue;
    Error error(ErrorCode::Unsupported, "norms stand elsewhere than this family has them");
    error.at_tensor(key).wanted(form.norms_before ? "true" : "false", said ? "true" : "false");
    return error;
  }
  HEADROOM_TRY(const bool sinusoids, config.boolean("static_position_embeddings", false));
  if (sinusoids)
    return Error(ErrorCode::Unsupported, "positions are no table of the file")
        .at_tensor("static_position_embeddings")
        .wanted("false", "true");
  return frame;
}

}  // namespace

Result<ModelSpec> translate_bart_form(const ModelSource& source, const BartForm& form) {
  ConfigReader config(source.config());
  HEADROOM_TRY(const BartFrame frame, read_bart_frame(config, form));
  HEADROOM_TRY(const bool tied, config.boolean("tie_word_embeddings", true));
  HEADROOM_TRY(const bool scaled, config.boolean("scale_embedding", false));
  const DecoderSizes& sizes = frame.encoder;
  HEADROOM_TRY(const std::int64_t start, config.integer("decoder_start_token_id", 2, 0, sizes.vocab - 1));
  ModelSpec model;
  fill_sizes(model, frame.decoder);
  model.num_heads = model.num_kv_heads = std::max(frame.encoder.heads, frame.decoder.heads);
  if (scaled) model.embedding_scale = std::sqrt(static_cast<double>(sizes.hidden));
  const std::string prefix = shared_prefix(source, "model.");
  const std::string encoder = prefix + "encoder.", decoder = prefix + "decoder.";
  model.embedding = matrix(stack_embedding(source, prefix, decoder, tied), sizes.vocab, sizes.hidden);
  model.position_embedding = positions_of(decoder, sizes);
  model.embedding_norm = layer_norm(decoder + "layernorm_embedding", sizes.hidden, kEpsilon);
  model.encoder.emplace();
  model.encoder->blocks = frame.encoder.layers;
  model.encoder->embedding = matrix(stack_embedding(source, prefix, encoder, tied), sizes.vocab, sizes.hidden);
  model.encoder->position_embedding = positions_of(encoder, sizes);
  model.encoder->embedding_norm = layer_norm(encoder + "layernorm_embedding", sizes.hidden, kEpsilon);
  if (form.start_token) model.encoder->start_token_id = start;
  for (std::int64_t layer = 0; layer < frame.encoder.layers; ++layer)
    model.blocks.push_back(encoder_block(frame, encoder + "layers." + std::to_string(layer) + "."));
  for (std::int64_t layer = 0; layer < frame.decoder.layers; ++layer)
    add_decoder_layer(frame, decoder + "layers." + std::to_string(layer) + ".", model);
  if (form.norms_before) {
    model.encoder->final_norm = layer_norm(encoder + "layer_norm", sizes.hidden, kEpsilon);
    model.final_norm = layer_norm(decoder + "layer_norm", sizes.hidden, kEpsilon);
  }
  model.tied = tied || !source.find("lm_head.weight");
  model.lm_head.weight = model.tied ? model.embedding : matrix("lm_head.weight", sizes.vocab, sizes.hidden);
  if (source.find("final_logits_bias")) {
    model.lm_head.bias = matrix("final_logits_bias", 1, sizes.vocab);
    model.lm_head.bias.slice = 0;
  }
  model.set_aside = {"classification_head.", "qa_outputs.", encoder + "version", decoder + "version"};
  set_shared_aside(model, prefix);
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

}  // namespace headroom
