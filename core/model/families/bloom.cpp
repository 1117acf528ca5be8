// BLOOM: ALiBi in place of positions, LayerNorm of the embeddings, q, k and v of a head together in one matrix
// (core/model/ARCHITECTURES.md#bloom).
#include <array>
#include <cstdint>
#include <utility>

#include "core/model/bloom_parts.h"
#include "core/model/distance_bias.h"
#include "core/model/family.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_bloom(const ModelSource& source) {
  ConfigReader config(source.config());
  HEADROOM_TRY(const DecoderSizes sizes, read_sizes(config, bloom_keys(config)));
  HEADROOM_TRY(const bool from_norm, config.boolean("apply_residual_connection_post_layernorm", false));
  if (from_norm) {
    Error error(ErrorCode::Unsupported, "the residual stream would go on from what the norms give");
    return error.at_tensor("apply_residual_connection_post_layernorm").wanted("false", "true");
  }
  // How Megatron computed it, and in which precision.
  for (const char* key : {"slow_but_exact", "offset_alibi", "attention_softmax_in_fp32", "bias_dropout_fusion",
                          "masked_softmax_fusion", "skip_bias_add", "skip_bias_add_qkv"})
    (void)config.raw(key);
  ModelSpec model;
  HEADROOM_TRY(const BloomFrame frame, read_bloom_frame(source, config, sizes, model));
  model.embedding_norm = layer_norm(frame.prefix + "word_embeddings_layernorm", sizes.hidden, frame.epsilon);
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    BlockSpec block = bloom_block(frame, sizes, layer, Activation::GeluTanh, true);
    block.attention.bias.slopes = alibi_slopes(sizes.heads);
    model.blocks.push_back(std::move(block));
  }
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

constexpr auto kBloomGgufTensors = std::to_array<GgufTensor>({
    {"token_embd", "transformer.word_embeddings"},
    {"token_embd_norm", "transformer.word_embeddings_layernorm"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"},
    {"blk.#.attn_norm", "transformer.h.#.input_layernorm"},
    {"blk.#.attn_qkv", "transformer.h.#.self_attention.query_key_value", GgufRows::PartsOfGroups},
    {"blk.#.attn_output", "transformer.h.#.self_attention.dense"},
    {"blk.#.ffn_norm", "transformer.h.#.post_attention_layernorm"},
    {"blk.#.ffn_up", "transformer.h.#.mlp.dense_h_to_4h"},
    {"blk.#.ffn_down", "transformer.h.#.mlp.dense_4h_to_h"},
});
constexpr auto kBloomGgufKeys = std::to_array<GgufKey>({
    {"block_count", "n_layer", true},
    {"embedding_length", "hidden_size", true},
    {"feed_forward_length", "n_inner", true},
    {"attention.head_count", "n_head", true},
    {"attention.head_count_kv", ""},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon", true},
    {"context_length", "seq_length", true},
});
constexpr GgufNames kBloomGguf{
    .architectures = {"bloom"}, .common_tensors = kBloomGgufTensors, .common_keys = kBloomGgufKeys, .flags = {}};

}  // namespace

extern constinit const Family kFamily_bloom{"bloom", "BLOOM: ALiBi, norm of the embeddings, fused q, k, v",
                                            translate_bloom, &kBloomGguf};

}  // namespace headroom
