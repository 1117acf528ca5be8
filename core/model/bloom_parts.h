// What BLOOM and Falcon name alike: word_embeddings, h.N.self_attention.query_key_value, h.N.mlp.dense_h_to_4h, ln_f.
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/config_reader.h"
#include "core/model/decoder_parts.h"
#include "core/model/model_source.h"
#include "core/model/model_spec.h"

namespace headroom {

// The keys of their sizes, in the spelling that the config has: num_hidden_layers or n_layer, num_attention_heads or
// n_head, n_embed or hidden_size; of two the first.
[[nodiscard]] SizeKeys bloom_keys(ConfigReader& config);

struct BloomFrame {
  std::string prefix;  // "transformer." or "" as the file's names have it
  double epsilon = 0.0;

  // "transformer.h.LAYER."
  [[nodiscard]] std::string layer(std::int64_t layer) const { return prefix + "h." + std::to_string(layer) + "."; }
};
// layer_norm_epsilon, tie_word_embeddings; fills the sizes, embedding, final norm and lm_head.
[[nodiscard]] Result<BloomFrame> read_bloom_frame(const ModelSource& source, ConfigReader& config,
                                                  const DecoderSizes& sizes, ModelSpec& model);

// input_layernorm and post_attention_layernorm before the branches, a plain MLP, softmax attention without rotation
// whose fused matrix has the queries of a key head, the key and the value, then those of the next.
[[nodiscard]] BlockSpec bloom_block(const BloomFrame& frame, const DecoderSizes& sizes, std::int64_t layer,
                                    Activation activation, bool bias);

}  // namespace headroom
