// Rows of the table of families: Llama 4, Ministral 3, Gemma 3n and 4, and decoders inside other models. Tensors are
// those of transformers' own classes, and of the files that it writes. Constants.
#pragma once

#include <vector>

#include "tests/core/model/family_rows.h"

namespace headroom::test {

// The tensors of gemma3n_text below PREFIX.
#define HEADROOM_GEMMA3N_TENSORS(prefix, mark)                                                                       \
  mark prefix                                                                                                        \
      "embed_tokens.weight 11 16\n" prefix "embed_tokens_per_layer.weight 9 8\n" prefix                              \
      "per_layer_model_projection.weight 8 16\n" prefix "per_layer_projection_norm.weight 4\n" prefix                \
      "altup_projections.0.weight 16 16\n" prefix "altup_unembed_projections.0.weight 16 16\n" prefix                \
      "layers.#.self_attn.q_proj.weight 16 16\n" prefix "layers.0.self_attn.k_proj.weight 8 16\n" prefix             \
      "layers.0.self_attn.v_proj.weight 8 16\n"                                                                      \
      "?" prefix "layers.1.self_attn.k_proj.weight 8 16\n" prefix "layers.#.self_attn.o_proj.weight 16 16\n" prefix  \
      "layers.#.self_attn.q_norm.weight 8\n" prefix "layers.0.self_attn.k_norm.weight 8\n" prefix                    \
      "layers.#.mlp.gate_proj.weight 12 16\n" prefix "layers.#.mlp.up_proj.weight 12 16\n" prefix                    \
      "layers.#.mlp.down_proj.weight 16 12\n" prefix "layers.#.input_layernorm.weight 16\n" prefix                   \
      "layers.#.post_attention_layernorm.weight 16\n" prefix "layers.#.pre_feedforward_layernorm.weight 16\n" prefix \
      "layers.#.post_feedforward_layernorm.weight 16\n" prefix "layers.#.laurel.linear_left.weight 3 16\n" prefix    \
      "layers.#.laurel.linear_right.weight 16 3\n" prefix "layers.#.laurel.post_laurel_norm.weight 16\n" prefix      \
      "layers.#.altup.router_norm.weight 16\n" prefix "layers.#.altup.modality_router.weight 2 16\n" prefix          \
      "layers.#.altup.prediction_coefs.weight 4 2\n" prefix "layers.#.altup.correction_coefs.weight 2 2\n" prefix    \
      "layers.#.altup.correct_output_scale 16\n" prefix "layers.#.per_layer_input_gate.weight 4 16\n" prefix         \
      "layers.#.per_layer_projection.weight 16 4\n" prefix "layers.#.post_per_layer_input_norm.weight 16\n" prefix   \
      "norm.weight 16\n"

inline const std::vector<FamilyRow> kGemmaRows = {
    {"ministral3: YaRN, queries that grow with position",
     R"({"model_type": "ministral3", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6,
          "max_position_embeddings": 64, "sliding_window": null, "tie_word_embeddings": false,
          "rope_parameters": {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "beta_fast": 32.0,
            "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 16,
            "llama_4_scaling_beta": 0.25}})",
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
     R"(ministral3: vocab 11, hidden 16, positions 64, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        softmax: d 6 6, blocks q 4 k 2 v 2, scale 0.408248, rope half-split 6 theta 10000 yarn, queries x 1 + 0.25 ln(1 + (i + 0) / 16)
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"mistral3: mistral inside, lm_head too",
     R"({"model_type": "mistral3", "tie_word_embeddings": false, "vision_config": {"model_type": "pixtral"},
          "image_token_index": 10, "spatial_merge_size": 2, "text_config": {"model_type": "mistral", "vocab_size": 11,
          "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2,
          "num_key_value_heads": 1, "max_position_embeddings": 32, "sliding_window": null}})",
     R"(!language_model.model.embed_tokens.weight 11 8
        language_model.model.layers.#.self_attn.q_proj.weight 8 8
        language_model.model.layers.#.self_attn.k_proj.weight 4 8
        language_model.model.layers.#.self_attn.v_proj.weight 4 8
        language_model.model.layers.#.self_attn.o_proj.weight 8 8
        language_model.model.layers.#.mlp.gate_proj.weight 12 8
        language_model.model.layers.#.mlp.up_proj.weight 12 8
        language_model.model.layers.#.mlp.down_proj.weight 8 12
        language_model.model.layers.#.input_layernorm.weight 8
        language_model.model.layers.#.post_attention_layernorm.weight 8
        language_model.model.norm.weight 8
        ?language_model.lm_head.weight 11 8
        ?vision_tower.ln_pre.weight 8
        ?multi_modal_projector.linear_1.weight 8 8)",
     R"(mistral3: vocab 11, hidden 8, positions 32, heads 2, kv heads 1, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        softmax: d 4 4, blocks q 2 k 1 v 1, scale 0.5, rope half-split 4 theta 10000
        q0 k0 v0
        q1 k0 v0
        L1 likewise)"},

    {"gemma3: gemma3_text inside",
     R"({"model_type": "gemma3", "vision_config": {"model_type": "siglip_vision_model"}, "mm_tokens_per_image": 4,
          "text_config": {"model_type": "gemma3_text", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
          "max_position_embeddings": 32, "sliding_window": 5, "sliding_window_pattern": 2,
          "query_pre_attn_scalar": 16}})",
     R"(!model.language_model.embed_tokens.weight 11 16
        model.language_model.layers.#.self_attn.q_proj.weight 16 16
        model.language_model.layers.#.self_attn.k_proj.weight 8 16
        model.language_model.layers.#.self_attn.v_proj.weight 8 16
        model.language_model.layers.#.self_attn.o_proj.weight 16 16
        model.language_model.layers.#.self_attn.q_norm.weight 8
        model.language_model.layers.#.self_attn.k_norm.weight 8
        model.language_model.layers.#.mlp.gate_proj.weight 12 16
        model.language_model.layers.#.mlp.up_proj.weight 12 16
        model.language_model.layers.#.mlp.down_proj.weight 16 12
        model.language_model.layers.#.input_layernorm.weight 16
        model.language_model.layers.#.post_attention_layernorm.weight 16
        model.language_model.layers.#.pre_feedforward_layernorm.weight 16
        model.language_model.layers.#.post_feedforward_layernorm.weight 16
        model.language_model.norm.weight 16
        ?model.vision_tower.vision_model.post_layernorm.weight 8
        ?model.multi_modal_projector.mm_soft_emb_norm.weight 8)",
     R"(gemma3: vocab 11, hidden 16, positions 32, heads 2, kv heads 1, tied, embedding x 4, final norm rms 1e-06 offset 1
        L0 norms rms 1e-06 offset 1 | rms 1e-06 offset 1, after rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated gelu_tanh 12
        softmax: d 8 8, blocks q 2 k 1 v 1, scale 0.25, rope half-split 8 theta 10000, window 5, qk norm per head rms 1e-06 offset 1 rms 1e-06 offset 1
        q0 k0 v0
        q1 k0 v0
        L1 norms rms 1e-06 offset 1 | rms 1e-06 offset 1, after rms 1e-06 offset 1 | rms 1e-06 offset 1; mlp gated gelu_tanh 12
        softmax: d 8 8, blocks q 2 k 1 v 1, scale 0.25, rope half-split 8 theta 1e+06, qk norm per head rms 1e-06 offset 1 rms 1e-06 offset 1
        q0 k0 v0
        q1 k0 v0)"},

    {"llama4_text: chunks, a layer without positions, experts in every layer",
     R"({"model_type": "llama4_text", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "intermediate_size_mlp": 20, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
          "head_dim": 8, "max_position_embeddings": 32, "attention_chunk_size": 8, "no_rope_layer_interval": 2,
          "num_local_experts": 3, "num_experts_per_tok": 1, "attn_temperature_tuning": 4, "floor_scale": 16})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.feed_forward.router.weight 3 16
        model.layers.#.feed_forward.experts.gate_up_proj 3 16 24
        model.layers.#.feed_forward.experts.down_proj 3 12 16
        model.layers.#.feed_forward.shared_expert.gate_proj.weight 12 16
        model.layers.#.feed_forward.shared_expert.up_proj.weight 12 16
        model.layers.#.feed_forward.shared_expert.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(llama4_text: vocab 11, hidden 16, positions 32, heads 2, kv heads 1, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12; 1 of 3 experts by sigmoid, of the input, gated silu 12
        softmax: d 8 8, blocks q 2 k 1 v 1, scale 0.353553, rope interleaved 8 theta 500000, chunks of 8, qk norm per head rms 1e-05 without weight rms 1e-05 without weight after the rotation
        q0 k0 v0
        q1 k0 v0
        L1 norms rms 1e-05 | rms 1e-05; mlp gated silu 12; 1 of 3 experts by sigmoid, of the input, gated silu 12
        softmax: d 8 8, blocks q 2 k 1 v 1, scale 0.353553, rope none, queries x 1 + 0.1 ln(1 + (i + 1) / 16)
        q0 k0 v0
        q1 k0 v0)"},

    {"llama4_text: dense layers, no norms of queries and keys, no temperature",
     R"({"model_type": "llama4_text", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "intermediate_size_mlp": 20, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2,
          "head_dim": 8, "max_position_embeddings": 32, "attention_chunk_size": 8, "no_rope_layers": [0, 1],
          "use_qk_norm": false, "attn_temperature_tuning": false, "moe_layers": []})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 16 16
        model.layers.#.self_attn.v_proj.weight 16 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.feed_forward.gate_proj.weight 20 16
        model.layers.#.feed_forward.up_proj.weight 20 16
        model.layers.#.feed_forward.down_proj.weight 16 20
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.norm.weight 16
        ?lm_head.weight 11 16)",
     R"(llama4_text: vocab 11, hidden 16, positions 32, heads 2, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 20
        softmax: d 8 8, blocks q 2 k 2 v 2, scale 0.353553, rope none
        q0 k0 v0
        q1 k1 v1
        L1 norms rms 1e-05 | rms 1e-05; mlp gated silu 20
        softmax: d 8 8, blocks q 2 k 2 v 2, scale 0.353553, rope interleaved 8 theta 500000, chunks of 8
        q0 k0 v0
        q1 k1 v1)"},

    {"gemma3n_text: streams, embeddings of the layers, keys of layer 0",
     R"({"model_type": "gemma3n_text", "vocab_size": 11, "hidden_size": 16, "intermediate_size": [12, 12],
          "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
          "max_position_embeddings": 32, "sliding_window": 5, "laurel_rank": 3, "altup_num_inputs": 2,
          "hidden_size_per_layer_input": 4, "vocab_size_per_layer_input": 9, "num_kv_shared_layers": 1,
          "layer_types": ["sliding_attention", "sliding_attention"], "activation_sparsity_pattern": [0.5, 0.0]})",
     HEADROOM_GEMMA3N_TENSORS("model.", ""),
     R"(gemma3n_text: vocab 11, hidden 16, positions 32, heads 2, kv heads 1, tied, layers told 4 of 9 tokens x 2, projection x 0.25 rms 1e-06, 2 streams, 0 active, embedding x 4, logits capped at 30, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06, after rms 1e-06 | rms 1e-06; mlp gated gelu_tanh 12 sparse 0.5; laurel 3 rms 1e-06; altup 2 rms 1e-06 scaled; told gelu_tanh 4 rms 1e-06
        softmax: d 8 8, blocks q 2 k 1 v 1, scale 1, rope half-split 8 theta 10000, window 5, qk norm per head rms 1e-06 rms 1e-06, v norm rms 1e-06 without weight
        q0 k0 v0
        q1 k0 v0
        L1 norms rms 1e-06 | rms 1e-06, after rms 1e-06 | rms 1e-06; mlp gated gelu_tanh 12; laurel 3 rms 1e-06; altup 2 rms 1e-06 scaled; told gelu_tanh 4 rms 1e-06
        softmax: d 8 8, blocks q 2 k 1 v 1, scale 1, rope half-split 8 theta 10000, window 5, keys of layer 0, qk norm per head rms 1e-06 none
        q0 k0 v0
        q1 k0 v0)"},

    {"gemma3n: gemma3n_text inside",
     R"({"model_type": "gemma3n", "audio_config": {}, "text_config": {"model_type": "gemma3n_text", "vocab_size": 11, "hidden_size": 16, "intermediate_size": [12, 12],
          "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
          "max_position_embeddings": 32, "sliding_window": 5, "laurel_rank": 3, "altup_num_inputs": 2,
          "hidden_size_per_layer_input": 4, "vocab_size_per_layer_input": 9, "num_kv_shared_layers": 1,
          "layer_types": ["sliding_attention", "sliding_attention"], "activation_sparsity_pattern": [0.5, 0.0]}})",
     HEADROOM_GEMMA3N_TENSORS("model.language_model.", "!"),
     R"(gemma3n: vocab 11, hidden 16, positions 32, heads 2, kv heads 1, tied, layers told 4 of 9 tokens x 2, projection x 0.25 rms 1e-06, 2 streams, 0 active, embedding x 4, logits capped at 30, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06, after rms 1e-06 | rms 1e-06; mlp gated gelu_tanh 12 sparse 0.5; laurel 3 rms 1e-06; altup 2 rms 1e-06 scaled; told gelu_tanh 4 rms 1e-06
        softmax: d 8 8, blocks q 2 k 1 v 1, scale 1, rope half-split 8 theta 10000, window 5, qk norm per head rms 1e-06 rms 1e-06, v norm rms 1e-06 without weight
        q0 k0 v0
        q1 k0 v0
        L1 norms rms 1e-06 | rms 1e-06, after rms 1e-06 | rms 1e-06; mlp gated gelu_tanh 12; laurel 3 rms 1e-06; altup 2 rms 1e-06 scaled; told gelu_tanh 4 rms 1e-06
        softmax: d 8 8, blocks q 2 k 1 v 1, scale 1, rope half-split 8 theta 10000, window 5, keys of layer 0, qk norm per head rms 1e-06 none
        q0 k0 v0
        q1 k0 v0)"},

    {"gemma4_text: wide heads in the full layer, experts beside the MLP",
     R"({"model_type": "gemma4_text", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8,
          "global_head_dim": 16, "num_global_key_value_heads": 1, "attention_k_eq_v": true,
          "max_position_embeddings": 32, "sliding_window": 5, "hidden_size_per_layer_input": 0,
          "enable_moe_block": true, "num_experts": 3, "top_k_experts": 2, "moe_intermediate_size": 5,
          "use_bidirectional_attention": "vision"})",
     R"(model.embed_tokens.weight 11 16
        model.layers.0.self_attn.q_proj.weight 16 16
        model.layers.0.self_attn.k_proj.weight 16 16
        model.layers.0.self_attn.v_proj.weight 16 16
        model.layers.0.self_attn.o_proj.weight 16 16
        model.layers.0.self_attn.q_norm.weight 8
        model.layers.0.self_attn.k_norm.weight 8
        model.layers.1.self_attn.q_proj.weight 32 16
        model.layers.1.self_attn.k_proj.weight 16 16
        model.layers.1.self_attn.o_proj.weight 16 32
        model.layers.1.self_attn.q_norm.weight 16
        model.layers.1.self_attn.k_norm.weight 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.router.proj.weight 3 16
        model.layers.#.router.scale 16
        model.layers.#.router.per_expert_scale 3
        model.layers.#.experts.gate_up_proj 3 10 16
        model.layers.#.experts.down_proj 3 16 5
        model.layers.#.input_layernorm.weight 16
        model.layers.#.post_attention_layernorm.weight 16
        model.layers.#.pre_feedforward_layernorm.weight 16
        model.layers.#.pre_feedforward_layernorm_2.weight 16
        model.layers.#.post_feedforward_layernorm.weight 16
        model.layers.#.post_feedforward_layernorm_1.weight 16
        model.layers.#.post_feedforward_layernorm_2.weight 16
        model.layers.#.layer_scalar 1
        model.norm.weight 16)",
     R"(gemma4_text: vocab 11, hidden 16, positions 32, heads 2, kv heads 2, tied, embedding x 4, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06, after rms 1e-06 | rms 1e-06; mlp gated gelu_tanh 12; 2 of 3 experts by softmax, normalised, router norm rms 1e-06, logits x 0.25, scaled, own norms rms 1e-06 | rms 1e-06 | rms 1e-06, gated gelu_tanh 5; scaled
        softmax: d 8 8, blocks q 2 k 2 v 2, scale 1, rope half-split 8 theta 10000, window 5, qk norm per head rms 1e-06 rms 1e-06, v norm rms 1e-06 without weight
        q0 k0 v0
        q1 k1 v1
        L1 norms rms 1e-06 | rms 1e-06, after rms 1e-06 | rms 1e-06; mlp gated gelu_tanh 12; 2 of 3 experts by softmax, normalised, router norm rms 1e-06, logits x 0.25, scaled, own norms rms 1e-06 | rms 1e-06 | rms 1e-06, gated gelu_tanh 5; scaled
        softmax: d 16 16, blocks q 2 k 1 v 1, scale 1, rope half-split 16 theta 1e+06 proportional, qk norm per head rms 1e-06 rms 1e-06, v norm rms 1e-06 without weight, one projection for k and v
        q0 k0 v0
        q1 k0 v0)"},
    {"llama4: llama4_text inside, dense",
     R"({"model_type": "llama4", "vision_config": {}, "text_config": {"model_type": "llama4_text", "vocab_size": 11,
          "hidden_size": 16, "intermediate_size": 12, "intermediate_size_mlp": 20, "num_hidden_layers": 2,
          "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 32,
          "attention_chunk_size": 8, "use_qk_norm": false, "moe_layers": [], "attention_bias": true}})",
     R"(!language_model.model.embed_tokens.weight 11 16
        language_model.model.layers.#.self_attn.q_proj.weight 16 16
        language_model.model.layers.#.self_attn.k_proj.weight 16 16
        language_model.model.layers.#.self_attn.v_proj.weight 16 16
        language_model.model.layers.#.self_attn.o_proj.weight 16 16
        language_model.model.layers.#.self_attn.q_proj.bias 16
        language_model.model.layers.#.self_attn.k_proj.bias 16
        language_model.model.layers.#.self_attn.v_proj.bias 16
        language_model.model.layers.#.self_attn.o_proj.bias 16
        language_model.model.layers.#.feed_forward.gate_proj.weight 20 16
        language_model.model.layers.#.feed_forward.up_proj.weight 20 16
        language_model.model.layers.#.feed_forward.down_proj.weight 16 20
        language_model.model.layers.#.input_layernorm.weight 16
        language_model.model.layers.#.post_attention_layernorm.weight 16
        language_model.model.norm.weight 16
        ?language_model.lm_head.weight 11 16
        ?vision_model.layernorm_post.weight 8)",
     R"(llama4: vocab 11, hidden 16, positions 32, heads 2, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 20
        softmax: d 8 8, blocks q 2 k 2 v 2, scale 0.353553, rope interleaved 8 theta 500000, bias qkvo, chunks of 8
        q0 k0 v0
        q1 k1 v1
        L1 likewise)"},

    {"gemma4: gemma4_text inside, heads by layer, embeddings of the layers",
     R"({"model_type": "gemma4", "vision_config": {}, "audio_config": null, "text_config": {"model_type": "gemma4_text",
          "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12, "num_hidden_layers": 2,
          "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8, "per_layer_config": {"1": {"head_dim": 4}},
          "max_position_embeddings": 32, "sliding_window": 5, "hidden_size_per_layer_input": 4,
          "vocab_size_per_layer_input": 11, "final_logit_softcapping": 30.0}})",
     R"(!model.language_model.embed_tokens.weight 11 16
        model.language_model.embed_tokens_per_layer.weight 11 8
        model.language_model.per_layer_model_projection.weight 8 16
        model.language_model.per_layer_projection_norm.weight 4
        model.language_model.layers.0.self_attn.q_proj.weight 16 16
        model.language_model.layers.0.self_attn.k_proj.weight 8 16
        model.language_model.layers.0.self_attn.v_proj.weight 8 16
        model.language_model.layers.0.self_attn.o_proj.weight 16 16
        model.language_model.layers.0.self_attn.q_norm.weight 8
        model.language_model.layers.0.self_attn.k_norm.weight 8
        model.language_model.layers.1.self_attn.q_proj.weight 8 16
        model.language_model.layers.1.self_attn.k_proj.weight 4 16
        model.language_model.layers.1.self_attn.v_proj.weight 4 16
        model.language_model.layers.1.self_attn.o_proj.weight 16 8
        model.language_model.layers.1.self_attn.q_norm.weight 4
        model.language_model.layers.1.self_attn.k_norm.weight 4
        model.language_model.layers.#.mlp.gate_proj.weight 12 16
        model.language_model.layers.#.mlp.up_proj.weight 12 16
        model.language_model.layers.#.mlp.down_proj.weight 16 12
        model.language_model.layers.#.input_layernorm.weight 16
        model.language_model.layers.#.post_attention_layernorm.weight 16
        model.language_model.layers.#.pre_feedforward_layernorm.weight 16
        model.language_model.layers.#.post_feedforward_layernorm.weight 16
        model.language_model.layers.#.per_layer_input_gate.weight 4 16
        model.language_model.layers.#.per_layer_projection.weight 16 4
        model.language_model.layers.#.post_per_layer_input_norm.weight 16
        model.language_model.layers.#.layer_scalar 1
        model.language_model.norm.weight 16
        ?model.vision_tower.patch.weight 8
        ?model.embed_vision.embedding_projection.weight 8)",
     R"(gemma4: vocab 11, hidden 16, positions 32, heads 2, kv heads 1, tied, layers told 4 of 11 tokens x 2, projection x 0.25 rms 1e-06, embedding x 4, logits capped at 30, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06, after rms 1e-06 | rms 1e-06; mlp gated gelu_tanh 12; told gelu_tanh 4 rms 1e-06; scaled
        softmax: d 8 8, blocks q 2 k 1 v 1, scale 1, rope half-split 8 theta 10000, window 5, qk norm per head rms 1e-06 rms 1e-06, v norm rms 1e-06 without weight
        q0 k0 v0
        q1 k0 v0
        L1 norms rms 1e-06 | rms 1e-06, after rms 1e-06 | rms 1e-06; mlp gated gelu_tanh 12; told gelu_tanh 4 rms 1e-06; scaled
        softmax: d 4 4, blocks q 2 k 1 v 1, scale 1, rope half-split 4 theta 1e+06 proportional, qk norm per head rms 1e-06 rms 1e-06, v norm rms 1e-06 without weight
        q0 k0 v0
        q1 k0 v0)"},
};

}  // namespace headroom::test
