// Phi-4-mini-flash: SambaY with differential attention (core/model/ARCHITECTURES.md#phi4flash).
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/model/diff_parts.h"
#include "core/model/family.h"
#include "core/model/llama_parts.h"
#include "core/model/mixer_spec.h"

namespace headroom {
namespace {

constexpr std::int64_t kMost = 65536;

// What the mixers of all layers share.
struct FlashPlan {
  DecoderSizes sizes;
  std::int64_t window = 0, channels = 0, state = 0, width = 0, rank = 0;
  bool conv_bias = true, projection_bias = false;

  // The last Mamba, whose scan later layers read; the attention behind it is full, and its keys are theirs.
  [[nodiscard]] std::int64_t middle() const { return sizes.layers / 2; }
};

Result<FlashPlan> read_plan(ConfigReader& config, const DecoderSizes& sizes) {
  FlashPlan plan;
  plan.sizes = sizes;
  HEADROOM_TRY(const std::int64_t every, config.integer("mb_per_layer", 2, 0, kMost));
  if (every != 2) {
    Error error(ErrorCode::Unsupported, "another rhythm of layers than Mamba, attention");
    error.at_tensor("mb_per_layer").wanted("2", std::to_string(every));
    return error;
  }
  if (sizes.layers % 4 != 0)
    return refuse_config("the layers do not divide into halves that begin with Mamba", "num_hidden_layers",
                         "a multiple of 4", std::to_string(sizes.layers));
  if (sizes.heads % 2 != 0 || sizes.kv_heads % 2 != 0)
    return refuse_config("heads are paired with their neighbours", "num_key_value_heads", "even numbers",
                         std::to_string(sizes.heads) + ", " + std::to_string(sizes.kv_heads));
  HEADROOM_TRY(plan.window, read_window(config, 512));
  HEADROOM_TRY(plan.state, config.integer("mamba_d_state", 16, 1, kMost));
  HEADROOM_TRY(plan.width, config.integer("mamba_d_conv", 4, 1, kMost));
  HEADROOM_TRY(const std::int64_t expand, config.integer("mamba_expand", 2, 1, kMost));
  plan.channels = expand * sizes.hidden;
  plan.rank = (sizes.hidden + 15) / 16;
  if (const nlohmann::json& rank = config.raw("mamba_dt_rank"); !rank.is_string() || rank != "auto") {
    HEADROOM_TRY(plan.rank, config.integer("mamba_dt_rank", plan.rank, 1, kMost * 16));
  }
  HEADROOM_TRY(plan.conv_bias, config.boolean("mamba_conv_bias", true));
  HEADROOM_TRY(plan.projection_bias, config.boolean("mamba_proj_bias", false));
  return plan;
}

MambaSpec mamba(const FlashPlan& plan, const std::string& base) {
  const std::int64_t hidden = plan.sizes.hidden;
  MambaSpec mixer;
  mixer.in = linear(base + "in_proj", 2 * plan.channels, hidden, plan.projection_bias);
  mixer.conv = causal_conv(base + "conv1d", plan.channels, plan.width, plan.conv_bias);
  mixer.select = linear(base + "x_proj", plan.rank + 2 * plan.state, plan.channels, false);
  mixer.step = linear(base + "dt_proj", plan.channels, plan.rank, true);
  mixer.decay_log = matrix(base + "A_log", plan.channels, plan.state);
  mixer.skip = vector(base + "D", plan.channels);
  mixer.out = linear(base + "out_proj", hidden, plan.channels, plan.projection_bias);
  return mixer;
}

// Without keys and values of its own where it reads those of another layer.
AttentionSpec paired_attention_of(const FlashPlan& plan, const std::string& base, std::int64_t layer) {
  DecoderSizes pairs = plan.sizes;
  pairs.heads /= 2;
  pairs.kv_heads /= 2;
  V1Options options;
  options.depth = layer;
  AttentionSpec attention = diff_v1_attention(pairs, base + "inner_cross_attn.", options);
  attention.rope = {};
  const std::int64_t hidden = plan.sizes.hidden, query_rows = plan.sizes.heads * plan.sizes.head_dim;
  const bool reads_others = layer > plan.middle() + 1;
  const std::int64_t key_rows = reads_others ? 0 : plan.sizes.kv_heads * plan.sizes.head_dim;
  const auto rows = [&](std::int64_t begin, std::int64_t count) {
    return linear_rows(base + "Wqkv", query_rows + 2 * key_rows, hidden, {begin, count}, true);
  };
  attention.q = rows(0, query_rows);
  attention.k = reads_others ? LinearSpec() : rows(query_rows, key_rows);
  attention.v = reads_others ? LinearSpec() : rows(query_rows + key_rows, key_rows);
  attention.o = linear(base + "out_proj", hidden, query_rows, true);
  if (reads_others) attention.keys_of_layer = plan.middle() + 1;
  if (layer < plan.middle()) attention.window = plan.window;
  return attention;
}

BlockSpec flash_block(const FlashPlan& plan, const LlamaConfig& llama, std::int64_t layer) {
  const std::string base = llama.layer(layer);
  const std::int64_t hidden = plan.sizes.hidden;
  BlockSpec block;
  block.attention_branch.before = layer_norm(base + "input_layernorm", hidden, llama.epsilon);
  block.mlp_branch.before = layer_norm(base + "post_attention_layernorm", hidden, llama.epsilon);
  block.mlp = gated_mlp(base + "mlp.", hidden, plan.sizes.inner, llama.activation, llama.mlp_bias);
  const auto fused = [&](std::int64_t begin) {
    return linear_rows(base + "mlp.fc1", 2 * plan.sizes.inner, hidden, {begin, plan.sizes.inner}, llama.mlp_bias);
  };
  block.mlp.gate = fused(0);
  block.mlp.up = fused(plan.sizes.inner);
  block.mlp.down = linear(base + "mlp.fc2", hidden, plan.sizes.inner, llama.mlp_bias);
  if (layer % 2 == 1) {
    block.attention = paired_attention_of(plan, base + "attn.", layer);
  } else if (layer <= plan.middle()) {
    use_mixer(block, {mamba(plan, base + "attn.")});
  } else {
    GatedMemorySpec unit;
    unit.in = linear(base + "attn.in_proj", plan.channels, hidden, plan.projection_bias);
    unit.out = linear(base + "attn.out_proj", hidden, plan.channels, plan.projection_bias);
    unit.memory_of_layer = plan.middle();
    use_mixer(block, {std::move(unit)});
  }
  return block;
}

Result<ModelSpec> translate_phi4flash(const ModelSource& source) {
  ConfigReader config(source.config());
  HEADROOM_TRY(LlamaConfig llama,
               read_llama_config(source, config,
                                 {.epsilon_key = "layer_norm_eps", .epsilon = 1e-5, .bias_key = {}, .rotates = false}));
  HEADROOM_TRY(llama.mlp_bias, config.boolean("mlp_bias", false));
  HEADROOM_TRY(const bool head_bias, config.boolean("lm_head_bias", false));
  HEADROOM_TRY(const FlashPlan plan, read_plan(config, llama.sizes));
  for (const char* unused : {"rope_theta", "rope_scaling", "resid_pdrop"}) (void)config.raw(unused);
  ModelSpec model;
  HEADROOM_TRY_VOID(read_llama_frame(source, config, llama.sizes, llama.prefix, llama.epsilon, model, true));
  model.num_heads = llama.sizes.heads / 2;
  model.final_norm = layer_norm(llama.prefix + "final_layernorm", llama.sizes.hidden, llama.epsilon);
  if (head_bias) model.lm_head.bias = vector("lm_head.bias", llama.sizes.vocab);
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer)
    model.blocks.push_back(flash_block(plan, llama, layer));
  HEADROOM_TRY_VOID(config.check_unread(false, model.warnings));
  return model;
}

}  // namespace

extern constinit const Family kFamily_phi4flash{
    "phi4flash", "Phi 4 mini flash: Mamba, gated memory, DIFF on shared keys", translate_phi4flash};

}  // namespace headroom
