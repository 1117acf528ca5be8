#include "core/model/qwen_hybrid_parts.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model_lines.h"

namespace headroom {
namespace {

Result<DeltaNetSpec> read_delta_net(ConfigReader& config, Activation activation) {
  constexpr std::int64_t kMost = 65536;
  DeltaNetSpec mixer;
  mixer.activation = activation;
  HEADROOM_TRY(mixer.key_heads, config.integer("linear_num_key_heads", 16, 1, kMost));
  HEADROOM_TRY(mixer.heads, config.integer("linear_num_value_heads", 32, 1, kMost));
  HEADROOM_TRY(mixer.key_dim, config.integer("linear_key_head_dim", 128, 1, kMost));
  HEADROOM_TRY(mixer.value_dim, config.integer("linear_value_head_dim", 128, 1, kMost));
  if (mixer.heads % mixer.key_heads != 0)
    return refuse_config("value heads do not divide into groups of key heads", "linear_num_key_heads",
                         "a divisor of linear_num_value_heads = " + std::to_string(mixer.heads),
                         std::to_string(mixer.key_heads));
  return mixer;
}

void name_delta_net(DeltaNetSpec& mixer, const std::string& base, std::int64_t width, const LlamaConfig& llama) {
  const std::int64_t values = mixer.heads * mixer.value_dim;
  mixer.conv = causal_conv(base + "conv1d", 2 * mixer.key_heads * mixer.key_dim + values, width, false);
  mixer.decay_log = vector(base + "A_log", mixer.heads);
  mixer.decay_bias = vector(base + "dt_bias", mixer.heads);
  mixer.norm = rms_norm(base + "norm.weight", mixer.value_dim, llama.epsilon);
  mixer.out = linear(base + "out_proj", llama.sizes.hidden, values, false);
}

// One matrix for q, k and v, one for each other projection.
void project_by_kind(DeltaNetSpec& mixer, const std::string& base, std::int64_t hidden) {
  const std::int64_t keys = mixer.key_heads * mixer.key_dim, values = mixer.heads * mixer.value_dim;
  const auto rows = [&](std::int64_t begin, std::int64_t count) {
    return linear_rows(base + "in_proj_qkv", 2 * keys + values, hidden, {begin, count}, false);
  };
  mixer.q = rows(0, keys);
  mixer.k = rows(keys, keys);
  mixer.v = rows(2 * keys, values);
  mixer.gate = linear(base + "in_proj_z", values, hidden, false);
  mixer.beta = linear(base + "in_proj_b", mixer.heads, hidden, false);
  mixer.decay = linear(base + "in_proj_a", mixer.heads, hidden, false);
}

}  // namespace

LlamaDefaults qwen_hybrid_defaults() {
  return {.head_dim = 256, .rope = {.partial_key = "partial_rotary_factor", .share = 0.25, .three_positions = true}};
}

Result<void> use_qwen_hybrid(ConfigReader& config, const LlamaConfig& llama, const DeltaProjections& project,
                             ModelSpec& model) {
  HEADROOM_TRY(const DeltaNetSpec plan, read_delta_net(config, llama.activation));
  HEADROOM_TRY(const std::int64_t width, config.integer("linear_conv_kernel_dim", 4, 1, 1 << 16));
  HEADROOM_TRY(const std::int64_t interval, config.integer("full_attention_interval", 4, 1, 1 << 20));
  HEADROOM_TRY(const bool gated, config.boolean("attn_output_gate", true));
  if (!gated) {
    Error error(ErrorCode::Unsupported, "attention without gates is not what this family computes");
    error.at_tensor("attn_output_gate").wanted("true", "false");
    return error;
  }
  HEADROOM_TRY(const std::vector<bool> linear_layers,
               read_layers_of_kind(config, llama.sizes.layers, "linear_attention", all_but_each(interval)));
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    const std::string base = llama.layer(layer);
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    if (!linear_layers[static_cast<std::size_t>(layer)]) {
      add_output_gates(block.attention, base + "self_attn.q_proj", llama.sizes.hidden, llama.sizes.heads, true,
                       llama.attention_bias);
      add_qk_norm(block, base, QkNormScope::PerHead, llama.epsilon);
      continue;
    }
    DeltaNetSpec mixer = plan;
    name_delta_net(mixer, base + "linear_attn.", width, llama);
    project(mixer, base + "linear_attn.", llama.sizes.hidden);
    use_mixer(block, {std::move(mixer)});
  }
  add_one_to_norms(model);
  model.set_aside = {"mtp.", "model.visual.", "visual."};
  return {};
}

Result<ModelSpec> translate_qwen3_5(const ModelSource& source, std::string_view part) {
  LlamaDefaults defaults = qwen_hybrid_defaults();
  defaults.part = part;
  const auto change = [](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
    // Of layers that predict further tokens, and of how a kernel keeps its state.
    for (const char* key : {"mtp_num_hidden_layers", "mtp_use_dedicated_embeddings", "mamba_ssm_dtype"})
      (void)config.raw(key);
    return use_qwen_hybrid(config, llama, project_by_kind, model);
  };
  return translate_llama_relative(source, defaults, change);
}

}  // namespace headroom
