// Rows of the table of families: biases by distance, and the fused projections that go with them.
#pragma once

#include <vector>

#include "tests/core/model/family_rows.h"

namespace headroom::test {

// Norms and MLP of BLOOM and Falcon without biases, for vocab 11, hidden 16, inner 64.
#define HEADROOM_BLOOM_FRAME                                                                             \
  "transformer.word_embeddings.weight 11 16\n transformer.ln_f.weight 16\n transformer.ln_f.bias 16\n"   \
  "transformer.h.#.self_attention.dense.weight 16 16\n transformer.h.#.mlp.dense_h_to_4h.weight 64 16\n" \
  "transformer.h.#.mlp.dense_4h_to_h.weight 16 64\n ?lm_head.weight 11 16\n"
#define HEADROOM_BLOOM_BIASES                                                                               \
  "transformer.h.#.self_attention.query_key_value.bias 48\n transformer.h.#.self_attention.dense.bias 16\n" \
  "transformer.h.#.mlp.dense_h_to_4h.bias 64\n transformer.h.#.mlp.dense_4h_to_h.bias 16\n"
#define HEADROOM_BLOOM_NORM(name) "transformer.h.#." name ".weight 16\n transformer.h.#." name ".bias 16\n"

inline const std::vector<FamilyRow> kBiasedRows = {
    {"bloom: old spelling",
     R"({"model_type": "bloom", "vocab_size": 11, "n_embed": 16, "n_layer": 2, "num_attention_heads": 4,
         "seq_length": 32, "apply_residual_connection_post_layernorm": false, "attention_softmax_in_fp32": true,
         "offset_alibi": 100, "bias_dropout_fusion": true, "masked_softmax_fusion": true, "pretraining_tp": 2,
         "skip_bias_add": true, "skip_bias_add_qkv": false, "hidden_dropout": 0.0, "layer_norm_epsilon": 1e-05})",
     HEADROOM_BLOOM_FRAME HEADROOM_BLOOM_BIASES HEADROOM_BLOOM_NORM("input_layernorm")
         HEADROOM_BLOOM_NORM("post_attention_layernorm") R"(transformer.word_embeddings_layernorm.weight 16
        transformer.word_embeddings_layernorm.bias 16
        transformer.h.#.self_attention.query_key_value.weight 48 16)",
     R"(bloom: vocab 11, hidden 16, positions 32, heads 4, kv heads 4, tied, embedding norm layer 1e-05 with bias, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain gelu_tanh 64 with bias
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 0.5, rope none, bias qkvo, ALiBi 0.25 0.0625 0.015625 0.00390625
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3
        L1 likewise)"},

    {"mpt: cut and scaled",
     R"({"model_type": "mpt", "vocab_size": 11, "d_model": 16, "n_layers": 2, "n_heads": 4, "max_seq_len": 32,
         "expansion_ratio": 4, "learned_pos_emb": true, "no_bias": true, "embedding_fraction": 1.0,
         "init_device": "cpu", "init_config": {"name": "kaiming_normal_"}, "norm_type": "low_precision_layernorm",
         "logit_scale": null, "resid_pdrop": 0.0, "emb_pdrop": 0.0, "verbose": 0,
         "attn_config": {"attn_type": "multihead_attention", "attn_impl": "triton", "attn_pdrop": 0.0,
                         "clip_qkv": 8.0, "softmax_scale": 0.3, "prefix_lm": false, "qk_ln": false,
                         "attn_uses_sequence_id": true, "alibi": true, "alibi_bias_max": 8}})",
     R"(transformer.wte.weight 11 16
        transformer.norm_f.weight 16
        transformer.blocks.#.norm_1.weight 16
        transformer.blocks.#.norm_2.weight 16
        transformer.blocks.#.attn.Wqkv.weight 48 16
        transformer.blocks.#.attn.out_proj.weight 16 16
        transformer.blocks.#.ffn.up_proj.weight 64 16
        transformer.blocks.#.ffn.down_proj.weight 16 64
        ?lm_head.weight 11 16)",
     R"(mpt: vocab 11, hidden 16, positions 32, heads 4, kv heads 4, tied, final norm layer 1e-05
        L0 norms layer 1e-05 | layer 1e-05; mlp plain gelu 64
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 0.3, rope none, ALiBi 0.25 0.0625 0.015625 0.00390625, q k v within 8
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3
        L1 likewise)"},

    {"falcon: one key, side by side",
     R"({"model_type": "falcon", "vocab_size": 11, "hidden_size": 16, "num_hidden_layers": 2,
         "num_attention_heads": 4, "max_position_embeddings": 32, "multi_query": true, "parallel_attn": true,
         "new_decoder_architecture": false, "alibi": false, "bias": false,
         "apply_residual_connection_post_layernorm": false})",
     HEADROOM_BLOOM_FRAME HEADROOM_BLOOM_NORM(
         "input_layernorm") "transformer.h.#.self_attention.query_key_value.weight 24 16",
     R"(falcon: vocab 11, hidden 16, positions 32, heads 4, kv heads 1, tied, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias, parallel; mlp plain gelu 64
        softmax: d 4 4, blocks q 4 k 1 v 1, scale 0.5, rope half-split 4 theta 10000
        q0 k0 v0
        q1 k0 v0
        q2 k0 v0
        q3 k0 v0
        L1 likewise)"},
    {"falcon: groups, a norm for each branch",
     R"({"model_type": "falcon", "vocab_size": 11, "hidden_size": 16, "num_hidden_layers": 2, "num_kv_heads": 2,
         "num_attention_heads": 4, "max_position_embeddings": 32, "new_decoder_architecture": true,
         "tie_word_embeddings": false})",
     HEADROOM_BLOOM_FRAME HEADROOM_BLOOM_NORM("ln_attn")
         HEADROOM_BLOOM_NORM("ln_mlp") "transformer.h.#.self_attention.query_key_value.weight 32 16",
     R"(falcon: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias, parallel; mlp plain gelu 64
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},
    {"falcon: old spelling, one norm for both branches",
     R"({"model_type": "falcon", "vocab_size": 11, "n_embed": 16, "n_layer": 2, "n_head_kv": 2, "n_head": 4,
         "max_position_embeddings": 32, "new_decoder_architecture": true, "num_ln_in_parallel_attn": 1})",
     HEADROOM_BLOOM_FRAME HEADROOM_BLOOM_NORM(
         "input_layernorm") "transformer.h.#.self_attention.query_key_value.weight 32 16",
     R"(falcon: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, tied, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias, parallel; mlp plain gelu 64
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},
    {"falcon: ALiBi, one after the other, biases",
     R"({"model_type": "falcon", "vocab_size": 11, "hidden_size": 16, "num_hidden_layers": 2,
         "num_attention_heads": 4, "max_position_embeddings": 32, "multi_query": false, "parallel_attn": false,
         "alibi": true, "bias": true})",
     HEADROOM_BLOOM_FRAME HEADROOM_BLOOM_BIASES HEADROOM_BLOOM_NORM("input_layernorm")
         HEADROOM_BLOOM_NORM("post_attention_layernorm") "transformer.h.#.self_attention.query_key_value.weight 48 16",
     R"(falcon: vocab 11, hidden 16, positions 32, heads 4, kv heads 4, tied, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain gelu 64 with bias
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 0.5, rope none, bias qkvo, ALiBi 0.125 0.03125 0.0078125 0.00195312
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3
        L1 likewise)"},
};

}  // namespace headroom::test
