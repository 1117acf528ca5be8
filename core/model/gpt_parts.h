// What GPT-2 and the models after it name alike: transformer.wte, wpe, ln_f, h.N.
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/config_reader.h"
#include "core/model/decoder_parts.h"
#include "core/model/model_source.h"
#include "core/model/model_spec.h"

namespace headroom {

struct GptFrame {
  std::string prefix;  // "transformer." or "" as the file's names have it
  double epsilon = 0.0;
  Activation activation = Activation::GeluTanh;
  bool tied = true;

  // "transformer.h.LAYER."
  [[nodiscard]] std::string layer(std::int64_t layer) const { return prefix + "h." + std::to_string(layer) + "."; }
};
// layer_norm_epsilon, activation_function, tie_word_embeddings; fills the sizes, embedding, final norm and lm_head.
[[nodiscard]] Result<GptFrame> read_gpt_frame(const ModelSource& source, ConfigReader& config,
                                              const DecoderSizes& sizes, bool tied, ModelSpec& model);
// wpe.
void learn_positions(ModelSpec& model, const GptFrame& frame);

// ln_1 and ln_2 before the branches, a plain MLP under these names, softmax attention without rotation and weights.
[[nodiscard]] BlockSpec gpt_block(const GptFrame& frame, const DecoderSizes& sizes, std::int64_t layer, const char* up,
                                  const char* down);

}  // namespace headroom
