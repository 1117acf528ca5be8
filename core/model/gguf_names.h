// What GGUF calls a family: its architecture, its tensors and its metadata, and what llama.cpp's converter does to them
// on the way. Tables that a family's row points at; core/model/gguf_model.h runs them
// (core/model/ARCHITECTURES.md#gguf). Source: llama.cpp's conversion/*.py (what is written) and src/models/*.cpp (what
// holds where nothing is). Immutable; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "core/base/result.h"

namespace headroom {

struct GgufMetadata;  // core/model/gguf_config.h

// How the rows of a tensor stand in the file, or which of them are meant.
enum class GgufRows {
  AsStored,
  QueryPairs,     // interleaved in each query head: new[2i] = old[i], new[2i + 1] = old[i + d/2]
  KeyPairs,       // in each key head
  PartsOfGroups,  // all of q, then k, then v; Hugging Face has those of one key head, then of the next
  Queries,        // the first H·d rows of a fused matrix
  Keys,           // the h_kv·d rows behind them
  Values,         // and the h_kv·d rows behind those
  OneRow,         // [in] for a matrix of one row
  Kernels,        // [channels, width] for [channels, 1, width]
  RowsOfHeads,    // [H, out, in] for [H·out, in]
  TurnedHeads,    // [H, in, out] for [H·out, in]
};

// Both names stand without their last part (".weight", ".bias"), which is kept, or with it. '#' is the layer. '*' in
// the Hugging Face name is the expert: each matrix of the stacked tensor gets a name. Empty: no one reads it.
struct GgufTensor {
  std::string_view gguf, hugging_face;
  GgufRows rows = GgufRows::AsStored;
};

// A metadata key behind "ARCHITECTURE." and the key of config.json; empty: no one reads it.
struct GgufKey {
  std::string_view gguf, config;
  bool needed = false;
};

// A boolean that GGUF tells by a tensor being there, or not, of the first layer or outside of the layers; of several
// for one key, any.
struct GgufFlag {
  std::string_view tensor;  // "attn_q.bias", "output.bias"
  std::string_view config;
  bool when_there = true;
};

// What llama.cpp has in its code and not in the file: holds where the file says nothing.
struct GgufConstant {
  std::string_view config, json;
};

// One table of two.
template <typename Entry, std::size_t N, std::size_t M>
constexpr std::array<Entry, N + M> gguf_joined(const std::array<Entry, N>& first, const std::array<Entry, M>& second) {
  std::array<Entry, N + M> all{};
  for (std::size_t i = 0; i < N; ++i) all[i] = first[i];
  for (std::size_t i = 0; i < M; ++i) all[N + i] = second[i];
  return all;
}

// clang-format off
inline constexpr std::array kGgufLlamaTensors = std::to_array<GgufTensor>({
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
    {"blk.#.attn_norm", "model.layers.#.input_layernorm"},
    {"blk.#.attn_q", "model.layers.#.self_attn.q_proj"},
    {"blk.#.attn_k", "model.layers.#.self_attn.k_proj"},
    {"blk.#.attn_v", "model.layers.#.self_attn.v_proj"},
    {"blk.#.attn_q_norm", "model.layers.#.self_attn.q_norm"},
    {"blk.#.attn_k_norm", "model.layers.#.self_attn.k_norm"},
    {"blk.#.attn_output", "model.layers.#.self_attn.o_proj"},
    {"blk.#.post_attention_norm", "model.layers.#.post_attention_layernorm"},
    {"blk.#.ffn_norm", "model.layers.#.post_attention_layernorm"},
    {"blk.#.ffn_gate", "model.layers.#.mlp.gate_proj"},
    {"blk.#.ffn_up", "model.layers.#.mlp.up_proj"},
    {"blk.#.ffn_down", "model.layers.#.mlp.down_proj"},
    {"blk.#.post_ffw_norm", "model.layers.#.post_feedforward_layernorm"},
});
inline constexpr std::array kGgufLlamaKeys = std::to_array<GgufKey>({
    {"block_count", "num_hidden_layers", true},
    {"embedding_length", "hidden_size", true},
    {"feed_forward_length", "intermediate_size", true},
    {"attention.head_count", "num_attention_heads", true},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},  // absent: embedding_length / head_count
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", true},
    {"context_length", "max_position_embeddings", true},
    {"rope.freq_base", "rope_theta"},
});
inline constexpr std::array kGgufLlamaFlags = std::to_array<GgufFlag>({
    {"attn_q.bias", "attention_bias"},
    {"ffn_up.bias", "mlp_bias"},
});

inline constexpr std::array kGgufGptTensors = std::to_array<GgufTensor>({
    {"token_embd", "transformer.wte"},
    {"position_embd", "transformer.wpe"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"},
    {"blk.#.attn_norm", "transformer.h.#.ln_1"},
    {"blk.#.attn_qkv", "transformer.h.#.attn.c_attn"},
    {"blk.#.attn_output", "transformer.h.#.attn.c_proj"},
    {"blk.#.ffn_norm", "transformer.h.#.ln_2"},
    {"blk.#.ffn_up", "transformer.h.#.mlp.c_fc"},
    {"blk.#.ffn_down", "transformer.h.#.mlp.c_proj"},
});
inline constexpr std::array kGgufGptKeys = std::to_array<GgufKey>({
    {"block_count", "n_layer", true},
    {"embedding_length", "n_embd", true},
    {"feed_forward_length", "n_inner", true},
    {"attention.head_count", "n_head", true},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon", true},
    {"context_length", "n_positions", true},
    {"attention.head_count_kv", ""},
});

// Families that llama.cpp rotates in adjacent pairs, in place of halves.
inline constexpr std::array kGgufPairs = std::to_array<GgufTensor>({
    {"blk.#.attn_q", "model.layers.#.self_attn.q_proj", GgufRows::QueryPairs},
    {"blk.#.attn_k", "model.layers.#.self_attn.k_proj", GgufRows::KeyPairs},
});
// Stacked experts, in the MLP's place; shared ones as DeepSeek has them.
inline constexpr std::array kGgufRoutedExperts = std::to_array<GgufTensor>({
    {"blk.#.ffn_gate_inp", "model.layers.#.mlp.gate"},
    {"blk.#.ffn_gate_exps", "model.layers.#.mlp.experts.*.gate_proj"},
    {"blk.#.ffn_up_exps", "model.layers.#.mlp.experts.*.up_proj"},
    {"blk.#.ffn_down_exps", "model.layers.#.mlp.experts.*.down_proj"},
});
inline constexpr std::array kGgufExperts = gguf_joined(kGgufRoutedExperts, std::to_array<GgufTensor>({
    {"blk.#.exp_probs_b.bias", "model.layers.#.mlp.gate.e_score_correction_bias"},
    {"blk.#.ffn_gate_shexp", "model.layers.#.mlp.shared_experts.gate_proj"},
    {"blk.#.ffn_up_shexp", "model.layers.#.mlp.shared_experts.up_proj"},
    {"blk.#.ffn_down_shexp", "model.layers.#.mlp.shared_experts.down_proj"},
}));
// Mixtral's names of them.
inline constexpr std::array kGgufSparseExperts = std::to_array<GgufTensor>({
    {"blk.#.ffn_gate_inp", "model.layers.#.block_sparse_moe.gate"},
    {"blk.#.ffn_gate_exps", "model.layers.#.block_sparse_moe.experts.*.w1"},
    {"blk.#.ffn_up_exps", "model.layers.#.block_sparse_moe.experts.*.w3"},
    {"blk.#.ffn_down_exps", "model.layers.#.block_sparse_moe.experts.*.w2"},
});
inline constexpr std::array kGgufNumExperts = std::to_array<GgufKey>({
    {"expert_count", "num_experts", true},
});

// Latent attention. attn_kv_b is whole in old files and of MiniCPM 3, and by keys and values in newer ones.
inline constexpr std::array kGgufLatentTensors = std::to_array<GgufTensor>({
    {"blk.#.attn_q_a", "model.layers.#.self_attn.q_a_proj"},
    {"blk.#.attn_q_a_norm", "model.layers.#.self_attn.q_a_layernorm"},
    {"blk.#.attn_q_b", "model.layers.#.self_attn.q_b_proj"},
    {"blk.#.attn_kv_a_mqa", "model.layers.#.self_attn.kv_a_proj_with_mqa"},
    {"blk.#.attn_kv_a_norm", "model.layers.#.self_attn.kv_a_layernorm"},
    {"blk.#.attn_kv_b", "model.layers.#.self_attn.kv_b_proj"},
    {"blk.#.attn_k_b", "model.layers.#.self_attn.k_b_proj", GgufRows::TurnedHeads},
    {"blk.#.attn_v_b", "model.layers.#.self_attn.v_b_proj", GgufRows::RowsOfHeads},
});
// Every head has keys of its own, whatever the file says of the latent's.
inline constexpr std::array kGgufLatentKeys = std::to_array<GgufKey>({
    {"attention.head_count_kv", ""},
    {"attention.key_length", ""},
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.kv_lora_rank", "kv_lora_rank", true},
});
inline constexpr std::array kGgufLatentFlags = std::to_array<GgufFlag>({
    {"attn_kv_a_mqa.bias", "attention_bias"},
    {"ffn_up.bias", "mlp_bias"},
});
inline constexpr std::array kGgufDeepseekTensors = gguf_joined(kGgufLatentTensors, kGgufExperts);
inline constexpr std::array kGgufDeepseekKeys = gguf_joined(kGgufLatentKeys, std::to_array<GgufKey>({
    {"expert_count", "n_routed_experts", true},
    {"expert_gating_func", ""},  // tells the two families apart
}));
inline constexpr std::array kGgufWholeQueries = std::to_array<GgufConstant>({
    {"q_lora_rank", "null"},
});

// Families with LayerNorm under layer_norm_eps.
inline constexpr std::array kGgufLayerNormKeys = std::to_array<GgufKey>({
    {"attention.layer_norm_rms_epsilon", ""},
    {"attention.layer_norm_epsilon", "layer_norm_eps", true},
});
// Encoders, whose heads share the width evenly.
inline constexpr std::array kGgufEncoderKeys = std::to_array<GgufKey>({
    {"attention.key_length", ""},
    {"attention.head_count_kv", ""},
});
// clang-format on

struct GgufNames {
  std::array<std::string_view, 2> architectures;  // of general.architecture
  std::string_view only_with = {};                // a key that is there and not 0, where families share an architecture
  std::int64_t only_value = 0;                    // its value; 0: any

  // A family's own entries come before the common ones of the same GGUF name.
  std::span<const GgufTensor> tensors = {}, common_tensors = kGgufLlamaTensors;
  std::span<const GgufKey> keys = {}, common_keys = kGgufLlamaKeys;
  std::span<const GgufFlag> flags = kGgufLlamaFlags;
  std::span<const GgufConstant> constants = {};

  std::string_view rotary_key = {};  // of the share of channels that rotate; empty: all do
  bool latent = false;               // a part of each key rotates, of a size of its own
  bool ropes_by_kind = false;        // layers with a window rotate otherwise
  double sliding_theta = 0.0;        // theirs without rope.freq_base_swa; 0: that of the others
  double norm_offset = 0.0;          // what the converter adds to weights of norms

  // What no table says: changes the config that the tables have made.
  Result<void> (*finish)(const GgufMetadata& metadata, nlohmann::json& config) = nullptr;
  std::string_view warning = {};  // what GGUF does not tell and this family assumes
};

}  // namespace headroom
