// Mixtral: mistral with experts (core/model/ARCHITECTURES.md#experts).
#include <cstddef>
#include <cstdint>

#include "core/model/expert_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_mixtral(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) -> Result<void> {
    HEADROOM_TRY(const std::int64_t window, read_window(config, 0));
    HEADROOM_TRY(const ExpertSizes sizes,
                 read_expert_sizes(config, {"num_local_experts", 8, 2, {}, 0}, llama.sizes.inner));
    for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
      BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
      block.attention.window = window;
      use_experts(block, source, {llama.layer(layer) + "block_sparse_moe.", "gate.weight", "w1", "w3", "w2"}, sizes,
                  llama.sizes.hidden, llama.activation);
      block.experts.router.normalised = true;
    }
    return {};
  };
  return translate_llama_relative(source, {.epsilon = 1e-5, .bias_key = {}, .rope = {.theta = 1e6}}, change);
}

constexpr auto kMixtralGgufTensors = gguf_joined(kGgufPairs, kGgufSparseExperts);
constexpr GgufNames kMixtralGguf{
    .architectures = {"llama"}, .only_with = "expert_count", .tensors = kMixtralGgufTensors, .flags = {}};

}  // namespace

extern constinit const Family kFamily_mixtral{"mixtral", "Mixtral: mistral with experts", translate_mixtral,
                                              &kMixtralGguf};

}  // namespace headroom
