// Llama and its relatives: one block of GQA and gated MLP under the same names, of which a family says what it has
// otherwise. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/config_reader.h"
#include "core/model/decoder_parts.h"
#include "core/model/model_source.h"
#include "core/model/model_spec.h"
#include "core/model/rope_config.h"

namespace headroom {

// What holds where a config says nothing, and the keys that differ.
struct LlamaDefaults {
  std::string_view epsilon_key = "rms_norm_eps";
  double epsilon = 1e-6;
  std::string_view activation_key = "hidden_act";
  std::string_view activation = "silu";
  std::string_view bias_key = "attention_bias";  // of q, k, v and o; empty: none has one
  bool bias = false;
  bool tied = false;
  std::int64_t head_dim = 0;  // 0: hidden_size / num_attention_heads
  RopeDefaults rope = {};
  bool rotates = true;  // false: left to the family
  // The object of config.json that describes the decoder of a model with more parts, as text_config; empty: all of it.
  std::string_view part = {};
};

struct LlamaConfig {
  DecoderSizes sizes;
  std::string prefix;  // of the tensors: "model." or ""
  double epsilon = 0.0;
  bool attention_bias = false, mlp_bias = false;  // mlp_bias is left to families that have it
  Activation activation = Activation::Silu;
  RopeSpec rope;

  // "model.layers.LAYER."
  [[nodiscard]] std::string layer(std::int64_t layer) const;
};
[[nodiscard]] Result<LlamaConfig> read_llama_config(const ModelSource& source, ConfigReader& config,
                                                    const LlamaDefaults& defaults);

// A block with RMSNorm before each branch and plain softmax attention; `base` is the prefix of its tensors.
[[nodiscard]] BlockSpec llama_block(const LlamaConfig& llama, const std::string& base);

// "PREFIXlayers.LAYER."
[[nodiscard]] std::string layer_prefix(const std::string& prefix, std::int64_t layer);

// Embedding, final norm and lm_head under llama-names (an empty `lm_head`: "lm_head.weight", or that below
// "language_model."); tied where the config says so or the file has no lm_head.weight.
// Fills the sizes and bos_token_id.
[[nodiscard]] Result<void> read_llama_frame(const ModelSource& source, ConfigReader& config, const DecoderSizes& sizes,
                                            const std::string& prefix, double epsilon, ModelSpec& model,
                                            bool tied = false, std::string_view lm_head = {});

// "model." or "" as the file's names have it, or with "language_model." behind or before them.
[[nodiscard]] std::string llama_prefix(const ModelSource& source);

// A whole llama with mlp_bias false, then what `change` makes of it; keys that neither has read are refused or told.
using LlamaChange = std::function<Result<void>(ConfigReader& config, const LlamaConfig& llama, ModelSpec& model)>;
[[nodiscard]] Result<ModelSpec> translate_llama_relative(const ModelSource& source, const LlamaDefaults& defaults,
                                                         const LlamaChange& change);

// The norms of the stream as LayerNorm, NAME.weight and, with `bias`, NAME.bias.
void use_layer_norms(ModelSpec& model, bool bias = true);
// Norms of what the branches give, under these names, and none before them.
void move_norms_behind(BlockSpec& block, const std::string& base, std::int64_t hidden, double epsilon);

// NAME.bias beside NAME.weight.
void add_bias(LinearSpec& linear);
void add_mlp_bias(ModelSpec& model);
// q, then k, then v in the rows of one matrix, which has a bias where they had one; gate, then up.
void fuse_qkv(BlockSpec& block, const std::string& name, const DecoderSizes& sizes);
void fuse_gate_and_up(BlockSpec& block, const std::string& name, const DecoderSizes& sizes);
// self_attn.q_norm and k_norm below `base`: of each head, or of all at once.
void add_qk_norm(BlockSpec& block, const std::string& base, QkNormScope scope, double epsilon);

// sliding_window; 0 where it is null. A config without the key has `fallback`.
[[nodiscard]] Result<std::int64_t> read_window(ConfigReader& config, std::int64_t fallback);
// Whether each layer has the window: layer_types, or what `slides` says of it.
[[nodiscard]] Result<std::vector<bool>> read_sliding_layers(ConfigReader& config, std::int64_t layers,
                                                            const std::function<bool(std::int64_t)>& slides);
// Whether each layer rotates: no_rope_layers, 0 for one that does not, or all but each `no_rope_layer_interval`-th (4).
[[nodiscard]] Result<std::vector<bool>> read_rotating_layers(ConfigReader& config, std::int64_t layers);
// The same where the other kind than full_attention is called `name`.
[[nodiscard]] Result<std::vector<bool>> read_layers_of_kind(ConfigReader& config, std::int64_t layers,
                                                            std::string_view name,
                                                            const std::function<bool(std::int64_t)>& otherwise);
// All layers but each `pattern`-th.
[[nodiscard]] std::function<bool(std::int64_t)> all_but_each(std::int64_t pattern);
void set_windows(ModelSpec& model, const std::vector<bool>& sliding, std::int64_t window);

}  // namespace headroom
