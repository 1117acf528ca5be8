// BERT (Devlin et al. 2018, arXiv 1810.04805; core/model/ARCHITECTURES.md#encoders).
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "core/model/encoder_parts.h"
#include "core/model/family.h"
#include "core/model/gguf_config.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_bert(const ModelSource& source) {
  ConfigReader config(source.config());
  ModelSpec model;
  HEADROOM_TRY(const BertFrame frame, read_bert_frame(config, source, "bert.", model));
  HEADROOM_TRY_VOID(add_masked_head(config, source,
                                    {.dense = "cls.predictions.transform.dense",
                                     .norm = "cls.predictions.transform.LayerNorm",
                                     .output = "cls.predictions.decoder",
                                     .bias = "cls.predictions.bias"},
                                    frame.sizes.hidden, frame.embedded, frame.activation, frame.epsilon, model));
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

constexpr auto kBertGgufTensors = std::to_array<GgufTensor>({
    {"token_embd", "embeddings.word_embeddings"},
    {"position_embd", "embeddings.position_embeddings"},
    {"token_types", "embeddings.token_type_embeddings"},
    {"token_embd_norm", "embeddings.LayerNorm"},
    {"blk.#.attn_q", "encoder.layer.#.attention.self.query"},
    {"blk.#.attn_k", "encoder.layer.#.attention.self.key"},
    {"blk.#.attn_v", "encoder.layer.#.attention.self.value"},
    {"blk.#.attn_output", "encoder.layer.#.attention.output.dense"},
    {"blk.#.attn_output_norm", "encoder.layer.#.attention.output.LayerNorm"},
    {"blk.#.ffn_up", "encoder.layer.#.intermediate.dense"},
    {"blk.#.ffn_down", "encoder.layer.#.output.dense"},
    {"blk.#.layer_output_norm", "encoder.layer.#.output.LayerNorm"},
    {"cls", "classifier.dense"},
    {"cls.output", "classifier.out_proj"},
});
constexpr auto kBertGgufKeys = gguf_joined(kGgufEncoderKeys, kGgufLayerNormKeys);

Result<void> finish_bert_gguf(const GgufMetadata& metadata, nlohmann::json& config) {
  config.erase("use_bidirectional_attention");
  const TensorInfo* types = metadata.checkpoint.find("token_types.weight");
  if (types && !types->shape.empty()) config["type_vocab_size"] = types->shape[0];
  return {};
}

// RoBERTa's too: the converter leaves out the positions before the first one.
constexpr GgufNames kBertGguf{.architectures = {"bert"},
                              .tensors = kBertGgufTensors,
                              .keys = kBertGgufKeys,
                              .flags = {},
                              .finish = finish_bert_gguf};

}  // namespace

extern constinit const Family kFamily_bert{"bert", "BERT, MiniLM, many sentence encoders: bidirectional",
                                           translate_bert, &kBertGguf};

}  // namespace headroom
