// Qwen 3 Next: gated delta nets in three layers of four, experts (core/model/ARCHITECTURES.md#qwen3-next).
#include <cstdint>
#include <string>

#include "core/model/expert_parts.h"
#include "core/model/family.h"
#include "core/model/qwen_hybrid_parts.h"

namespace headroom {
namespace {

// The rows of in_proj_qkvz are, for each key head, those of q, k, and of v and gate of its value heads; those of
// in_proj_ba beta and decay of its value heads.
void project_by_key_head(DeltaNetSpec& mixer, const std::string& base, std::int64_t hidden) {
  const std::int64_t keys = mixer.key_heads, group = mixer.heads / keys, values = group * mixer.value_dim;
  const std::int64_t stride = 2 * mixer.key_dim + 2 * values;
  const auto rows = [&](std::int64_t begin, std::int64_t count) {
    return linear_rows(base + "in_proj_qkvz", keys * stride, hidden, {begin, keys * count, count, stride}, false);
  };
  mixer.q = rows(0, mixer.key_dim);
  mixer.k = rows(mixer.key_dim, mixer.key_dim);
  mixer.v = rows(2 * mixer.key_dim, values);
  mixer.gate = rows(2 * mixer.key_dim + values, values);
  const auto scalars = [&](std::int64_t begin) {
    return linear_rows(base + "in_proj_ba", 2 * mixer.heads, hidden, {begin, mixer.heads, group, 2 * group}, false);
  };
  mixer.beta = scalars(0);
  mixer.decay = scalars(group);
}

Result<ModelSpec> translate_qwen3_next(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) -> Result<void> {
    HEADROOM_TRY_VOID(use_qwen_hybrid(config, llama, project_by_key_head, model));
    return use_qwen_experts(
        config, source, llama,
        {.keys = {.default_count = 512, .default_chosen = 10, .default_inner = 512}, .shared = 512, .normalised = true},
        model);
  };
  return translate_llama_relative(source, qwen_hybrid_defaults(), change);
}

}  // namespace

extern constinit const Family kFamily_qwen3_next{
    "qwen3_next", "Qwen 3 Next: gated delta nets, gated attention, experts", translate_qwen3_next};

}  // namespace headroom
