// Rows of the table of families: decoders that transformers has, with LayerNorm. Tensors are those of its own classes.
// Constants.
#pragma once

#include <vector>

#include "tests/core/model/family_rows.h"

namespace headroom::test {

inline const std::vector<FamilyRow> kLayerNormRows = {
    {"olmo: LayerNorm without weights",
     R"({"model_type": "olmo", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "tie_word_embeddings": false, "clip_qkv": null})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        ?lm_head.weight 11 16)",
     R"(olmo: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm layer 1e-05 without weight
        L0 norms layer 1e-05 without weight | layer 1e-05 without weight; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"starcoder2: LayerNorm, plain MLP, biases",
     R"({"model_type": "starcoder2", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "sliding_window": 9, "use_bias": true, "norm_epsilon": 1e-05,
          "tie_word_embeddings": true})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.q_proj.bias 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.k_proj.bias 8
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.v_proj.bias 8
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.self_attn.o_proj.bias 16
        model.layers.#.mlp.c_fc.weight 12 16
        model.layers.#.mlp.c_fc.bias 12
        model.layers.#.mlp.c_proj.weight 16 12
        model.layers.#.mlp.c_proj.bias 16
        model.layers.#.input_layernorm.weight 16
        model.layers.#.input_layernorm.bias 16
        model.layers.#.post_attention_layernorm.weight 16
        model.layers.#.post_attention_layernorm.bias 16
        model.norm.weight 16
        model.norm.bias 16)",
     R"(starcoder2: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, tied, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain gelu_tanh 12 with bias
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000, bias qkvo, window 9
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"stablelm: a part of the channels, one after the other",
     R"({"model_type": "stablelm", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "partial_rotary_factor": 0.5, "use_qkv_bias": true,
          "use_parallel_residual": false, "tie_word_embeddings": false})",
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
        model.layers.#.input_layernorm.bias 16
        model.layers.#.post_attention_layernorm.weight 16
        model.layers.#.post_attention_layernorm.bias 16
        model.norm.weight 16
        model.norm.bias 16
        ?lm_head.weight 11 16)",
     R"(stablelm: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 2 theta 10000, bias qkv
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"stablelm: side by side behind one norm",
     R"({"model_type": "stablelm", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "partial_rotary_factor": 0.5, "use_parallel_residual": true,
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
        model.layers.#.input_layernorm.bias 16
        model.norm.weight 16
        model.norm.bias 16
        ?lm_head.weight 11 16)",
     R"(stablelm: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias, parallel; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 2 theta 10000
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"phi: side by side, norms of queries and keys",
     R"({"model_type": "phi", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "partial_rotary_factor": 0.5, "qk_layernorm": true,
          "tie_word_embeddings": false})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.q_proj.bias 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.k_proj.bias 8
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.v_proj.bias 8
        model.layers.#.self_attn.dense.weight 16 16
        model.layers.#.self_attn.dense.bias 16
        model.layers.#.self_attn.q_layernorm.weight 4
        model.layers.#.self_attn.q_layernorm.bias 4
        model.layers.#.self_attn.k_layernorm.weight 4
        model.layers.#.self_attn.k_layernorm.bias 4
        model.layers.#.mlp.fc1.weight 12 16
        model.layers.#.mlp.fc1.bias 12
        model.layers.#.mlp.fc2.weight 16 12
        model.layers.#.mlp.fc2.bias 16
        model.layers.#.input_layernorm.weight 16
        model.layers.#.input_layernorm.bias 16
        model.final_layernorm.weight 16
        model.final_layernorm.bias 16
        ?lm_head.weight 11 16
        lm_head.bias 11)",
     R"(phi: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, biased logits, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias, parallel; mlp plain gelu_tanh 12 with bias
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 2 theta 10000, bias qkvo, qk norm per head layer 1e-05 with bias layer 1e-05 with bias
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"cohere: side by side, scaled logits",
     R"({"model_type": "cohere", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "layer_norm_eps": 1e-05, "logit_scale": 0.0625,
          "use_qk_norm": false})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.norm.weight 16)",
     R"(cohere: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, tied, logits x 0.0625, final norm layer 1e-05
        L0 norms layer 1e-05 | layer 1e-05, parallel; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope interleaved 4 theta 500000
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"cohere2: windows rotate, full layers do not",
     R"({"model_type": "cohere2", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "layer_norm_eps": 1e-05, "logit_scale": 0.25, "sliding_window": 5,
          "sliding_window_pattern": 2})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.gate_proj.weight 12 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.norm.weight 16)",
     R"(cohere2: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, tied, logits x 0.25, final norm layer 1e-05
        L0 norms layer 1e-05 | layer 1e-05, parallel; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope interleaved 4 theta 10000, window 5
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 norms layer 1e-05 | layer 1e-05, parallel; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope none
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1)"},

    {"nemotron: norms by 1 + w, squared ReLU",
     R"({"model_type": "nemotron", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 32, "norm_eps": 1e-05, "partial_rotary_factor": 0.5,
          "tie_word_embeddings": false})",
     R"(model.embed_tokens.weight 11 16
        model.layers.#.self_attn.q_proj.weight 16 16
        model.layers.#.self_attn.k_proj.weight 8 16
        model.layers.#.self_attn.v_proj.weight 8 16
        model.layers.#.self_attn.o_proj.weight 16 16
        model.layers.#.mlp.up_proj.weight 12 16
        model.layers.#.mlp.down_proj.weight 16 12
        model.layers.#.input_layernorm.weight 16
        model.layers.#.input_layernorm.bias 16
        model.layers.#.post_attention_layernorm.weight 16
        model.layers.#.post_attention_layernorm.bias 16
        model.norm.weight 16
        model.norm.bias 16
        ?lm_head.weight 11 16)",
     R"(nemotron: vocab 11, hidden 16, positions 32, heads 4, kv heads 2, final norm layer 1e-05 with bias offset 1
        L0 norms layer 1e-05 with bias offset 1 | layer 1e-05 with bias offset 1; mlp plain relu2 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 2 theta 10000
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"gpt_neox: side by side, fused by head",
     R"({"model_type": "gpt_neox", "vocab_size": 11, "hidden_size": 16, "intermediate_size": 12,
          "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 32, "rotary_pct": 0.5,
          "rotary_emb_base": 10000, "tie_word_embeddings": false})",
     R"(gpt_neox.embed_in.weight 11 16
        gpt_neox.layers.#.input_layernorm.weight 16
        gpt_neox.layers.#.input_layernorm.bias 16
        gpt_neox.layers.#.post_attention_layernorm.weight 16
        gpt_neox.layers.#.post_attention_layernorm.bias 16
        gpt_neox.layers.#.attention.query_key_value.weight 48 16
        gpt_neox.layers.#.attention.query_key_value.bias 48
        gpt_neox.layers.#.attention.dense.weight 16 16
        gpt_neox.layers.#.attention.dense.bias 16
        gpt_neox.layers.#.mlp.dense_h_to_4h.weight 12 16
        gpt_neox.layers.#.mlp.dense_h_to_4h.bias 12
        gpt_neox.layers.#.mlp.dense_4h_to_h.weight 16 12
        gpt_neox.layers.#.mlp.dense_4h_to_h.bias 16
        gpt_neox.final_layer_norm.weight 16
        gpt_neox.final_layer_norm.bias 16
        ?embed_out.weight 11 16)",
     R"(gpt_neox: vocab 11, hidden 16, positions 32, heads 4, kv heads 4, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias, parallel; mlp plain gelu 12 with bias
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 0.5, rope half-split 2 theta 10000, bias qkvo
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3
        L1 likewise)"},

    {"opt: norms before",
     R"({"model_type": "opt", "vocab_size": 11, "hidden_size": 16, "num_hidden_layers": 2,
          "num_attention_heads": 4, "max_position_embeddings": 32, "ffn_dim": 12, "word_embed_proj_dim": 16,
          "do_layer_norm_before": true})",
     R"(model.decoder.embed_tokens.weight 11 16
        model.decoder.embed_positions.weight 34 16
        model.decoder.final_layer_norm.weight 16
        model.decoder.final_layer_norm.bias 16
        model.decoder.layers.#.self_attn.k_proj.weight 16 16
        model.decoder.layers.#.self_attn.k_proj.bias 16
        model.decoder.layers.#.self_attn.v_proj.weight 16 16
        model.decoder.layers.#.self_attn.v_proj.bias 16
        model.decoder.layers.#.self_attn.q_proj.weight 16 16
        model.decoder.layers.#.self_attn.q_proj.bias 16
        model.decoder.layers.#.self_attn.out_proj.weight 16 16
        model.decoder.layers.#.self_attn.out_proj.bias 16
        model.decoder.layers.#.self_attn_layer_norm.weight 16
        model.decoder.layers.#.self_attn_layer_norm.bias 16
        model.decoder.layers.#.fc1.weight 12 16
        model.decoder.layers.#.fc1.bias 12
        model.decoder.layers.#.fc2.weight 16 12
        model.decoder.layers.#.fc2.bias 16
        model.decoder.layers.#.final_layer_norm.weight 16
        model.decoder.layers.#.final_layer_norm.bias 16)",
     R"(opt: vocab 11, hidden 16, positions 32, heads 4, kv heads 4, tied, learned positions, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain relu 12 with bias
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 0.5, rope none, bias qkvo
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3
        L1 likewise)"},

    {"opt: norms of the sum",
     R"({"model_type": "opt", "vocab_size": 11, "hidden_size": 16, "num_hidden_layers": 2,
          "num_attention_heads": 4, "max_position_embeddings": 32, "ffn_dim": 12, "word_embed_proj_dim": 16,
          "do_layer_norm_before": false})",
     R"(model.decoder.embed_tokens.weight 11 16
        model.decoder.embed_positions.weight 34 16
        model.decoder.layers.#.self_attn.k_proj.weight 16 16
        model.decoder.layers.#.self_attn.k_proj.bias 16
        model.decoder.layers.#.self_attn.v_proj.weight 16 16
        model.decoder.layers.#.self_attn.v_proj.bias 16
        model.decoder.layers.#.self_attn.q_proj.weight 16 16
        model.decoder.layers.#.self_attn.q_proj.bias 16
        model.decoder.layers.#.self_attn.out_proj.weight 16 16
        model.decoder.layers.#.self_attn.out_proj.bias 16
        model.decoder.layers.#.self_attn_layer_norm.weight 16
        model.decoder.layers.#.self_attn_layer_norm.bias 16
        model.decoder.layers.#.fc1.weight 12 16
        model.decoder.layers.#.fc1.bias 12
        model.decoder.layers.#.fc2.weight 16 12
        model.decoder.layers.#.fc2.bias 16
        model.decoder.layers.#.final_layer_norm.weight 16
        model.decoder.layers.#.final_layer_norm.bias 16)",
     R"(opt: vocab 11, hidden 16, positions 32, heads 4, kv heads 4, tied, learned positions, final norm none
        L0 norms none | none, of the sum layer 1e-05 with bias | layer 1e-05 with bias; mlp plain relu 12 with bias
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 0.5, rope none, bias qkvo
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3
        L1 likewise)"},

    {"gpt_bigcode: one key head",
     R"({"model_type": "gpt_bigcode", "vocab_size": 11, "n_embd": 16, "n_layer": 2, "n_head": 4,
          "n_inner": 12, "n_positions": 32, "multi_query": true})",
     R"(transformer.wte.weight 11 16
        transformer.wpe.weight 32 16
        transformer.h.#.ln_1.weight 16
        transformer.h.#.ln_1.bias 16
        transformer.h.#.attn.c_attn.weight 24 16
        transformer.h.#.attn.c_attn.bias 24
        transformer.h.#.attn.c_proj.weight 16 16
        transformer.h.#.attn.c_proj.bias 16
        transformer.h.#.ln_2.weight 16
        transformer.h.#.ln_2.bias 16
        transformer.h.#.mlp.c_fc.weight 12 16
        transformer.h.#.mlp.c_fc.bias 12
        transformer.h.#.mlp.c_proj.weight 16 12
        transformer.h.#.mlp.c_proj.bias 16
        transformer.ln_f.weight 16
        transformer.ln_f.bias 16)",
     R"(gpt_bigcode: vocab 11, hidden 16, positions 32, heads 4, kv heads 1, tied, learned positions, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain gelu_tanh 12 with bias
        softmax: d 4 4, blocks q 4 k 1 v 1, scale 0.5, rope none, bias qkvo
        q0 k0 v0
        q1 k0 v0
        q2 k0 v0
        q3 k0 v0
        L1 likewise)"},

    {"gpt_bigcode: fused by head",
     R"({"model_type": "gpt_bigcode", "vocab_size": 11, "n_embd": 16, "n_layer": 2, "n_head": 4,
          "n_inner": 12, "n_positions": 32, "multi_query": false})",
     R"(transformer.wte.weight 11 16
        transformer.wpe.weight 32 16
        transformer.h.#.ln_1.weight 16
        transformer.h.#.ln_1.bias 16
        transformer.h.#.attn.c_attn.weight 48 16
        transformer.h.#.attn.c_attn.bias 48
        transformer.h.#.attn.c_proj.weight 16 16
        transformer.h.#.attn.c_proj.bias 16
        transformer.h.#.ln_2.weight 16
        transformer.h.#.ln_2.bias 16
        transformer.h.#.mlp.c_fc.weight 12 16
        transformer.h.#.mlp.c_fc.bias 12
        transformer.h.#.mlp.c_proj.weight 16 12
        transformer.h.#.mlp.c_proj.bias 16
        transformer.ln_f.weight 16
        transformer.ln_f.bias 16)",
     R"(gpt_bigcode: vocab 11, hidden 16, positions 32, heads 4, kv heads 4, tied, learned positions, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain gelu_tanh 12 with bias
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 0.5, rope none, bias qkvo
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3
        L1 likewise)"},

    {"gptj: side by side, a part of the channels",
     R"({"model_type": "gptj", "vocab_size": 11, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_inner": 12,
          "n_positions": 32, "rotary_dim": 2, "tie_word_embeddings": false})",
     R"(transformer.wte.weight 11 16
        transformer.h.#.ln_1.weight 16
        transformer.h.#.ln_1.bias 16
        transformer.h.#.attn.k_proj.weight 16 16
        transformer.h.#.attn.v_proj.weight 16 16
        transformer.h.#.attn.q_proj.weight 16 16
        transformer.h.#.attn.out_proj.weight 16 16
        transformer.h.#.mlp.fc_in.weight 12 16
        transformer.h.#.mlp.fc_in.bias 12
        transformer.h.#.mlp.fc_out.weight 16 12
        transformer.h.#.mlp.fc_out.bias 16
        transformer.ln_f.weight 16
        transformer.ln_f.bias 16
        ?lm_head.weight 11 16
        lm_head.bias 11)",
     R"(gptj: vocab 11, hidden 16, positions 32, heads 4, kv heads 4, biased logits, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias, parallel; mlp plain gelu_tanh 12 with bias
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 0.5, rope interleaved 2 theta 10000
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3
        L1 likewise)"},

    {"gpt_neo: every other layer with a window",
     R"({"model_type": "gpt_neo", "vocab_size": 11, "hidden_size": 16, "num_layers": 2, "num_heads": 4,
          "intermediate_size": 12, "max_position_embeddings": 32, "window_size": 7,
          "attention_types": [[["global", "local"], 1]]})",
     R"(transformer.wte.weight 11 16
        transformer.wpe.weight 32 16
        transformer.h.#.ln_1.weight 16
        transformer.h.#.ln_1.bias 16
        transformer.h.#.attn.attention.k_proj.weight 16 16
        transformer.h.#.attn.attention.v_proj.weight 16 16
        transformer.h.#.attn.attention.q_proj.weight 16 16
        transformer.h.#.attn.attention.out_proj.weight 16 16
        transformer.h.#.attn.attention.out_proj.bias 16
        transformer.h.#.ln_2.weight 16
        transformer.h.#.ln_2.bias 16
        transformer.h.#.mlp.c_fc.weight 12 16
        transformer.h.#.mlp.c_fc.bias 12
        transformer.h.#.mlp.c_proj.weight 16 12
        transformer.h.#.mlp.c_proj.bias 16
        transformer.ln_f.weight 16
        transformer.ln_f.bias 16)",
     R"(gpt_neo: vocab 11, hidden 16, positions 32, heads 4, kv heads 4, tied, learned positions, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain gelu_tanh 12 with bias
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 1, rope none, bias o
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3
        L1 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain gelu_tanh 12 with bias
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 1, rope none, bias o, window 7
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3)"},

};

}  // namespace headroom::test
