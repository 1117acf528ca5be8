// Rows of the family table (family_rows.h): models of an encoder and a decoder, and logits by content and distance.
// Constants.
#pragma once

#include <vector>

#include "tests/core/model/family_rows.h"

namespace headroom::test {

inline const std::vector<FamilyRow> kEncoderDecoderRows = {
    {"bart: norms over the sums, a bias of the logits",
     R"({"model_type": "bart", "vocab_size": 11, "d_model": 8, "encoder_layers": 2, "decoder_layers": 2, "num_hidden_layers": 2,
          "encoder_ffn_dim": 12, "decoder_ffn_dim": 10, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
          "max_position_embeddings": 32, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "is_encoder_decoder": true,
          "decoder_start_token_id": 2, "forced_eos_token_id": 2, "activation_function": "gelu", "scale_embedding": false,
          "normalize_before": false, "add_final_layer_norm": false, "dropout": 0.1, "init_std": 0.02,
          "classifier_dropout": 0.0, "encoder_layerdrop": 0.0})",
     R"(model.shared.weight 11 8
        model.encoder.embed_positions.weight 34 8
        model.encoder.layernorm_embedding.weight 8
        model.encoder.layernorm_embedding.bias 8
        model.encoder.layers.#.self_attn.q_proj.weight 8 8
        model.encoder.layers.#.self_attn.q_proj.bias 8
        model.encoder.layers.#.self_attn.k_proj.weight 8 8
        model.encoder.layers.#.self_attn.k_proj.bias 8
        model.encoder.layers.#.self_attn.v_proj.weight 8 8
        model.encoder.layers.#.self_attn.v_proj.bias 8
        model.encoder.layers.#.self_attn.out_proj.weight 8 8
        model.encoder.layers.#.self_attn.out_proj.bias 8
        model.encoder.layers.#.self_attn_layer_norm.weight 8
        model.encoder.layers.#.self_attn_layer_norm.bias 8
        model.encoder.layers.#.fc1.weight 12 8
        model.encoder.layers.#.fc1.bias 12
        model.encoder.layers.#.fc2.weight 8 12
        model.encoder.layers.#.fc2.bias 8
        model.encoder.layers.#.final_layer_norm.weight 8
        model.encoder.layers.#.final_layer_norm.bias 8
        model.decoder.embed_positions.weight 34 8
        model.decoder.layernorm_embedding.weight 8
        model.decoder.layernorm_embedding.bias 8
        model.decoder.layers.#.self_attn.q_proj.weight 8 8
        model.decoder.layers.#.self_attn.q_proj.bias 8
        model.decoder.layers.#.self_attn.k_proj.weight 8 8
        model.decoder.layers.#.self_attn.k_proj.bias 8
        model.decoder.layers.#.self_attn.v_proj.weight 8 8
        model.decoder.layers.#.self_attn.v_proj.bias 8
        model.decoder.layers.#.self_attn.out_proj.weight 8 8
        model.decoder.layers.#.self_attn.out_proj.bias 8
        model.decoder.layers.#.self_attn_layer_norm.weight 8
        model.decoder.layers.#.self_attn_layer_norm.bias 8
        model.decoder.layers.#.encoder_attn.q_proj.weight 8 8
        model.decoder.layers.#.encoder_attn.q_proj.bias 8
        model.decoder.layers.#.encoder_attn.k_proj.weight 8 8
        model.decoder.layers.#.encoder_attn.k_proj.bias 8
        model.decoder.layers.#.encoder_attn.v_proj.weight 8 8
        model.decoder.layers.#.encoder_attn.v_proj.bias 8
        model.decoder.layers.#.encoder_attn.out_proj.weight 8 8
        model.decoder.layers.#.encoder_attn.out_proj.bias 8
        model.decoder.layers.#.encoder_attn_layer_norm.weight 8
        model.decoder.layers.#.encoder_attn_layer_norm.bias 8
        model.decoder.layers.#.fc1.weight 10 8
        model.decoder.layers.#.fc1.bias 10
        model.decoder.layers.#.fc2.weight 8 10
        model.decoder.layers.#.fc2.bias 8
        model.decoder.layers.#.final_layer_norm.weight 8
        model.decoder.layers.#.final_layer_norm.bias 8
        ?final_logits_bias 1 11)",
     R"(bart: vocab 11, hidden 8, positions 32, heads 2, kv heads 2, tied, learned positions, embedding norm layer 1e-05 with bias, biased logits, final norm none
        encoder of 2 blocks, learned positions, embedding norm layer 1e-05 with bias, final norm none, begins with 2
        L0 norms none | none, of the sum layer 1e-05 with bias | layer 1e-05 with bias; mlp plain gelu 12 with bias
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none, bias qkvo, not causal
        q0 k0 v0
        q1 k1 v1
        L1 likewise
        L2 norms none | none, of the sum layer 1e-05 with bias | none; mlp none
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none, bias qkvo
        q0 k0 v0
        q1 k1 v1
        L3 norms none | none, of the sum layer 1e-05 with bias | layer 1e-05 with bias; mlp plain gelu 10 with bias
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none, bias qkvo, cross
        q0 k0 v0
        q1 k1 v1
        L4 norms none | none, of the sum layer 1e-05 with bias | none; mlp none
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none, bias qkvo
        q0 k0 v0
        q1 k1 v1
        L5 norms none | none, of the sum layer 1e-05 with bias | layer 1e-05 with bias; mlp plain gelu 10 with bias
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none, bias qkvo, cross
        q0 k0 v0
        q1 k1 v1)"},

    {"mbart: norms before the branches, scaled embeddings, names of the bare model",
     R"({"model_type": "mbart", "vocab_size": 11, "d_model": 8, "encoder_layers": 2, "decoder_layers": 2, "num_hidden_layers": 2,
          "encoder_ffn_dim": 12, "decoder_ffn_dim": 10, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
          "max_position_embeddings": 32, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "is_encoder_decoder": true,
          "activation_function": "relu", "scale_embedding": true, "normalize_before": true, "add_final_layer_norm": true,
          "static_position_embeddings": false, "extra_pos_embeddings": 2})",
     R"(shared.weight 11 8
        encoder.embed_positions.weight 34 8
        encoder.layernorm_embedding.weight 8
        encoder.layernorm_embedding.bias 8
        encoder.layer_norm.weight 8
        encoder.layer_norm.bias 8
        encoder.layers.#.self_attn.q_proj.weight 8 8
        encoder.layers.#.self_attn.q_proj.bias 8
        encoder.layers.#.self_attn.k_proj.weight 8 8
        encoder.layers.#.self_attn.k_proj.bias 8
        encoder.layers.#.self_attn.v_proj.weight 8 8
        encoder.layers.#.self_attn.v_proj.bias 8
        encoder.layers.#.self_attn.out_proj.weight 8 8
        encoder.layers.#.self_attn.out_proj.bias 8
        encoder.layers.#.self_attn_layer_norm.weight 8
        encoder.layers.#.self_attn_layer_norm.bias 8
        encoder.layers.#.fc1.weight 12 8
        encoder.layers.#.fc1.bias 12
        encoder.layers.#.fc2.weight 8 12
        encoder.layers.#.fc2.bias 8
        encoder.layers.#.final_layer_norm.weight 8
        encoder.layers.#.final_layer_norm.bias 8
        decoder.embed_positions.weight 34 8
        decoder.layernorm_embedding.weight 8
        decoder.layernorm_embedding.bias 8
        decoder.layer_norm.weight 8
        decoder.layer_norm.bias 8
        decoder.layers.#.self_attn.q_proj.weight 8 8
        decoder.layers.#.self_attn.q_proj.bias 8
        decoder.layers.#.self_attn.k_proj.weight 8 8
        decoder.layers.#.self_attn.k_proj.bias 8
        decoder.layers.#.self_attn.v_proj.weight 8 8
        decoder.layers.#.self_attn.v_proj.bias 8
        decoder.layers.#.self_attn.out_proj.weight 8 8
        decoder.layers.#.self_attn.out_proj.bias 8
        decoder.layers.#.self_attn_layer_norm.weight 8
        decoder.layers.#.self_attn_layer_norm.bias 8
        decoder.layers.#.encoder_attn.q_proj.weight 8 8
        decoder.layers.#.encoder_attn.q_proj.bias 8
        decoder.layers.#.encoder_attn.k_proj.weight 8 8
        decoder.layers.#.encoder_attn.k_proj.bias 8
        decoder.layers.#.encoder_attn.v_proj.weight 8 8
        decoder.layers.#.encoder_attn.v_proj.bias 8
        decoder.layers.#.encoder_attn.out_proj.weight 8 8
        decoder.layers.#.encoder_attn.out_proj.bias 8
        decoder.layers.#.encoder_attn_layer_norm.weight 8
        decoder.layers.#.encoder_attn_layer_norm.bias 8
        decoder.layers.#.fc1.weight 10 8
        decoder.layers.#.fc1.bias 10
        decoder.layers.#.fc2.weight 8 10
        decoder.layers.#.fc2.bias 8
        decoder.layers.#.final_layer_norm.weight 8
        decoder.layers.#.final_layer_norm.bias 8)",
     R"(mbart: vocab 11, hidden 8, positions 32, heads 2, kv heads 2, tied, learned positions, embedding norm layer 1e-05 with bias, embedding x 2.82843, final norm layer 1e-05 with bias
        encoder of 2 blocks, learned positions, embedding norm layer 1e-05 with bias, final norm layer 1e-05 with bias
        L0 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain relu 12 with bias
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none, bias qkvo, not causal
        q0 k0 v0
        q1 k1 v1
        L1 likewise
        L2 norms layer 1e-05 with bias | none; mlp none
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none, bias qkvo
        q0 k0 v0
        q1 k1 v1
        L3 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain relu 10 with bias
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none, bias qkvo, cross
        q0 k0 v0
        q1 k1 v1
        L4 norms layer 1e-05 with bias | none; mlp none
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none, bias qkvo
        q0 k0 v0
        q1 k1 v1
        L5 norms layer 1e-05 with bias | layer 1e-05 with bias; mlp plain relu 10 with bias
        softmax: d 4 4, blocks q 2 k 2 v 2, scale 0.5, rope none, bias qkvo, cross
        q0 k0 v0
        q1 k1 v1)"},

    {"t5: plain MLP, scaled logits",
     R"({"model_type": "t5", "vocab_size": 11, "d_model": 8, "d_kv": 3, "d_ff": 12, "num_layers": 2, "num_heads": 2,
          "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20, "dropout_rate": 0.1,
          "layer_norm_epsilon": 1e-06, "initializer_factor": 1.0, "feed_forward_proj": "relu", "n_positions": 512,
          "is_encoder_decoder": true, "output_past": true, "pad_token_id": 0, "eos_token_id": 1,
          "decoder_start_token_id": 0})",
     R"(shared.weight 11 8
        encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight 8 2
        encoder.block.#.layer.0.SelfAttention.q.weight 6 8
        encoder.block.#.layer.0.SelfAttention.k.weight 6 8
        encoder.block.#.layer.0.SelfAttention.v.weight 6 8
        encoder.block.#.layer.0.SelfAttention.o.weight 8 6
        encoder.block.#.layer.0.layer_norm.weight 8
        encoder.block.#.layer.1.DenseReluDense.wi.weight 12 8
        encoder.block.#.layer.1.DenseReluDense.wo.weight 8 12
        encoder.block.#.layer.1.layer_norm.weight 8
        encoder.final_layer_norm.weight 8
        decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight 8 2
        decoder.block.#.layer.0.SelfAttention.q.weight 6 8
        decoder.block.#.layer.0.SelfAttention.k.weight 6 8
        decoder.block.#.layer.0.SelfAttention.v.weight 6 8
        decoder.block.#.layer.0.SelfAttention.o.weight 8 6
        decoder.block.#.layer.0.layer_norm.weight 8
        decoder.block.#.layer.1.EncDecAttention.q.weight 6 8
        decoder.block.#.layer.1.EncDecAttention.k.weight 6 8
        decoder.block.#.layer.1.EncDecAttention.v.weight 6 8
        decoder.block.#.layer.1.EncDecAttention.o.weight 8 6
        decoder.block.#.layer.1.layer_norm.weight 8
        decoder.block.#.layer.2.DenseReluDense.wi.weight 12 8
        decoder.block.#.layer.2.DenseReluDense.wo.weight 8 12
        decoder.block.#.layer.2.layer_norm.weight 8
        decoder.final_layer_norm.weight 8)",
     R"(t5: vocab 11, hidden 8, positions 0, heads 2, kv heads 2, tied, logits x 0.353553, final norm rms 1e-06
        encoder of 2 blocks, final norm rms 1e-06, begins with 0
        L0 norms rms 1e-06 | rms 1e-06; mlp plain relu 12
        softmax: d 3 3, blocks q 2 k 2 v 2, scale 1, rope none, not causal, learned bias of 8 buckets both ways to 20
        q0 k0 v0
        q1 k1 v1
        L1 likewise
        L2 norms rms 1e-06 | none; mlp none
        softmax: d 3 3, blocks q 2 k 2 v 2, scale 1, rope none, learned bias of 8 buckets to 20
        q0 k0 v0
        q1 k1 v1
        L3 norms rms 1e-06 | rms 1e-06; mlp plain relu 12
        softmax: d 3 3, blocks q 2 k 2 v 2, scale 1, rope none, cross
        q0 k0 v0
        q1 k1 v1
        L4 norms rms 1e-06 | none; mlp none
        softmax: d 3 3, blocks q 2 k 2 v 2, scale 1, rope none, learned bias of 8 buckets to 20
        q0 k0 v0
        q1 k1 v1
        L5 norms rms 1e-06 | rms 1e-06; mlp plain relu 12
        softmax: d 3 3, blocks q 2 k 2 v 2, scale 1, rope none, cross
        q0 k0 v0
        q1 k1 v1)"},

    {"mt5: gated MLP, lm_head, the start is padding",
     R"({"model_type": "mt5", "vocab_size": 11, "d_model": 8, "d_kv": 3, "d_ff": 12, "num_layers": 2,
          "num_decoder_layers": 2, "num_heads": 2, "relative_attention_num_buckets": 8,
          "relative_attention_max_distance": 20, "layer_norm_epsilon": 1e-06, "feed_forward_proj": "gated-gelu",
          "tie_word_embeddings": false, "dense_act_fn": "gelu_new", "is_gated_act": true, "pad_token_id": 3})",
     R"(shared.weight 11 8
        ?lm_head.weight 11 8
        encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight 8 2
        encoder.block.#.layer.0.SelfAttention.q.weight 6 8
        encoder.block.#.layer.0.SelfAttention.k.weight 6 8
        encoder.block.#.layer.0.SelfAttention.v.weight 6 8
        encoder.block.#.layer.0.SelfAttention.o.weight 8 6
        encoder.block.#.layer.0.layer_norm.weight 8
        encoder.block.#.layer.1.DenseReluDense.wi_0.weight 12 8
        encoder.block.#.layer.1.DenseReluDense.wi_1.weight 12 8
        encoder.block.#.layer.1.DenseReluDense.wo.weight 8 12
        encoder.block.#.layer.1.layer_norm.weight 8
        encoder.final_layer_norm.weight 8
        decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight 8 2
        decoder.block.#.layer.0.SelfAttention.q.weight 6 8
        decoder.block.#.layer.0.SelfAttention.k.weight 6 8
        decoder.block.#.layer.0.SelfAttention.v.weight 6 8
        decoder.block.#.layer.0.SelfAttention.o.weight 8 6
        decoder.block.#.layer.0.layer_norm.weight 8
        decoder.block.#.layer.1.EncDecAttention.q.weight 6 8
        decoder.block.#.layer.1.EncDecAttention.k.weight 6 8
        decoder.block.#.layer.1.EncDecAttention.v.weight 6 8
        decoder.block.#.layer.1.EncDecAttention.o.weight 8 6
        decoder.block.#.layer.1.layer_norm.weight 8
        decoder.block.#.layer.2.DenseReluDense.wi_0.weight 12 8
        decoder.block.#.layer.2.DenseReluDense.wi_1.weight 12 8
        decoder.block.#.layer.2.DenseReluDense.wo.weight 8 12
        decoder.block.#.layer.2.layer_norm.weight 8
        decoder.final_layer_norm.weight 8)",
     R"(mt5: vocab 11, hidden 8, positions 0, heads 2, kv heads 2, final norm rms 1e-06
        encoder of 2 blocks, final norm rms 1e-06, begins with 3
        L0 norms rms 1e-06 | rms 1e-06; mlp gated gelu_tanh 12
        softmax: d 3 3, blocks q 2 k 2 v 2, scale 1, rope none, not causal, learned bias of 8 buckets both ways to 20
        q0 k0 v0
        q1 k1 v1
        L1 likewise
        L2 norms rms 1e-06 | none; mlp none
        softmax: d 3 3, blocks q 2 k 2 v 2, scale 1, rope none, learned bias of 8 buckets to 20
        q0 k0 v0
        q1 k1 v1
        L3 norms rms 1e-06 | rms 1e-06; mlp gated gelu_tanh 12
        softmax: d 3 3, blocks q 2 k 2 v 2, scale 1, rope none, cross
        q0 k0 v0
        q1 k1 v1
        L4 norms rms 1e-06 | none; mlp none
        softmax: d 3 3, blocks q 2 k 2 v 2, scale 1, rope none, learned bias of 8 buckets to 20
        q0 k0 v0
        q1 k1 v1
        L5 norms rms 1e-06 | rms 1e-06; mlp gated gelu_tanh 12
        softmax: d 3 3, blocks q 2 k 2 v 2, scale 1, rope none, cross
        q0 k0 v0
        q1 k1 v1)"},

    {"deberta-v2: both terms, buckets, a norm of the table",
     R"({"model_type": "deberta-v2", "vocab_size": 11, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 12, "hidden_act": "gelu", "max_position_embeddings": 32, "type_vocab_size": 0,
          "relative_attention": true, "position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": false,
          "pos_att_type": "p2c|c2p", "layer_norm_eps": 1e-07, "max_relative_positions": -1, "position_biased_input": false,
          "pooler_dropout": 0, "pooler_hidden_act": "gelu", "pooler_hidden_size": 16, "pad_token_id": 0})",
     R"(deberta.embeddings.word_embeddings.weight 11 16
        deberta.embeddings.LayerNorm.weight 16
        deberta.embeddings.LayerNorm.bias 16
        deberta.encoder.rel_embeddings.weight 16 16
        deberta.encoder.LayerNorm.weight 16
        deberta.encoder.LayerNorm.bias 16
        deberta.encoder.layer.#.attention.self.query_proj.weight 16 16
        deberta.encoder.layer.#.attention.self.query_proj.bias 16
        deberta.encoder.layer.#.attention.self.key_proj.weight 16 16
        deberta.encoder.layer.#.attention.self.key_proj.bias 16
        deberta.encoder.layer.#.attention.self.value_proj.weight 16 16
        deberta.encoder.layer.#.attention.self.value_proj.bias 16
        deberta.encoder.layer.#.attention.self.pos_key_proj.weight 16 16
        deberta.encoder.layer.#.attention.self.pos_key_proj.bias 16
        deberta.encoder.layer.#.attention.self.pos_query_proj.weight 16 16
        deberta.encoder.layer.#.attention.self.pos_query_proj.bias 16
        deberta.encoder.layer.#.attention.output.dense.weight 16 16
        deberta.encoder.layer.#.attention.output.dense.bias 16
        deberta.encoder.layer.#.intermediate.dense.weight 12 16
        deberta.encoder.layer.#.intermediate.dense.bias 12
        deberta.encoder.layer.#.output.dense.weight 16 12
        deberta.encoder.layer.#.output.dense.bias 16
        deberta.encoder.layer.#.attention.output.LayerNorm.weight 16
        deberta.encoder.layer.#.attention.output.LayerNorm.bias 16
        deberta.encoder.layer.#.output.LayerNorm.weight 16
        deberta.encoder.layer.#.output.LayerNorm.bias 16
        ?cls.predictions.transform.dense.weight 16 16
        cls.predictions.transform.dense.bias 16
        cls.predictions.transform.LayerNorm.weight 16
        cls.predictions.transform.LayerNorm.bias 16
        cls.predictions.bias 11)",
     R"(deberta-v2: vocab 11, hidden 16, positions 32, heads 4, kv heads 4, tied, embedding norm layer 1e-07 with bias, head gelu layer 1e-07 with bias, biased logits, final norm none
        L0 norms none | none, of the sum layer 1e-07 with bias | layer 1e-07 with bias; mlp plain gelu 12 with bias
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 0.288675, rope none, bias qkvo, not causal, span 8, buckets 8 to 32 layer 1e-07 with bias, by deberta.encoder.layer.0.attention.self.pos_key_proj.weight, by deberta.encoder.layer.0.attention.self.pos_query_proj.weight
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3
        L1 norms none | none, of the sum layer 1e-07 with bias | layer 1e-07 with bias; mlp plain gelu 12 with bias
        softmax: d 4 4, blocks q 4 k 4 v 4, scale 0.288675, rope none, bias qkvo, not causal, span 8, buckets 8 to 32 layer 1e-07 with bias, by deberta.encoder.layer.1.attention.self.pos_key_proj.weight, by deberta.encoder.layer.1.attention.self.pos_query_proj.weight
        q0 k0 v0
        q1 k1 v1
        q2 k2 v2
        q3 k3 v3)"},

};

}  // namespace headroom::test
