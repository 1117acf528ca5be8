// T5, Flan-T5 (Raffel et al. 2020, arXiv 1910.10683; core/model/ARCHITECTURES.md#encoder-decoders).
#include <array>

#include "core/model/family.h"
#include "core/model/t5_parts.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_t5(const ModelSource& source) {
  return translate_t5_form(source, {.feed_forward = "relu", .scales_logits = true});
}

// ffn_up is the gated MLP's wi_1 or the plain one's wi: it goes by both names.
constexpr auto kT5GgufTensors = std::to_array<GgufTensor>({
    {"token_embd", "shared"},
    {"output", "lm_head"},
    {"enc.output_norm", "encoder.final_layer_norm"},
    {"enc.blk.#.attn_norm", "encoder.block.#.layer.0.layer_norm"},
    {"enc.blk.#.attn_q", "encoder.block.#.layer.0.SelfAttention.q"},
    {"enc.blk.#.attn_k", "encoder.block.#.layer.0.SelfAttention.k"},
    {"enc.blk.#.attn_v", "encoder.block.#.layer.0.SelfAttention.v"},
    {"enc.blk.#.attn_o", "encoder.block.#.layer.0.SelfAttention.o"},
    {"enc.blk.#.attn_rel_b", "encoder.block.#.layer.0.SelfAttention.relative_attention_bias"},
    {"enc.blk.#.ffn_norm", "encoder.block.#.layer.1.layer_norm"},
    {"enc.blk.#.ffn_gate", "encoder.block.#.layer.1.DenseReluDense.wi_0"},
    {"enc.blk.#.ffn_up", "encoder.block.#.layer.1.DenseReluDense.wi_1"},
    {"enc.blk.#.ffn_up", "encoder.block.#.layer.1.DenseReluDense.wi"},
    {"enc.blk.#.ffn_down", "encoder.block.#.layer.1.DenseReluDense.wo"},
    {"dec.output_norm", "decoder.final_layer_norm"},
    {"dec.blk.#.attn_norm", "decoder.block.#.layer.0.layer_norm"},
    {"dec.blk.#.attn_q", "decoder.block.#.layer.0.SelfAttention.q"},
    {"dec.blk.#.attn_k", "decoder.block.#.layer.0.SelfAttention.k"},
    {"dec.blk.#.attn_v", "decoder.block.#.layer.0.SelfAttention.v"},
    {"dec.blk.#.attn_o", "decoder.block.#.layer.0.SelfAttention.o"},
    {"dec.blk.#.attn_rel_b", "decoder.block.#.layer.0.SelfAttention.relative_attention_bias"},
    {"dec.blk.#.cross_attn_norm", "decoder.block.#.layer.1.layer_norm"},
    {"dec.blk.#.cross_attn_q", "decoder.block.#.layer.1.EncDecAttention.q"},
    {"dec.blk.#.cross_attn_k", "decoder.block.#.layer.1.EncDecAttention.k"},
    {"dec.blk.#.cross_attn_v", "decoder.block.#.layer.1.EncDecAttention.v"},
    {"dec.blk.#.cross_attn_o", "decoder.block.#.layer.1.EncDecAttention.o"},
    {"dec.blk.#.cross_attn_rel_b", ""},
    {"dec.blk.#.ffn_norm", "decoder.block.#.layer.2.layer_norm"},
    {"dec.blk.#.ffn_gate", "decoder.block.#.layer.2.DenseReluDense.wi_0"},
    {"dec.blk.#.ffn_up", "decoder.block.#.layer.2.DenseReluDense.wi_1"},
    {"dec.blk.#.ffn_up", "decoder.block.#.layer.2.DenseReluDense.wi"},
    {"dec.blk.#.ffn_down", "decoder.block.#.layer.2.DenseReluDense.wo"},
});
constexpr auto kT5GgufKeys = std::to_array<GgufKey>({
    {"block_count", "num_layers", true},
    {"decoder_block_count", "num_decoder_layers"},
    {"embedding_length", "d_model", true},
    {"feed_forward_length", "d_ff", true},
    {"attention.head_count", "num_heads", true},
    {"attention.key_length", "d_kv", true},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon", true},
    {"attention.layer_norm_rms_epsilon", ""},
    {"attention.relative_buckets_count", "relative_attention_num_buckets", true},
    {"decoder_start_token_id", "decoder_start_token_id"},
    {"context_length", "n_positions"},
});
constexpr GgufNames kT5Gguf{
    .architectures = {"t5"}, .common_tensors = kT5GgufTensors, .common_keys = kT5GgufKeys, .flags = {}};

}  // namespace

extern constinit const Family kFamily_t5{"t5", "T5, Flan-T5: encoder and decoder, biases by distance", translate_t5,
                                         &kT5Gguf};

}  // namespace headroom
