// The table of families: a config as its library writes it, the tensors of its checkpoint, and the description that
// follows from them by core/model/ARCHITECTURES.md. A new family is one row (and one more for each form it has).
// Constants.
#pragma once

#include <vector>

namespace headroom::test {

struct FamilyRow {
  const char* name;
  const char* config;
  // "name extents", one a line, '#' for the layer. A leading '?': may be absent. A leading '!': decides between two
  // layouts, so that its absence is reported under another name.
  const char* tensors;
  const char* description;  // as spec_text.h spells it
};

// The tensors of a llama-like decoder without attention, for vocab 11, hidden 8, inner 12.
#define HEADROOM_LLAMA_FRAME                                                                     \
  "model.embed_tokens.weight 11 8\n model.norm.weight 8\n ?lm_head.weight 11 8\n"                \
  "model.layers.#.input_layernorm.weight 8\n model.layers.#.post_attention_layernorm.weight 8\n" \
  "model.layers.#.mlp.gate_proj.weight 12 8\n model.layers.#.mlp.up_proj.weight 12 8\n"          \
  "model.layers.#.mlp.down_proj.weight 8 12\n"

// The keys that every row of `headroom` shares: h = 4, h_kv = 2, d = 4.
#define HEADROOM_FOLDER_KEYS                                                                    \
  R"("model_type": "headroom", "vocab_size": 11, "hidden_size": 8, "num_hidden_layers": 2,)"    \
  R"("num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4, "rms_norm_eps": 1e-5,)" \
  R"("max_position_embeddings": 32, "tie_word_embeddings": false, "hidden_act": "silu",)"

// q_proj, k_proj, v_proj, o_proj of `headroom`'s kinds (core/model/ARCHITECTURES.md#tensors), d = 4.
#define HEADROOM_PLAIN_PROJECTIONS                                                             \
  "model.layers.#.self_attn.q_proj.weight 16 8\n model.layers.#.self_attn.k_proj.weight 8 8\n" \
  "model.layers.#.self_attn.v_proj.weight 8 8\n model.layers.#.self_attn.o_proj.weight 8 16\n"
#define HEADROOM_V1_PROJECTIONS                                                                 \
  "model.layers.#.self_attn.q_proj.weight 32 8\n model.layers.#.self_attn.k_proj.weight 16 8\n" \
  "model.layers.#.self_attn.v_proj.weight 16 8\n model.layers.#.self_attn.o_proj.weight 8 32\n" \
  "model.layers.#.self_attn.lambda_q1 4\n model.layers.#.self_attn.lambda_k1 4\n"               \
  "model.layers.#.self_attn.lambda_q2 4\n model.layers.#.self_attn.lambda_k2 4\n"

inline const std::vector<FamilyRow> kFamilyRows = {
    {"llama: grouped queries, untied",
     R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 11, "hidden_size": 8,
         "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "hidden_act": "silu", "max_position_embeddings": 32, "rms_norm_eps": 1e-06, "rope_theta": 500000.0,
         "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                          "original_max_position_embeddings": 16},
         "attention_bias": false, "mlp_bias": false, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
         "initializer_range": 0.02, "use_cache": true, "pretraining_tp": 1, "attention_dropout": 0.0,
         "bos_token_id": 1, "eos_token_id": 2, "transformers_version": "4.45.0"})",
     HEADROOM_LLAMA_FRAME R"(
         model.layers.#.self_attn.q_proj.weight 8 8
         model.layers.#.self_attn.k_proj.weight 4 8
         model.layers.#.self_attn.v_proj.weight 4 8
         model.layers.#.self_attn.o_proj.weight 8 8)",
     R"(llama: vocab 11, hidden 8, positions 32, heads 4, kv heads 2, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        softmax: d 2 2, blocks q 4 k 2 v 2, scale 0.707107, rope half-split 2 theta 500000 llama3
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"llama: its own head_dim, biases, tied, one key head, the keys of transformers 5",
     R"({"model_type": "llama", "vocab_size": 11, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
         "num_attention_heads": 3, "num_key_value_heads": 1, "head_dim": 4, "max_position_embeddings": 32,
         "rms_norm_eps": 1e-05, "rope_parameters": {"rope_type": "default", "rope_theta": 20000.0},
         "attention_bias": true, "mlp_bias": true, "tie_word_embeddings": true, "dtype": "float32"})",
     R"(model.embed_tokens.weight 11 8
        model.norm.weight 8
        model.layers.#.input_layernorm.weight 8
        model.layers.#.post_attention_layernorm.weight 8
        model.layers.#.mlp.gate_proj.weight 12 8
        model.layers.#.mlp.gate_proj.bias 12
        model.layers.#.mlp.up_proj.weight 12 8
        model.layers.#.mlp.up_proj.bias 12
        model.layers.#.mlp.down_proj.weight 8 12
        model.layers.#.mlp.down_proj.bias 8
        model.layers.#.self_attn.q_proj.weight 12 8
        model.layers.#.self_attn.q_proj.bias 12
        model.layers.#.self_attn.k_proj.weight 4 8
        model.layers.#.self_attn.k_proj.bias 4
        model.layers.#.self_attn.v_proj.weight 4 8
        model.layers.#.self_attn.v_proj.bias 4
        model.layers.#.self_attn.o_proj.weight 8 12
        model.layers.#.self_attn.o_proj.bias 8)",
     R"(llama: vocab 11, hidden 8, positions 32, heads 3, kv heads 1, tied, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12 with bias
        softmax: d 4 4, blocks q 3 k 1 v 1, scale 0.5, rope half-split 4 theta 20000, bias qkvo
        q0 k0 v0
        q1 k0 v0
        q2 k0 v0
        L1 likewise)"},

    {"gpt2: Conv1D, transformers' names",
     R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 11, "n_positions": 16, "n_ctx": 16,
         "n_embd": 8, "n_layer": 2, "n_head": 2, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05,
         "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.1, "summary_type": "cls_index",
         "task_specific_params": {"text-generation": {"do_sample": true}}, "bos_token_id": 10})",
     R"(transformer.wte.weight 11 8
        transformer.wpe.weight 16 8
        transformer.ln_f.weight 8
        transformer.ln_f.bias 8
        transformer.h.#.ln_1.weight 8
        transformer.h.#.ln_1.bias 8
        transformer.h.#.ln_2.weight 8
        transformer.h.#.ln_2.bias 8
        !transformer.h.#.attn.c_attn.weight 8 24
        transformer.h.#.attn.c_attn.bias 24
        transformer.h.#.attn.c_proj.weight 8 8
        transformer.h.#.attn.c_proj.bias 8
        transformer.h.#.mlp.c_fc.weight 8 32
        transformer.h.#.mlp.c_fc.bias 32
        transformer.h.#.mlp.c_proj.weight 32 8
        transformer.h.#.mlp.c_proj.bias 8
        ?transformer.h.#.attn.bias 1 1 16 16)",
     R"(gpt2: vocab 11, hidden 8, positions 16, heads 2, kv heads 2, tied, learned positions, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain gelu_tanh 32 with bias
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none, bias qkvo
        q0 k0 v0
        q1 k1 v1
        L1 likewise)"},

    {"gpt2: nanoGPT's Linear without biases, compiled, scores scaled by layer",
     R"({"model_type": "gpt2", "vocab_size": 11, "n_positions": 16, "n_embd": 8, "n_layer": 2, "n_head": 2, "n_inner": 20,
         "activation_function": "gelu", "scale_attn_by_inverse_layer_idx": true})",
     R"(_orig_mod.transformer.wte.weight 11 8
        _orig_mod.transformer.wpe.weight 16 8
        _orig_mod.transformer.ln_f.weight 8
        _orig_mod.transformer.h.#.ln_1.weight 8
        _orig_mod.transformer.h.#.ln_2.weight 8
        !_orig_mod.transformer.h.#.attn.c_attn.weight 24 8
        _orig_mod.transformer.h.#.attn.c_proj.weight 8 8
        _orig_mod.transformer.h.#.mlp.c_fc.weight 20 8
        _orig_mod.transformer.h.#.mlp.c_proj.weight 8 20
        ?_orig_mod.lm_head.weight 11 8)",
     R"(gpt2: vocab 11, hidden 8, positions 16, heads 2, kv heads 2, tied, learned positions, final norm layer 1e-05
        L0 norms layer 1e-05 | layer 1e-05; mlp plain gelu 20
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none
        q0 k0 v0
        q1 k1 v1
        L1 norms layer 1e-05 | layer 1e-05; mlp plain gelu 20
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.25, rope none
        q0 k0 v0
        q1 k1 v1)"},

    {"diffllama: halves, groups of two",
     R"({"model_type": "diffllama", "vocab_size": 11, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 2, "hidden_act": "silu",
         "max_position_embeddings": 32, "rms_norm_eps": 1e-05, "lambda_std_dev": 0.1, "attention_bias": false,
         "tie_word_embeddings": true, "rope_theta": 10000.0, "rope_scaling": null})",
     R"(model.embed_tokens.weight 11 8
        model.norm.weight 8
        model.layers.#.input_layernorm.weight 8
        model.layers.#.post_attention_layernorm.weight 8
        model.layers.#.mlp.gate_proj.weight 12 8
        model.layers.#.mlp.up_proj.weight 12 8
        model.layers.#.mlp.down_proj.weight 8 12
        model.layers.#.self_attn.q_proj.weight 8 8
        model.layers.#.self_attn.k_proj.weight 4 8
        model.layers.#.self_attn.v_proj.weight 4 8
        model.layers.#.self_attn.o_proj.weight 8 8
        model.layers.#.self_attn.lambda_q1 2
        model.layers.#.self_attn.lambda_k1 2
        model.layers.#.self_attn.lambda_q2 2
        model.layers.#.self_attn.lambda_k2 2)",
     R"(diffllama: vocab 11, hidden 8, positions 32, heads 2, kv heads 2, tied, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        diff_v1: d 2 2, blocks q 4 k 2 v 2, scale 0.707107, rope half-split 2 theta 10000, head norm rms 1e-05 without weight, lambda_init 0.200000
        q0 k0 v0.1 - q2 k1 v0.1, lambda layer, norm, x 0.8
        q1 k0 v0.1 - q3 k1 v0.1, lambda layer, norm, x 0.8
        L1 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        diff_v1: d 2 2, blocks q 4 k 2 v 2, scale 0.707107, rope half-split 2 theta 10000, head norm rms 1e-05 without weight, lambda_init 0.355509
        q0 k0 v0.1 - q2 k1 v0.1, lambda layer, norm, x 0.644491
        q1 k0 v0.1 - q3 k1 v0.1, lambda layer, norm, x 0.644491)"},

    {"diffllama: eight query heads on four key heads, biases",
     R"({"model_type": "diffllama", "vocab_size": 11, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1,
         "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 2, "attention_bias": true, "rms_norm_eps": 1e-06})",
     HEADROOM_LLAMA_FRAME R"(
        model.layers.#.self_attn.q_proj.weight 16 8
        model.layers.#.self_attn.q_proj.bias 16
        model.layers.#.self_attn.k_proj.weight 8 8
        model.layers.#.self_attn.k_proj.bias 8
        model.layers.#.self_attn.v_proj.weight 8 8
        model.layers.#.self_attn.v_proj.bias 8
        model.layers.#.self_attn.o_proj.weight 8 16
        model.layers.#.self_attn.o_proj.bias 8
        model.layers.#.self_attn.lambda_q1 2
        model.layers.#.self_attn.lambda_k1 2
        model.layers.#.self_attn.lambda_q2 2
        model.layers.#.self_attn.lambda_k2 2)",
     R"(diffllama: vocab 11, hidden 8, positions 2048, heads 4, kv heads 4, final norm rms 1e-06
        L0 norms rms 1e-06 | rms 1e-06; mlp gated silu 12
        diff_v1: d 2 2, blocks q 8 k 4 v 4, scale 0.707107, rope half-split 2 theta 10000, bias qkvo, head norm rms 1e-06 without weight, lambda_init 0.200000
        q0 k0 v0.2 - q4 k2 v0.2, lambda layer, norm, x 0.8
        q1 k0 v0.2 - q5 k2 v0.2, lambda layer, norm, x 0.8
        q2 k1 v1.3 - q6 k3 v1.3, lambda layer, norm, x 0.8
        q3 k1 v1.3 - q7 k3 v1.3, lambda layer, norm, x 0.8)"},

    {"headroom: softmax",
     "{" HEADROOM_FOLDER_KEYS R"("intermediate_size": 12, "position": "rope", "rope_theta": 10000.0,
         "rope_interleaved": true, "rope_scaling": null, "attention": {"kind": "softmax", "qk_norm": false,
         "scale": null, "window": null}})",
     HEADROOM_LLAMA_FRAME HEADROOM_PLAIN_PROJECTIONS,
     R"(headroom: vocab 11, hidden 8, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        softmax: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope interleaved 4 theta 10000
        q0 k0 v0
        q1 k0 v0
        q2 k1 v1
        q3 k1 v1
        L1 likewise)"},

    {"headroom: softmax_one, no positions, no MLP, a scale and a window of its own",
     "{" HEADROOM_FOLDER_KEYS R"("intermediate_size": 0, "position": "none",
         "attention": {"kind": "softmax_one", "scale": 0.125, "window": 6}})",
     R"(model.embed_tokens.weight 11 8
        model.norm.weight 8
        ?lm_head.weight 11 8
        model.layers.#.input_layernorm.weight 8
        )" HEADROOM_PLAIN_PROJECTIONS,
     R"(headroom: vocab 11, hidden 8, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | none; mlp none
        softmax_one: d 4 4, blocks q 4 k 2 v 2, scale 0.125, rope none, window 6
        q0 k0 v0, sink zero
        q1 k0 v0, sink zero
        q2 k1 v1, sink zero
        q3 k1 v1, sink zero
        L1 likewise)"},

    {"headroom: softmax_sink, learned positions, qk-norm",
     "{" HEADROOM_FOLDER_KEYS R"("intermediate_size": 12, "position": "learned",
         "attention": {"kind": "softmax_sink", "qk_norm": true}})",
     HEADROOM_LLAMA_FRAME HEADROOM_PLAIN_PROJECTIONS R"(
        model.position_embeddings.weight 32 8
        model.layers.#.self_attn.sinks 4
        model.layers.#.self_attn.q_norm.weight 4
        model.layers.#.self_attn.k_norm.weight 4)",
     R"(headroom: vocab 11, hidden 8, positions 32, heads 4, kv heads 2, learned positions, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        softmax_sink: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope none, qk norm per head rms 1e-05 rms 1e-05
        q0 k0 v0, sink learned
        q1 k0 v0, sink learned
        q2 k1 v1, sink learned
        q3 k1 v1, sink learned
        L1 likewise)"},

    {"headroom: gated, headwise",
     "{" HEADROOM_FOLDER_KEYS R"("intermediate_size": 12, "position": "rope", "rope_interleaved": false,
         "attention": {"kind": "gated", "gate": "headwise"}})",
     HEADROOM_LLAMA_FRAME HEADROOM_PLAIN_PROJECTIONS "model.layers.#.self_attn.g_proj.weight 4 8",
     R"(headroom: vocab 11, hidden 8, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        gated: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope half-split 4 theta 10000, gate per head
        q0 k0 v0, gated
        q1 k0 v0, gated
        q2 k1 v1, gated
        q3 k1 v1, gated
        L1 likewise)"},

    {"headroom: gated, elementwise",
     "{" HEADROOM_FOLDER_KEYS R"("intermediate_size": 12, "attention": {"kind": "gated", "gate": "elementwise"}})",
     HEADROOM_LLAMA_FRAME HEADROOM_PLAIN_PROJECTIONS "model.layers.#.self_attn.g_proj.weight 16 8",
     R"(headroom: vocab 11, hidden 8, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        gated: d 4 4, blocks q 4 k 2 v 2, scale 0.5, rope interleaved 4 theta 10000, gate elementwise
        q0 k0 v0, gated
        q1 k0 v0, gated
        q2 k1 v1, gated
        q3 k1 v1, gated
        L1 likewise)"},

    {"headroom: diff_v1, the flash form with its norm",
     "{" HEADROOM_FOLDER_KEYS R"("intermediate_size": 12, "attention": {"kind": "diff_v1", "v1_form": "flash",
         "v1_norm": true}})",
     HEADROOM_LLAMA_FRAME HEADROOM_V1_PROJECTIONS "model.layers.#.self_attn.subln.weight 8",
     R"(headroom: vocab 11, hidden 8, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        diff_v1: d 4 4, blocks q 8 k 4 v 4, scale 0.5, rope interleaved 4 theta 10000, head norm rms 1e-05, lambda_init 0.200000
        q0 k0 v0.1 - q1 k1 v0.1, lambda layer, norm, x 0.8
        q2 k0 v0.1 - q3 k1 v0.1, lambda layer, norm, x 0.8
        q4 k2 v2.3 - q5 k3 v2.3, lambda layer, norm, x 0.8
        q6 k2 v2.3 - q7 k3 v2.3, lambda layer, norm, x 0.8
        L1 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        diff_v1: d 4 4, blocks q 8 k 4 v 4, scale 0.5, rope interleaved 4 theta 10000, head norm rms 1e-05, lambda_init 0.355509
        q0 k0 v0.1 - q1 k1 v0.1, lambda layer, norm, x 0.644491
        q2 k0 v0.1 - q3 k1 v0.1, lambda layer, norm, x 0.644491
        q4 k2 v2.3 - q5 k3 v2.3, lambda layer, norm, x 0.644491
        q6 k2 v2.3 - q7 k3 v2.3, lambda layer, norm, x 0.644491)"},

    {"headroom: diff_v1, the naive form without norm, under unilm's name of the output projection",
     R"({"model_type": "headroom", "vocab_size": 11, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 4,
         "num_key_value_heads": 2, "head_dim": 4, "intermediate_size": 0, "max_position_embeddings": 32,
         "attention": {"kind": "diff_v1", "v1_form": "naive", "v1_norm": false}})",
     R"(embed_tokens.weight 11 8
        norm.weight 8
        ?lm_head.weight 11 8
        layers.#.input_layernorm.weight 8
        layers.#.self_attn.q_proj.weight 32 8
        layers.#.self_attn.k_proj.weight 16 8
        layers.#.self_attn.v_proj.weight 16 8
        !layers.#.self_attn.out_proj.weight 8 32
        layers.#.self_attn.lambda_q1 4
        layers.#.self_attn.lambda_k1 4
        layers.#.self_attn.lambda_q2 4
        layers.#.self_attn.lambda_k2 4)",
     R"(headroom: vocab 11, hidden 8, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | none; mlp none
        diff_v1: d 4 4, blocks q 8 k 4 v 4, scale 0.5, rope interleaved 4 theta 10000, lambda_init 0.200000
        q0 k0 v0.1 - q1 k0 v0.1, lambda layer, x 0.8
        q2 k1 v0.1 - q3 k1 v0.1, lambda layer, x 0.8
        q4 k2 v2.3 - q5 k2 v2.3, lambda layer, x 0.8
        q6 k3 v2.3 - q7 k3 v2.3, lambda layer, x 0.8)"},

    {"headroom: diff_v2", "{" HEADROOM_FOLDER_KEYS R"("intermediate_size": 12, "attention": {"kind": "diff_v2"}})",
     HEADROOM_LLAMA_FRAME R"(
        model.layers.#.self_attn.q_proj.weight 32 8
        model.layers.#.self_attn.k_proj.weight 8 8
        model.layers.#.self_attn.v_proj.weight 8 8
        model.layers.#.self_attn.o_proj.weight 8 16
        model.layers.#.self_attn.lambda_proj.weight 4 8)",
     R"(headroom: vocab 11, hidden 8, positions 32, heads 4, kv heads 2, final norm rms 1e-05
        L0 norms rms 1e-05 | rms 1e-05; mlp gated silu 12
        diff_v2: d 4 4, blocks q 8 k 2 v 2, scale 0.5, rope interleaved 4 theta 10000
        q0 k0 v0 - q1 k0 v0, lambda projection
        q2 k0 v0 - q3 k0 v0, lambda projection
        q4 k1 v1 - q5 k1 v1, lambda projection
        q6 k1 v1 - q7 k1 v1, lambda projection
        L1 likewise)"},
};

#undef HEADROOM_LLAMA_FRAME
#undef HEADROOM_FOLDER_KEYS
#undef HEADROOM_PLAIN_PROJECTIONS
#undef HEADROOM_V1_PROJECTIONS

}  // namespace headroom::test
