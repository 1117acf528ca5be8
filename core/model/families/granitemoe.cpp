// Granite 3 MoE: granite with experts, stacked in two tensors (core/model/ARCHITECTURES.md#experts).
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/model/expert_parts.h"
#include "core/model/family.h"
#include "core/model/model_lines.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_granitemoe(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) -> Result<void> {
    HEADROOM_TRY_VOID(read_granite_multipliers(config, model));
    HEADROOM_TRY(const ExpertSizes sizes,
                 read_expert_sizes(config, {"num_local_experts", 8, 2, {}, 0}, llama.sizes.inner));
    for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
      BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
      const std::string base = llama.layer(layer) + "block_sparse_moe.";
      if (source.find(base + "experts.0.gate_proj.weight"))  // one by one, as GGUF has them
        use_experts(block, source, {.base = base, .router = "router.layer.weight"}, sizes, llama.sizes.hidden,
                    llama.activation);
      else
        use_stacked_experts(block, base + "input_linear.weight", base + "output_linear.weight",
                            base + "router.layer.weight", sizes, llama.sizes.hidden, llama.activation);
      block.experts.router.score = RouterScore::SoftmaxChosen;
    }
    return {};
  };
  return translate_llama_relative(source, {}, change);
}

constexpr auto kGranitemoeGgufTensors =
    gguf_joined(kGgufPairs, std::to_array<GgufTensor>({
                                {"blk.#.ffn_gate_inp", "model.layers.#.block_sparse_moe.router.layer"},
                                {"blk.#.ffn_gate_exps", "model.layers.#.block_sparse_moe.experts.*.gate_proj"},
                                {"blk.#.ffn_up_exps", "model.layers.#.block_sparse_moe.experts.*.up_proj"},
                                {"blk.#.ffn_down_exps", "model.layers.#.block_sparse_moe.experts.*.down_proj"},
                            }));
constexpr auto kGranitemoeGgufKeys = std::to_array<GgufKey>({
    {"logit_scale", "logits_scaling"},
});
constexpr GgufNames kGranitemoeGguf{
    .architectures = {"granitemoe"}, .tensors = kGranitemoeGgufTensors, .keys = kGranitemoeGgufKeys};

}  // namespace

extern constinit const Family kFamily_granitemoe{"granitemoe", "Granite 3 MoE: granite with experts",
                                                 translate_granitemoe, &kGranitemoeGguf};

}  // namespace headroom
