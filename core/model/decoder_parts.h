// Pieces that families share: sizes with their limits, weights by name, norms, MLPs, grouped heads.
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/config_reader.h"
#include "core/model/model_source.h"
#include "core/model/model_spec.h"

namespace headroom {

// The sizes of a decoder.
struct DecoderSizes {
  std::int64_t layers = 0, hidden = 0, inner = 0, heads = 0, kv_heads = 0, head_dim = 0, vocab = 0, max_positions = 0;
};
// The keys that hold them, llama's unless said otherwise, and what holds where one is missing (null is missing);
// core/model/ARCHITECTURES.md#llama.
struct SizeKeys {
  std::string_view layers = "num_hidden_layers", hidden = "hidden_size", inner = "intermediate_size";
  std::string_view heads = "num_attention_heads", max_positions = "max_position_embeddings";
  std::string_view kv_heads = "num_key_value_heads", head_dim = "head_dim";  // empty: there is no such key
  bool inner_needed = true;                                                  // false: 4 · hidden where it is missing
  std::int64_t default_head_dim = 0;                                         // 0: hidden / heads
  std::int64_t default_positions = 2048;
  std::int64_t inner_minimum = 1;  // 0: a model without MLP is allowed
};
// n_layer, n_embd, n_inner, n_head, n_positions.
[[nodiscard]] SizeKeys gpt_keys();
// Corrupt (field, expected, found) for sizes that cannot be: 0, negative, absurd, heads that do not divide.
[[nodiscard]] Result<DecoderSizes> read_sizes(ConfigReader& config, const SizeKeys& keys = {});

[[nodiscard]] WeightRef matrix(std::string name, std::int64_t out, std::int64_t in);
[[nodiscard]] WeightRef vector(std::string name, std::int64_t size);
// PREFIX.weight [out, in], and PREFIX.bias [out] if asked for.
[[nodiscard]] LinearSpec linear(const std::string& prefix, std::int64_t out, std::int64_t in, bool bias);
// Some of the rows of a fused projection, as WeightRef counts them.
struct RowRange {
  std::int64_t begin = 0, count = 0, group = 0, stride = 0;
};
[[nodiscard]] LinearSpec linear_rows(const std::string& prefix, std::int64_t all, std::int64_t in, RowRange rows,
                                     bool bias);
[[nodiscard]] NormSpec rms_norm(const std::string& name, std::int64_t size, double epsilon);
[[nodiscard]] NormSpec layer_norm(const std::string& prefix, std::int64_t size, double epsilon);
// gate_proj, up_proj, down_proj below PREFIX.
[[nodiscard]] MlpSpec gated_mlp(const std::string& prefix, std::int64_t hidden, std::int64_t inner,
                                Activation activation, bool bias);

[[nodiscard]] MlpSpec plain_mlp(const std::string& up, const std::string& down, std::int64_t hidden, std::int64_t inner,
                                Activation activation, bool bias);

// hidden_act and relatives: "silu", "gelu", "gelu_new", …; Unsupported for others.
[[nodiscard]] Result<Activation> read_activation(ConfigReader& config, std::string_view key, std::string_view fallback);

// Fills vocab_size, hidden_size, max_positions, num_heads, num_kv_heads.
void fill_sizes(ModelSpec& model, const DecoderSizes& sizes);

// clip_qkv, for every layer; null: nothing is cut.
[[nodiscard]] Result<void> read_clip(ConfigReader& config, ModelSpec& model);

// Every norm of the stream that a model has.
void change_norms(ModelSpec& model, const std::function<void(NormSpec&)>& change);

// One norm before both branches, which read the same h.
void share_norm(BlockSpec& block);

// Head i reads query block i, key and value block ⌊i / (heads / kv_heads)⌋.
[[nodiscard]] std::vector<HeadProgram> grouped_heads(std::int64_t heads, std::int64_t kv_heads);

// Softmax attention of these heads, all but its weights.
[[nodiscard]] AttentionSpec grouped_attention(const DecoderSizes& sizes, const RopeSpec& rope);

// Its q_proj, k_proj and v_proj below PREFIX, and `output` there, with biases or without.
void use_projections(AttentionSpec& attention, const std::string& prefix, const std::string& output,
                     std::int64_t hidden, bool bias, bool output_bias);

// λ_init = 0.8 − 0.6·exp(−0.3·depth), depth counted from 0 (DIFF V1, arXiv 2410.05258, section 2.1).
[[nodiscard]] double lambda_init(std::int64_t depth);

}  // namespace headroom
