// What members of one line of models share beyond llama: Qwen, Gemma, GLM, Command R, Granite.
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/model/llama_parts.h"

namespace headroom {

// Qwen 1.5 … 3: use_sliding_window, for layers from max_window_layers on.
[[nodiscard]] Result<void> read_late_windows(ConfigReader& config, ModelSpec& model);

// Gates of the heads' outputs (Qiu et al. 2025, arXiv 2505.06708) beside the queries: the rows of NAME are, for each of
// `groups` groups of heads, those of the queries, then those of their gates, one for each head or for each channel.
void add_output_gates(AttentionSpec& attention, const std::string& name, std::int64_t hidden, std::int64_t groups,
                      bool elementwise, bool bias);

// Norms of the stream, of queries and of keys multiply by 1 + w.
void add_one_to_norms(ModelSpec& model);
// Gemma: norms multiply by 1 + w, embeddings by √hidden_size.
void use_gemma_norms(ModelSpec& model);
// Gemma 2 and 3: norms before and behind both branches, and the keys of their scales and caps.
void add_gemma_norms(ModelSpec& model, const LlamaConfig& llama, std::int64_t layer);
[[nodiscard]] Result<void> read_gemma_scales(ConfigReader& config, double attention_cap, double logit_cap,
                                             ModelSpec& model);

// query_pre_attn_scalar as llama.cpp has it: hidden_size / heads in the size with so many layers, else head_dim.
[[nodiscard]] Result<void> say_gemma_query_scale(nlohmann::json& config, std::int64_t layers);

// GLM 4: half of the channels rotated, interleaved; gate and up in one matrix, no bias of o_proj.
[[nodiscard]] LlamaDefaults glm_defaults();
void use_glm_projections(ModelSpec& model, const LlamaConfig& llama);

// Command R: one LayerNorm without bias before both branches, interleaved rotation, scaled logits.
[[nodiscard]] LlamaDefaults cohere_defaults(double theta);
[[nodiscard]] Result<void> use_cohere_blocks(ConfigReader& config, ModelSpec& model);

// Granite: multipliers of embeddings, attention logits, branches and (a divisor) logits.
[[nodiscard]] Result<void> read_granite_multipliers(ConfigReader& config, ModelSpec& model);

}  // namespace headroom
