#include "core/model/gpt_parts.h"

#include <nlohmann/json.hpp>

namespace headroom {

Result<GptFrame> read_gpt_frame(const ModelSource& source, ConfigReader& config, const DecoderSizes& sizes, bool tied,
                                ModelSpec& model) {
  GptFrame frame;
  frame.prefix = source.find("transformer.wte.weight") ? "transformer." : "";
  HEADROOM_TRY(frame.epsilon, config.norm_epsilon("layer_norm_epsilon", 1e-5));
  HEADROOM_TRY(frame.activation, read_activation(config, "activation_function", "gelu_new"));
  HEADROOM_TRY(tied, config.boolean("tie_word_embeddings", tied));
  fill_sizes(model, sizes);
  model.embedding = matrix(frame.prefix + "wte.weight", sizes.vocab, sizes.hidden);
  model.final_norm = layer_norm(frame.prefix + "ln_f", sizes.hidden, frame.epsilon);
  model.tied = tied || !source.find("lm_head.weight");
  model.lm_head.weight = model.tied ? model.embedding : matrix("lm_head.weight", sizes.vocab, sizes.hidden);
  return frame;
}

void learn_positions(ModelSpec& model, const GptFrame& frame) {
  model.position_embedding = matrix(frame.prefix + "wpe.weight", model.max_positions, model.hidden_size);
}

BlockSpec gpt_block(const GptFrame& frame, const DecoderSizes& sizes, std::int64_t layer, const char* up,
                    const char* down) {
  const std::string base = frame.layer(layer);
  BlockSpec block;
  block.attention_branch.before = layer_norm(base + "ln_1", sizes.hidden, frame.epsilon);
  block.mlp_branch.before = layer_norm(base + "ln_2", sizes.hidden, frame.epsilon);
  block.mlp = plain_mlp(base + up, base + down, sizes.hidden, sizes.inner, frame.activation, true);
  block.attention = grouped_attention(sizes, {});
  return block;
}

}  // namespace headroom
