// Rows of the table of families: models in which some blocks have another mixer than attention. Tensors are those of
// transformers' own classes. Constants.
#pragma once

#include <vector>

#include "tests/core/model/family_rows.h"

namespace headroom::test {

inline const std::vector<FamilyRow> kHybridRows = {
    {"lfm2: two convolutions and an attention, an MLP of two thirds",
     R"({"model_type": "lfm2", "vocab_size": 11, "hidden_size": 8, "intermediate_size": 30, "num_hidden_layers": 3,
          "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 32, "norm_eps": 1e-5,
          "conv_L_cache": 3, "conv_bias": false, "block_multiple_of": 16, "block_ffn_dim_multiplier": 1.0,
          "block_auto_adjust_ff_dim": true, "layer_types": ["conv", "full_attention", "conv"], "rope_theta": 1000000.0})",
     R"(model.embed_tokens.weight 11 8
        model.embedding_norm.weight 8
        model.layers.#.operator_norm.weight 8
        model.layers.#.ffn_norm.weight 8
        model.layers.#.feed_forward.w1.weight 32 8
        model.layers.#.feed_forward.w3.weight 32 8
        model.layers.#.feed_forward.w2.weight 8 32
        model.layers.0.conv.in_proj.weight 24 8
        model.layers.0.conv.conv.weight 8 1 3
        model.layers.0.conv.out_proj.weight 8 8
        model.layers.1.self_attn.q_proj.weight 8 8
        model.layers.1.self_attn.k_proj.weight 4 8
        model.layers.1.self_attn.v_proj.weight 4 8
        model.layers.1.self_attn.out_proj.weight 8 8
        model.layers.1.self_attn.q_layernorm.weight 2
        model.layers.1.self_attn.k_layernorm.weight 2
        model.layers.2.conv.in_proj.weight 24 8
        model.layers.2.conv.conv.weight 8 1 3
        model.layers.2.conv.out_proj.weight 8 8)",
     R"(lfm2: vocab 11, hidden 8, positions 32, heads 4, kv heads 2, tied, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 32
        short_conv: gated convolution of 3 tokens
        L1 norms rms 1e-05 | rms 1e-05; mlp gated silu 32
        softmax: d 2 2, blocks q 4 k 2 v 2, scale 0.707107, rope half-split 2 theta 1e+06, qk norm per head rms 1e-05 rms 1e-05
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L2 norms rms 1e-05 | rms 1e-05; mlp gated silu 32
        short_conv: gated convolution of 3 tokens)"},

    {"lfm2: indices of layers, biases, the size as it is, not tied",
     R"({"model_type": "lfm2", "vocab_size": 11, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
          "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 32, "norm_eps": 1e-3,
          "conv_L_cache": 4, "conv_bias": true, "block_auto_adjust_ff_dim": false, "full_attn_idxs": [1],
          "tie_embedding": false, "rope_parameters": {"rope_type": "default", "rope_theta": 20000.0}})",
     R"(model.embed_tokens.weight 11 8
        model.embedding_norm.weight 8
        ?lm_head.weight 11 8
        model.layers.#.operator_norm.weight 8
        model.layers.#.ffn_norm.weight 8
        model.layers.#.feed_forward.w1.weight 12 8
        model.layers.#.feed_forward.w3.weight 12 8
        model.layers.#.feed_forward.w2.weight 8 12
        model.layers.0.conv.in_proj.weight 24 8
        model.layers.0.conv.in_proj.bias 24
        model.layers.0.conv.conv.weight 8 1 4
        model.layers.0.conv.conv.bias 8
        model.layers.0.conv.out_proj.weight 8 8
        model.layers.0.conv.out_proj.bias 8
        model.layers.1.self_attn.q_proj.weight 8 8
        model.layers.1.self_attn.k_proj.weight 4 8
        model.layers.1.self_attn.v_proj.weight 4 8
        model.layers.1.self_attn.out_proj.weight 8 8
        model.layers.1.self_attn.q_layernorm.weight 4
        model.layers.1.self_attn.k_layernorm.weight 4)",
     R"(lfm2: vocab 11, hidden 8, positions 32, heads 2, kv heads 1, final norm rms 0.001
        L0 norms rms 0.001 | rms 0.001; mlp gated silu 12
        short_conv: gated convolution of 4 tokens
        L1 norms rms 0.001 | rms 0.001; mlp gated silu 12
        softmax: d 4 4, blocks q 2 k 1 v 1, scale 0.5, rope half-split 4 theta 20000, qk norm per head rms 0.001 rms 0.001
        q0 k0 v0
        q1 k0 v0)"},
};

}  // namespace headroom::test
