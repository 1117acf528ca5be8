// Rows of the table of families: decoders that transformers has, with RMSNorm. Tensors are those of its own classes.
// Constants.
#pragma once

#include <vector>

#include "tests/core/model/family_rows.h"

namespace headroom::test {

inline const std::vector<FamilyRow> kRmsNormRows = {
    {"mistral: a window in every layer",
     R"({"model_type": "mistral", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "sliding_window": 5, "tie_word_embeddings": false})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(mistral: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000, window 5
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"mistral: no window, a head_dim of its own, the keys of transformers 5",
     R"({"model_type": "mistral", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "sliding_window": null, "head_dim": 6, "rms_norm_eps": 1e-05,
          "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0}})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 24 16
        model.layers.#.self_attn.k_proj.weight 12 16
        model.layers.#.self_attn.v_proj.weight 12 16
        model.layers.#.self_attn.o_proj.weight 16 24
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(mistral: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        softmax: d 6 6, blocks q 4 k 2 v 2, scale 0.408248, rope half-split 6 theta 1e+06
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"qwen2: biases, a window in late layers, tied",
     R"({"model_type": "qwen2", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "use_sliding_window": true, "sliding_window": 7,
          "max_window_layers": 1, "tie_word_embeddings": true})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.q_proj.bias 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.k_proj.bias 8
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.v_proj.bias 8
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16)",
     R"(qwen2: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, tied, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000, bias qkv
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000, bias qkv, window 7
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1)"},

    {"qwen2: no window unless it is used",
     R"({"model_type": "qwen2", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "use_sliding_window": false, "sliding_window": 7,
          "max_window_layers": 1, "rope_theta": 1000000.0, "tie_word_embeddings": false})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.q_proj.bias 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.k_proj.bias 8
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.v_proj.bias 8
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(qwen2: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 1e+06, bias qkv
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"qwen3: norms of queries and keys",
     R"({"model_type": "qwen3", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "head_dim": 6, "tie_word_embeddings": false})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 24 16
        model.layers.#.self_attn.k_proj.weight 12 16
        model.layers.#.self_attn.v_proj.weight 12 16
        model.layers.#.self_attn.o_proj.weight 16 24
        model.layers.#.self_attn.q_norm.weight 6
        model.layers.#.self_attn.k_norm.weight 6
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(qwen3: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        softmax: d 6 6, blocks q 4 k 2 v 2, scale 0.408248, rope half-split 6 theta 10000, qk norm per head rms 1e-06 rms 1e-06
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"qwen3: kinds of layers",
     R"({"model_type": "qwen3", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "head_dim": 4, "attention_bias": true, "use_sliding_window": true,
          "sliding_window": 3, "layer_types": ["sliding_attention", "full_attention"],
          "tie_word_embeddings": false})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.q_proj.bias 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.k_proj.bias 8
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.v_proj.bias 8
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.self_attn.o_proj.bias 16
        model.layers.#.self_attn.q_norm.weight 4
        model.layers.#.self_attn.k_norm.weight 4
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(qwen3: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000, bias qkvo, window 3, qk norm per head rms 1e-06 rms 1e-06
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000, bias qkvo, qk norm per head rms 1e-06 rms 1e-06
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1)"},

    {"gemma: as first published",
     R"({"model_type": "gemma", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "head_dim": 4, "hidden_act": "gelu", "rms_norm_eps": 1e-06})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16)",
     R"(gemma: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, tied, embedding x 4, final norm rms 1e-06 offset 1
        L0 norms rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated gelu_tanh 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"gemma2: four norms, caps, every other layer with a window",
     R"({"model_type": "gemma2", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "head_dim": 4, "hidden_activation": "gelu_pytorch_tanh",
          "query_pre_attn_scalar": 8, "sliding_window": 6, "attn_logit_softcapping": 50.0,
          "final_logit_softcapping": 30.0})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.layers.#.pre_feedforward_layernorm.weight 16
        model.layers.#.post_feedforward_layernorm.weight 16
        model.norm.weight 16)",
     R"(gemma2: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, tied, embedding x 4, logits capped at 30, final norm rms 1e-06 offset 1
        L0 norms rms 1e-06 offset 1 | rms 1e-06 offset 1, after rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated gelu_tanh 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.353553, rope half-split 4 theta 10000, window 6, softcap 50
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 norms rms 1e-06 offset 1 | rms 1e-06 offset 1, after rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated gelu_tanh 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.353553, rope half-split 4 theta 10000, softcap 50
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1)"},

    {"gemma3_text: two rotations, windows by a pattern",
     R"({"model_type": "gemma3_text", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "head_dim": 4, "query_pre_attn_scalar": 4, "sliding_window": 6,
          "sliding_window_pattern": 3, "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0,
          "rope_scaling": {"rope_type": "linear", "factor": 8.0}})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.self_attn.q_norm.weight 4
        model.layers.#.self_attn.k_norm.weight 4
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.layers.#.pre_feedforward_layernorm.weight 16
        model.layers.#.post_feedforward_layernorm.weight 16
        model.norm.weight 16)",
     R"(gemma3_text: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, tied, embedding x 4, final norm rms 1e-06 offset 1
        L0 norms rms 1e-06 offset 1 | rms 1e-06 offset 1, after rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated gelu_tanh 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000, window 6, qk norm per head rms 1e-06 offset 1 rms 1e-06 offset 1
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise
        L2 norms rms 1e-06 offset 1 | rms 1e-06 offset 1, after rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated gelu_tanh 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 1e+06 linear, qk norm per head rms 1e-06 offset 1 rms 1e-06 offset 1
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1)"},

    {"olmo2: norms behind the branches",
     R"({"model_type": "olmo2", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "rope_theta": 500000.0, "rms_norm_eps": 1e-05,
          "tie_word_embeddings": false})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.self_attn.q_norm.weight 16
        model.layers.#.self_attn.k_norm.weight 8
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.post_attention_layernorm.weight 16
        model.layers.#.post_feedforward_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(olmo2: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms none | none, after rms 1e-05 | rms 1e-05; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 500000, qk norm whole rms 1e-05 rms 1e-05
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"olmo3: three layers of four with a window",
     R"({"model_type": "olmo3", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "sliding_window": 6, "rope_theta": 500000.0,
          "rope_scaling": {"rope_type": "linear", "factor": 2.0}, "tie_word_embeddings": false})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.self_attn.q_norm.weight 16
        model.layers.#.self_attn.k_norm.weight 8
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.post_attention_layernorm.weight 16
        model.layers.#.post_feedforward_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(olmo3: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms none | none, after rms 1e-05 | rms 1e-05; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 500000, window 6, qk norm whole rms 1e-05 rms 1e-05
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise
        L2 likewise
        L3 norms none | none, after rms 1e-05 | rms 1e-05; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 500000 linear, qk norm whole rms 1e-05 rms 1e-05
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1)"},

    {"granite: multipliers",
     R"({"model_type": "granite", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "embedding_multiplier": 12.0, "attention_multiplier": 0.0625,
          "residual_multiplier": 0.22, "logits_scaling": 8.0, "tie_word_embeddings": true})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16)",
     R"(granite: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, tied, embedding x 12, logits x 0.125, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06, branches x 0.22 | x 0.22; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.0625, rope half-split 4 theta 10000
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"phi3: fused projections, longrope",
     R"({"model_type": "phi3", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "sliding_window": 11, "original_max_position_embeddings": 16,
          "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.5], "long_factor": [2.0, 3.0]},
          "tie_word_embeddings": false, "pad_token_id": 0})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.self_attn.qkv_proj.weight 32 16
        model.layers.#.mlp.gate_up_proj.weight 24 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(phi3: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000 longrope, window 11
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"smollm3: layers without positions",
     R"({"model_type": "smollm3", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "no_rope_layer_interval": 2, "rope_theta": 2000000.0,
          "tie_word_embeddings": true, "pad_token_id": 0})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16)",
     R"(smollm3: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, tied, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 2e+06
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope none
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1)"},

    {"helium: interleaved",
     R"({"model_type": "helium", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "head_dim": 4, "rms_norm_eps": 1e-08, "rope_theta": 100000.0,
          "tie_word_embeddings": false})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(helium: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1e-08
        L0 norms rms 1e-08 | rms 1e-08; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope interleaved 4 theta 100000
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"glm: half of the channels, fused gate and up",
     R"({"model_type": "glm", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "head_dim": 4, "attention_bias": true, "partial_rotary_factor": 0.5,
          "rms_norm_eps": 1.5625e-07, "tie_word_embeddings": false, "pad_token_id": 0})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.q_proj.bias 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.k_proj.bias 8
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.v_proj.bias 8
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_up_proj.weight 24 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(glm: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1.5625e-07
        L0 norms rms 1.5625e-07 | rms 1.5625e-07; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope interleaved 2 theta 10000, bias qkv
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"glm4: norms before and behind",
     R"({"model_type": "glm4", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "head_dim": 4, "attention_bias": false, "rms_norm_eps": 1e-05,
          "tie_word_embeddings": false, "pad_token_id": 0})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_up_proj.weight 24 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.layers.#.post_self_attn_layernorm.weight 16
        model.layers.#.post_mlp_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(glm4: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05, after rms 1e-05 | rms 1e-05; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope interleaved 2 theta 10000
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"exaone4: windows rotate, full layers do not",
     R"({"model_type": "exaone4", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "rms_norm_eps": 1e-05, "sliding_window": 5,
          "sliding_window_pattern": 2, "tie_word_embeddings": false})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.self_attn.q_norm.weight 4
        model.layers.#.self_attn.k_norm.weight 4
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.post_attention_layernorm.weight 16
        model.layers.#.post_feedforward_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(exaone4: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms none | none, after rms 1e-05 | rms 1e-05; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000, window 5, qk norm per head rms 1e-05 rms 1e-05
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 norms none | none, after rms 1e-05 | rms 1e-05; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope none, qk norm per head rms 1e-05 rms 1e-05
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1)"},

};

}  // namespace headroom::test
