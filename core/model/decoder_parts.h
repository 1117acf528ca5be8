// Pieces that families share: sizes with their limits, llama-names, rope settings, grouped heads.
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/config_reader.h"
#include "core/model/model_source.h"
#include "core/model/model_spec.h"

namespace headroom {

// The sizes of a decoder under their Hugging Face llama keys; missing ones by core/model/ARCHITECTURES.md#llama.
struct DecoderSizes {
  std::int64_t layers = 0, hidden = 0, inner = 0, heads = 0, kv_heads = 0, head_dim = 0, vocab = 0, max_positions = 0;
};
// Corrupt (field, expected, found) for sizes that cannot be: 0, negative, absurd, heads that do not divide.
// `inner_minimum` is 0 where a model without MLP is allowed.
[[nodiscard]] Result<DecoderSizes> read_sizes(ConfigReader& config, std::int64_t inner_minimum = 1);

[[nodiscard]] WeightRef matrix(std::string name, std::int64_t out, std::int64_t in);
[[nodiscard]] WeightRef vector(std::string name, std::int64_t size);
// PREFIX.weight [out, in], and PREFIX.bias [out] if asked for.
[[nodiscard]] LinearSpec linear(const std::string& prefix, std::int64_t out, std::int64_t in, bool bias);
[[nodiscard]] NormSpec rms_norm(const std::string& name, std::int64_t size, double epsilon);
[[nodiscard]] NormSpec layer_norm(const std::string& prefix, std::int64_t size, double epsilon);
// gate_proj, up_proj, down_proj below PREFIX.
[[nodiscard]] MlpSpec gated_mlp(const std::string& prefix, std::int64_t hidden, std::int64_t inner,
                                Activation activation, bool bias);

// hidden_act and relatives: "silu", "gelu", "gelu_new", …; Unsupported for others.
[[nodiscard]] Result<Activation> read_activation(ConfigReader& config, std::string_view key, std::string_view fallback);

// rope_theta and rope_scaling, or rope_parameters (transformers ≥ 5), for the first `rotary_dim` channels.
[[nodiscard]] Result<RopeSpec> read_rope(ConfigReader& config, RopeLayout layout, std::int64_t rotary_dim,
                                         std::int64_t max_positions);

// Head i reads query block i, key and value block ⌊i / (heads / kv_heads)⌋.
[[nodiscard]] std::vector<HeadProgram> grouped_heads(std::int64_t heads, std::int64_t kv_heads);

// λ_init = 0.8 − 0.6·exp(−0.3·depth), depth counted from 0 (DIFF V1, arXiv 2410.05258, section 2.1).
[[nodiscard]] double lambda_init(std::int64_t depth);

// What llama and its relatives say in config.json: RMSNorm, GQA, RoPE, SwiGLU.
struct LlamaConfig {
  DecoderSizes sizes;
  double epsilon = 0.0;
  bool attention_bias = false, mlp_bias = false;  // mlp_bias is left to families that have it
  Activation activation = Activation::Silu;
  RopeSpec rope;
};
[[nodiscard]] Result<LlamaConfig> read_llama_config(ConfigReader& config, double default_epsilon);

// A block with plain softmax attention; `base` is the prefix of its tensors. A relative changes what it does otherwise.
[[nodiscard]] BlockSpec llama_block(const LlamaConfig& llama, const std::string& base);

// "PREFIXlayers.LAYER."
[[nodiscard]] std::string layer_prefix(const std::string& prefix, std::int64_t layer);

// Embedding, final norm and lm_head under llama-names; tied where the config says so or the file has no lm_head.weight.
// Fills vocab_size, hidden_size, max_positions, bos_token_id.
[[nodiscard]] Result<void> read_llama_frame(const ModelSource& source, ConfigReader& config, const DecoderSizes& sizes,
                                            const std::string& prefix, double epsilon, ModelSpec& model);

// "model." or "" as the file's names have it.
[[nodiscard]] std::string llama_prefix(const ModelSource& source);

}  // namespace headroom
