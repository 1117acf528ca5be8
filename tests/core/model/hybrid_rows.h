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

    {"qwen3_next: a delta net, an attention with gates, experts, a dense layer",
     R"({"model_type": "qwen3_next", "vocab_size": 11, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
          "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": 32,
          "rms_norm_eps": 1e-6, "rope_theta": 10000000.0, "partial_rotary_factor": 0.5, "num_experts": 2,
          "num_experts_per_tok": 1, "moe_intermediate_size": 6, "shared_expert_intermediate_size": 4,
          "norm_topk_prob": true, "decoder_sparse_step": 1, "mlp_only_layers": [1], "full_attention_interval": 2,
          "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 3, "linear_value_head_dim": 5,
          "linear_conv_kernel_dim": 4})",
     R"(model.embed_tokens.weight 11 8
        model.norm.weight 8
        ?lm_head.weight 11 8
        model.layers.#.input_layernorm.weight 8
        model.layers.#.post_attention_layernorm.weight 8
        model.layers.0.linear_attn.in_proj_qkvz.weight 52 8
        model.layers.0.linear_attn.in_proj_ba.weight 8 8
        model.layers.0.linear_attn.conv1d.weight 32 1 4
        model.layers.0.linear_attn.dt_bias 4
        model.layers.0.linear_attn.A_log 4
        model.layers.0.linear_attn.norm.weight 5
        model.layers.0.linear_attn.out_proj.weight 8 20
        model.layers.0.mlp.gate.weight 2 8
        model.layers.0.mlp.experts.0.gate_proj.weight 6 8
        model.layers.0.mlp.experts.0.up_proj.weight 6 8
        model.layers.0.mlp.experts.0.down_proj.weight 8 6
        model.layers.0.mlp.experts.1.gate_proj.weight 6 8
        model.layers.0.mlp.experts.1.up_proj.weight 6 8
        model.layers.0.mlp.experts.1.down_proj.weight 8 6
        model.layers.0.mlp.shared_expert.gate_proj.weight 4 8
        model.layers.0.mlp.shared_expert.up_proj.weight 4 8
        model.layers.0.mlp.shared_expert.down_proj.weight 8 4
        model.layers.0.mlp.shared_expert_gate.weight 1 8
        model.layers.1.self_attn.q_proj.weight 32 8
        model.layers.1.self_attn.k_proj.weight 8 8
        model.layers.1.self_attn.v_proj.weight 8 8
        model.layers.1.self_attn.o_proj.weight 8 16
        model.layers.1.self_attn.q_norm.weight 8
        model.layers.1.self_attn.k_norm.weight 8
        model.layers.1.mlp.gate_proj.weight 12 8
        model.layers.1.mlp.up_proj.weight 12 8
        model.layers.1.mlp.down_proj.weight 8 12)",
     R"(qwen3_next: vocab 11, hidden 8, positions 32, heads 2, kv heads 1, final norm rms 1e-06 offset 1
        L0 norms rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated silu 4; 1 of 2 experts by softmax, normalised, gated mlp, gated silu 6
        gated_delta_net: 4 heads with a state of 3 × 5, convolution of 4 tokens
        L1 norms rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated silu 12
        gated: d 8 8, blocks q 2 k 1 v 1, scale 0.353553, rope half-split 4 theta 1e+07, qk norm per head rms 1e-06 offset 1 rms 1e-06 offset 1, gate elementwise
        q0 k0 v0, gated
        q1 k0 v0, gated)"},

    {"qwen3_5_text: one matrix for q, k and v of a delta net",
     R"({"model_type": "qwen3_5_text", "vocab_size": 11, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
          "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": 32,
          "rms_norm_eps": 1e-6, "rope_parameters": {"rope_type": "default", "rope_theta": 10000000.0,
          "partial_rotary_factor": 0.25, "mrope_section": [1, 0, 0], "mrope_interleaved": true}, "attn_output_gate": true,
          "mamba_ssm_dtype": "float32", "mtp_num_hidden_layers": 1, "layer_types": ["linear_attention", "full_attention"],
          "linear_num_key_heads": 2, "linear_num_value_heads": 2, "linear_key_head_dim": 3, "linear_value_head_dim": 5,
          "linear_conv_kernel_dim": 2, "attention_bias": true})",
     R"(model.embed_tokens.weight 11 8
        model.norm.weight 8
        ?lm_head.weight 11 8
        model.layers.#.input_layernorm.weight 8
        model.layers.#.post_attention_layernorm.weight 8
        model.layers.#.mlp.gate_proj.weight 12 8
        model.layers.#.mlp.up_proj.weight 12 8
        model.layers.#.mlp.down_proj.weight 8 12
        model.layers.0.linear_attn.in_proj_qkv.weight 22 8
        model.layers.0.linear_attn.in_proj_z.weight 10 8
        model.layers.0.linear_attn.in_proj_b.weight 2 8
        model.layers.0.linear_attn.in_proj_a.weight 2 8
        model.layers.0.linear_attn.conv1d.weight 22 1 2
        model.layers.0.linear_attn.dt_bias 2
        model.layers.0.linear_attn.A_log 2
        model.layers.0.linear_attn.norm.weight 5
        model.layers.0.linear_attn.out_proj.weight 8 10
        model.layers.1.self_attn.q_proj.weight 32 8
        model.layers.1.self_attn.q_proj.bias 32
        model.layers.1.self_attn.k_proj.weight 8 8
        model.layers.1.self_attn.k_proj.bias 8
        model.layers.1.self_attn.v_proj.weight 8 8
        model.layers.1.self_attn.v_proj.bias 8
        model.layers.1.self_attn.o_proj.weight 8 16
        model.layers.1.self_attn.o_proj.bias 8
        model.layers.1.self_attn.q_norm.weight 8
        model.layers.1.self_attn.k_norm.weight 8)",
     R"(qwen3_5_text: vocab 11, hidden 8, positions 32, heads 2, kv heads 1, final norm rms 1e-06 offset 1
        L0 norms rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated silu 12
        gated_delta_net: 2 heads with a state of 3 × 5, convolution of 2 tokens
        L1 norms rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated silu 12
        gated: d 8 8, blocks q 2 k 1 v 1, scale 0.353553, rope half-split 2 theta 1e+07, bias qkvo, qk norm per head rms 1e-06 offset 1 rms 1e-06 offset 1, gate elementwise
        q0 k0 v0, gated
        q1 k0 v0, gated)"},

    {"qwen3_5: the same inside a model that sees",
     R"({"model_type": "qwen3_5", "tie_word_embeddings": false, "image_token_id": 5, "vision_config": {"depth": 1},
          "text_config": {"model_type": "qwen3_5_text", "vocab_size": 11, "hidden_size": 8, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
          "max_position_embeddings": 32, "rms_norm_eps": 1e-6, "rope_parameters": {"rope_type": "default",
          "rope_theta": 10000000.0, "partial_rotary_factor": 0.25}, "layer_types": ["linear_attention", "full_attention"],
          "linear_num_key_heads": 2, "linear_num_value_heads": 2, "linear_key_head_dim": 3, "linear_value_head_dim": 5,
          "linear_conv_kernel_dim": 2, "attention_bias": true}})",
     R"(!model.language_model.embed_tokens.weight 11 8
        model.language_model.norm.weight 8
        ?lm_head.weight 11 8
        model.language_model.layers.0.input_layernorm.weight 8
        model.language_model.layers.1.input_layernorm.weight 8
        model.language_model.layers.0.post_attention_layernorm.weight 8
        model.language_model.layers.1.post_attention_layernorm.weight 8
        model.language_model.layers.0.mlp.gate_proj.weight 12 8
        model.language_model.layers.1.mlp.gate_proj.weight 12 8
        model.language_model.layers.0.mlp.up_proj.weight 12 8
        model.language_model.layers.1.mlp.up_proj.weight 12 8
        model.language_model.layers.0.mlp.down_proj.weight 8 12
        model.language_model.layers.1.mlp.down_proj.weight 8 12
        model.language_model.layers.0.linear_attn.in_proj_qkv.weight 22 8
        model.language_model.layers.0.linear_attn.in_proj_z.weight 10 8
        model.language_model.layers.0.linear_attn.in_proj_b.weight 2 8
        model.language_model.layers.0.linear_attn.in_proj_a.weight 2 8
        model.language_model.layers.0.linear_attn.conv1d.weight 22 1 2
        model.language_model.layers.0.linear_attn.dt_bias 2
        model.language_model.layers.0.linear_attn.A_log 2
        model.language_model.layers.0.linear_attn.norm.weight 5
        model.language_model.layers.0.linear_attn.out_proj.weight 8 10
        model.language_model.layers.1.self_attn.q_proj.weight 32 8
        model.language_model.layers.1.self_attn.q_proj.bias 32
        model.language_model.layers.1.self_attn.k_proj.weight 8 8
        model.language_model.layers.1.self_attn.k_proj.bias 8
        model.language_model.layers.1.self_attn.v_proj.weight 8 8
        model.language_model.layers.1.self_attn.v_proj.bias 8
        model.language_model.layers.1.self_attn.o_proj.weight 8 16
        model.language_model.layers.1.self_attn.o_proj.bias 8
        model.language_model.layers.1.self_attn.q_norm.weight 8
        model.language_model.layers.1.self_attn.k_norm.weight 8)",
     R"(qwen3_5: vocab 11, hidden 8, positions 32, heads 2, kv heads 1, final norm rms 1e-06 offset 1
        L0 norms rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated silu 12
        gated_delta_net: 2 heads with a state of 3 × 5, convolution of 2 tokens
        L1 norms rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated silu 12
        gated: d 8 8, blocks q 2 k 1 v 1, scale 0.353553, rope half-split 2 theta 1e+07, bias qkvo, qk norm per head rms 1e-06 offset 1 rms 1e-06 offset 1, gate elementwise
        q0 k0 v0, gated
        q1 k0 v0, gated)"},

    {"phi4flash: Mamba, windows, the full layer, gated memory and a layer on its keys",
     R"({"model_type": "phi4flash", "vocab_size": 11, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 8,
          "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 32, "layer_norm_eps": 1e-5,
          "hidden_act": "silu", "mb_per_layer": 2, "sliding_window": 5, "tie_word_embeddings": true, "mlp_bias": false,
          "lm_head_bias": false, "mamba_d_state": 3, "mamba_d_conv": 2})",
     R"(model.embed_tokens.weight 11 8
        model.final_layernorm.weight 8
        model.final_layernorm.bias 8
        model.layers.#.input_layernorm.weight 8
        model.layers.#.input_layernorm.bias 8
        model.layers.#.post_attention_layernorm.weight 8
        model.layers.#.post_attention_layernorm.bias 8
        model.layers.#.mlp.fc1.weight 24 8
        model.layers.#.mlp.fc2.weight 8 12
        model.layers.0.attn.in_proj.weight 32 8
        model.layers.0.attn.conv1d.weight 16 1 2
        model.layers.0.attn.conv1d.bias 16
        model.layers.0.attn.x_proj.weight 7 16
        model.layers.0.attn.dt_proj.weight 16 1
        model.layers.0.attn.dt_proj.bias 16
        model.layers.0.attn.A_log 16 3
        model.layers.0.attn.D 16
        model.layers.0.attn.out_proj.weight 8 16
        model.layers.2.attn.in_proj.weight 32 8
        model.layers.2.attn.conv1d.weight 16 1 2
        model.layers.2.attn.conv1d.bias 16
        model.layers.2.attn.x_proj.weight 7 16
        model.layers.2.attn.dt_proj.weight 16 1
        model.layers.2.attn.dt_proj.bias 16
        model.layers.2.attn.A_log 16 3
        model.layers.2.attn.D 16
        model.layers.2.attn.out_proj.weight 8 16
        model.layers.4.attn.in_proj.weight 32 8
        model.layers.4.attn.conv1d.weight 16 1 2
        model.layers.4.attn.conv1d.bias 16
        model.layers.4.attn.x_proj.weight 7 16
        model.layers.4.attn.dt_proj.weight 16 1
        model.layers.4.attn.dt_proj.bias 16
        model.layers.4.attn.A_log 16 3
        model.layers.4.attn.D 16
        model.layers.4.attn.out_proj.weight 8 16
        model.layers.6.attn.in_proj.weight 16 8
        model.layers.6.attn.out_proj.weight 8 16
        model.layers.1.attn.Wqkv.weight 16 8
        model.layers.1.attn.Wqkv.bias 16
        model.layers.1.attn.out_proj.weight 8 8
        model.layers.1.attn.out_proj.bias 8
        model.layers.1.attn.inner_cross_attn.lambda_q1 2
        model.layers.1.attn.inner_cross_attn.lambda_k1 2
        model.layers.1.attn.inner_cross_attn.lambda_q2 2
        model.layers.1.attn.inner_cross_attn.lambda_k2 2
        model.layers.1.attn.inner_cross_attn.subln.weight 4
        model.layers.3.attn.Wqkv.weight 16 8
        model.layers.3.attn.Wqkv.bias 16
        model.layers.3.attn.out_proj.weight 8 8
        model.layers.3.attn.out_proj.bias 8
        model.layers.3.attn.inner_cross_attn.lambda_q1 2
        model.layers.3.attn.inner_cross_attn.lambda_k1 2
        model.layers.3.attn.inner_cross_attn.lambda_q2 2
        model.layers.3.attn.inner_cross_attn.lambda_k2 2
        model.layers.3.attn.inner_cross_attn.subln.weight 4
        model.layers.5.attn.Wqkv.weight 16 8
        model.layers.5.attn.Wqkv.bias 16
        model.layers.5.attn.out_proj.weight 8 8
        model.layers.5.attn.out_proj.bias 8
        model.layers.5.attn.inner_cross_attn.lambda_q1 2
        model.layers.5.attn.inner_cross_attn.lambda_k1 2
        model.layers.5.attn.inner_cross_attn.lambda_q2 2
        model.layers.5.attn.inner_cross_attn.lambda_k2 2
        model.layers.5.attn.inner_cross_attn.subln.weight 4
        model.layers.7.attn.Wqkv.weight 8 8
        model.layers.7.attn.Wqkv.bias 8
        model.layers.7.attn.out_proj.weight 8 8
        model.layers.7.attn.out_proj.bias 8
        model.layers.7.attn.inner_cross_attn.lambda_q1 2
        model.layers.7.attn.inner_cross_attn.lambda_k1 2
        model.layers.7.attn.inner_cross_attn.lambda_q2 2
        model.layers.7.attn.inner_cross_attn.lambda_k2 2
        model.layers.7.attn.inner_cross_attn.subln.weight 4)",
     R"(phi4flash: vocab 11, hidden 8, positions 32, heads 2, kv heads 2, tied, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp gated silu 12
        mamba: 16 channels with a state of 3, convolution of 2 tokens
        L1 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp gated silu 12
        diff_v1: d 2 2, blocks q 4 k 2 v 2, scale 0.707107, rope none, bias qkvo, window 5, head norm rms 1e-05, lambda_init 0.355509
        q0 k0 v0.1 - q1 k1 v0.1, lambda layer, norm, x 0.644491
        q2 k0 v0.1 - q3 k1 v0.1, lambda layer, norm, x 0.644491
        L2 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp gated silu 12
        mamba: 16 channels with a state of 3, convolution of 2 tokens
        L3 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp gated silu 12
        diff_v1: d 2 2, blocks q 4 k 2 v 2, scale 0.707107, rope none, bias qkvo, window 5, head norm rms 1e-05, lambda_init 0.556058
        q0 k0 v0.1 - q1 k1 v0.1, lambda layer, norm, x 0.443942
        q2 k0 v0.1 - q3 k1 v0.1, lambda layer, norm, x 0.443942
        L4 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp gated silu 12
        mamba: 16 channels with a state of 3, convolution of 2 tokens
        L5 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp gated silu 12
        diff_v1: d 2 2, blocks q 4 k 2 v 2, scale 0.707107, rope none, bias qkvo, head norm rms 1e-05, lambda_init 0.666122
        q0 k0 v0.1 - q1 k1 v0.1, lambda layer, norm, x 0.333878
        q2 k0 v0.1 - q3 k1 v0.1, lambda layer, norm, x 0.333878
        L6 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp gated silu 12
        gated_memory: 16 channels of layer 4
        L7 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp gated silu 12
        diff_v1: d 2 2, blocks q 4 k 2 v 2, scale 0.707107, rope none, bias qo, keys of layer 5, head norm rms 1e-05, lambda_init 0.726526
        q0 k0 v0.1 - q1 k1 v0.1, lambda layer, norm, x 0.273474
        q2 k0 v0.1 - q3 k1 v0.1, lambda layer, norm, x 0.273474)"},
};

}  // namespace headroom::test
