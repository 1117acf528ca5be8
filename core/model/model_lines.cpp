#include "core/model/model_lines.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/format.h"

namespace headroom {
namespace {

// 0 where it is null, `fallback` where it is not there.
Result<double> read_cap(ConfigReader& config, std::string_view key, double fallback) {
  HEADROOM_TRY(const double cap, config.number(key, config.mentions(key) ? 0.0 : fallback));
  if (cap < 0.0) return refuse_config("a cap of logits is negative", key, "≥ 0", format("%g", cap));
  return cap;
}

}  // namespace

Result<void> read_late_windows(ConfigReader& config, ModelSpec& model) {
  const auto layers = static_cast<std::int64_t>(model.blocks.size());
  HEADROOM_TRY(const bool used, config.boolean("use_sliding_window", false));
  HEADROOM_TRY(const std::int64_t given, read_window(config, 4096));
  HEADROOM_TRY(const std::int64_t first, config.integer("max_window_layers", 28, 0, std::int64_t{1} << 20));
  const std::int64_t window = used ? given : 0;
  HEADROOM_TRY(const std::vector<bool> sliding,
               read_sliding_layers(config, layers, [&](std::int64_t layer) { return window > 0 && layer >= first; }));
  set_windows(model, sliding, window);
  return {};
}

void add_output_gates(AttentionSpec& attention, const std::string& name, std::int64_t hidden, std::int64_t groups,
                      bool elementwise, bool bias) {
  const std::int64_t group = attention.num_query_blocks / groups, query_rows = group * attention.head_dim;
  const std::int64_t gate_rows = elementwise ? query_rows : group, stride = query_rows + gate_rows;
  const std::int64_t all = groups * stride;
  attention.kind = "gated";
  attention.gate = elementwise ? GateLayout::Elementwise : GateLayout::PerHead;
  attention.q = linear_rows(name, all, hidden, {0, groups * query_rows, query_rows, stride}, bias);
  attention.gate_projection = linear_rows(name, all, hidden, {query_rows, groups * gate_rows, gate_rows, stride}, bias);
  for (HeadProgram& head : attention.heads) head.gated = true;
}

void use_gemma_norms(ModelSpec& model) {
  model.embedding_scale = std::sqrt(static_cast<double>(model.hidden_size));
  add_one_to_norms(model);
}

void add_one_to_norms(ModelSpec& model) {
  change_norms(model, [](NormSpec& norm) { norm.weight_offset = 1.0; });
  for (BlockSpec& block : model.blocks)
    block.attention.q_norm.weight_offset = block.attention.k_norm.weight_offset = 1.0;
}

void add_gemma_norms(ModelSpec& model, const LlamaConfig& llama, std::int64_t layer) {
  BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
  const auto norm = [&](const char* name) {
    return rms_norm(llama.layer(layer) + name, llama.sizes.hidden, llama.epsilon);
  };
  block.attention_branch.after = norm("post_attention_layernorm.weight");
  block.mlp_branch.before = norm("pre_feedforward_layernorm.weight");
  block.mlp_branch.after = norm("post_feedforward_layernorm.weight");
}

Result<void> read_gemma_scales(ConfigReader& config, double attention_cap, double logit_cap, ModelSpec& model) {
  use_gemma_norms(model);
  HEADROOM_TRY(const double size, config.number("query_pre_attn_scalar", 256.0));
  if (!(size > 0.0))
    return refuse_config("queries are divided by the root of this number", "query_pre_attn_scalar", "> 0",
                         format("%g", size));
  HEADROOM_TRY(const double cap, read_cap(config, "attn_logit_softcapping", attention_cap));
  HEADROOM_TRY(model.logit_softcap, read_cap(config, "final_logit_softcapping", logit_cap));
  for (BlockSpec& block : model.blocks) {
    block.attention.scale = 1.0 / std::sqrt(size);
    block.attention.softcap = cap;
  }
  return {};
}

Result<void> say_gemma_query_scale(nlohmann::json& config, std::int64_t layers) {
  ConfigReader reader(config);
  HEADROOM_TRY(const DecoderSizes sizes, read_sizes(reader));
  config["query_pre_attn_scalar"] = sizes.layers == layers ? sizes.hidden / sizes.heads : sizes.head_dim;
  return {};
}

LlamaDefaults glm_defaults() {
  return {.epsilon = 1.5625e-7,
          .bias = true,
          .head_dim = 128,
          .rope = {.layout = RopeLayout::Interleaved, .partial_key = "partial_rotary_factor", .share = 0.5}};
}

void use_glm_projections(ModelSpec& model, const LlamaConfig& llama) {
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    fuse_gate_and_up(block, llama.layer(layer) + "mlp.gate_up_proj", llama.sizes);
    block.attention.o.bias = {};
  }
}

LlamaDefaults cohere_defaults(double theta) {
  return {.epsilon_key = "layer_norm_eps",
          .epsilon = 1e-5,
          .tied = true,
          .rope = {.layout = RopeLayout::Interleaved, .theta = theta}};
}

Result<void> use_cohere_blocks(ConfigReader& config, ModelSpec& model) {
  use_layer_norms(model, false);
  HEADROOM_TRY(model.logit_scale, config.number("logit_scale", 0.0625));
  for (BlockSpec& block : model.blocks) share_norm(block);
  return {};
}

Result<void> read_granite_multipliers(ConfigReader& config, ModelSpec& model) {
  HEADROOM_TRY(model.embedding_scale, config.number("embedding_multiplier", 1.0));
  HEADROOM_TRY(const double scale, config.number("attention_multiplier", 1.0));
  HEADROOM_TRY(const double branch, config.number("residual_multiplier", 1.0));
  HEADROOM_TRY(const double divisor, config.number("logits_scaling", 1.0));
  if (divisor == 0.0) return refuse_config("logits are divided by this number", "logits_scaling", "another", "0");
  model.logit_scale = 1.0 / divisor;
  for (BlockSpec& block : model.blocks) {
    block.attention.scale = scale;
    block.attention_branch.scale = block.mlp_branch.scale = branch;
  }
  return {};
}

}  // namespace headroom
