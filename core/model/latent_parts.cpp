#include "core/model/latent_parts.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace headroom {
namespace {

constexpr std::int64_t kMostChannels = 1 << 20;
constexpr double kLatentEpsilon = 1e-6;  // of the norms between, whatever rms_norm_eps says

struct LatentSizes {
  std::int64_t hidden = 0, heads = 0;
  std::int64_t q_rank = 0;  // 0: queries of x
  std::int64_t kv_rank = 0, plain = 0, rotated = 0, value = 0;
  bool bias = false;

  [[nodiscard]] std::int64_t head_dim() const { return plain + rotated; }
};

Result<LatentSizes> read_latent_sizes(ConfigReader& config, const LlamaConfig& llama, const LatentDefaults& defaults) {
  LatentSizes sizes;
  sizes.hidden = llama.sizes.hidden;
  sizes.heads = llama.sizes.heads;
  sizes.bias = llama.attention_bias;
  const bool whole = config.mentions("q_lora_rank") && !config.has("q_lora_rank");
  HEADROOM_TRY(sizes.q_rank, config.integer("q_lora_rank", whole ? 0 : defaults.q_rank, whole ? 0 : 1, kMostChannels));
  HEADROOM_TRY(sizes.kv_rank, config.integer("kv_lora_rank", defaults.kv_rank, 1, kMostChannels));
  HEADROOM_TRY(sizes.plain, config.integer("qk_nope_head_dim", defaults.plain_dim, 1, kMostChannels));
  HEADROOM_TRY(sizes.rotated, config.integer("qk_rope_head_dim", defaults.rotated_dim, 2, kMostChannels));
  const std::int64_t value = defaults.value_dim > 0 ? defaults.value_dim : sizes.hidden / sizes.heads;
  HEADROOM_TRY(sizes.value, config.integer("v_head_dim", value, 1, kMostChannels));
  if (llama.sizes.kv_heads != sizes.heads)
    return refuse_config("every head has keys of its own here", "num_key_value_heads",
                         "num_attention_heads = " + std::to_string(sizes.heads), std::to_string(llama.sizes.kv_heads));
  return sizes;
}

AttentionSpec latent_attention(const LatentSizes& sizes, const ModelSource& source, const std::string& base,
                               const RopeSpec& rope, double scale) {
  AttentionSpec attention = grouped_attention(
      {.hidden = sizes.hidden, .heads = sizes.heads, .kv_heads = sizes.heads, .head_dim = sizes.head_dim()}, rope);
  attention.value_dim = sizes.value;
  attention.scale = scale;
  const std::int64_t query_rows = sizes.heads * sizes.head_dim();
  if (sizes.q_rank > 0) {
    attention.q_latent.down = linear(base + "q_a_proj", sizes.q_rank, sizes.hidden, sizes.bias);
    attention.q_latent.norm = rms_norm(base + "q_a_layernorm.weight", sizes.q_rank, kLatentEpsilon);
    attention.q = linear(base + "q_b_proj", query_rows, sizes.q_rank, false);
  } else {
    attention.q = linear(base + "q_proj", query_rows, sizes.hidden, false);
  }
  // The latent's rows, then those of the shared key.
  const std::int64_t down_rows = sizes.kv_rank + sizes.rotated;
  const auto down = [&](std::int64_t begin, std::int64_t count) {
    return linear_rows(base + "kv_a_proj_with_mqa", down_rows, sizes.hidden, {begin, count}, sizes.bias);
  };
  attention.kv_latent.down = down(0, sizes.kv_rank);
  attention.kv_latent.norm = rms_norm(base + "kv_a_layernorm.weight", sizes.kv_rank, kLatentEpsilon);
  attention.shared_key = down(sizes.kv_rank, sizes.rotated);
  // Of each head the rows of its key, then those of its value.
  const std::int64_t each = sizes.plain + sizes.value;
  const auto up = [&](std::int64_t begin, std::int64_t count) {
    return linear_rows(base + "kv_b_proj", sizes.heads * each, sizes.kv_rank, {begin, sizes.heads * count, count, each},
                       false);
  };
  if (source.find(base + "k_b_proj.weight")) {  // in two matrices, as GGUF has it
    attention.k = linear(base + "k_b_proj", sizes.heads * sizes.plain, sizes.kv_rank, false);
    attention.v = linear(base + "v_b_proj", sizes.heads * sizes.value, sizes.kv_rank, false);
  } else {
    attention.k = up(0, sizes.plain);
    attention.v = up(sizes.plain, sizes.value);
  }
  attention.o = linear(base + "o_proj", sizes.hidden, sizes.heads * sizes.value, sizes.bias);
  return attention;
}

}  // namespace

Result<void> use_latent_attention(ConfigReader& config, const ModelSource& source, const LlamaConfig& llama,
                                  const LatentDefaults& defaults, ModelSpec& model) {
  HEADROOM_TRY(const LatentSizes sizes, read_latent_sizes(config, llama, defaults));
  HEADROOM_TRY(RopeSpec rope, read_rope(config, defaults.rope, sizes.rotated, llama.sizes.max_positions));
  rope.first_channel = sizes.plain;
  double scale = 1.0 / std::sqrt(static_cast<double>(sizes.head_dim()));
  if (rope.scaling.kind != RopeScalingKind::None && rope.scaling.mscale_all_dim != 0.0) {
    const double mscale = yarn_mscale(rope.scaling.factor, rope.scaling.mscale_all_dim);
    scale *= mscale * mscale;
  }
  (void)config.raw("qk_head_dim");  // the sum of the two
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer)
    model.blocks[static_cast<std::size_t>(layer)].attention =
        latent_attention(sizes, source, llama.layer(layer) + "self_attn.", rope, scale);
  return {};
}

}  // namespace headroom
