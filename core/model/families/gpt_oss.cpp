// gpt-oss: a learned sink logit per head, windows in every other layer, experts with clamped gates
// (core/model/ARCHITECTURES.md#gpt-oss). Experts as bfloat16 files have them: stacked, [in, out], gate and up in turns.
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/base/format.h"
#include "core/model/expert_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

// Every second column of [E, in, all] and entry of [E, all] from `begin`; all of them where step is 1.
LinearSpec stored_expert(const std::string& name, std::int64_t count, std::int64_t in, std::int64_t all, std::int64_t e,
                         std::int64_t begin, std::int64_t step) {
  LinearSpec spec;
  spec.weight = {.tensor = name, .stored_shape = {count, in, all}, .transposed = true};
  spec.bias = {.tensor = name + "_bias", .stored_shape = {count, all}};
  for (WeightRef* part : {&spec.weight, &spec.bias}) {
    part->slice = e;
    part->row_begin = begin;
    part->row_count = all / step;
    if (step > 1) part->row_group = 1;
    if (step > 1) part->row_stride = step;
  }
  return spec;
}

void use_own_experts(BlockSpec& block, const ModelSource& source, const std::string& base, const ExpertSizes& sizes,
                     std::int64_t hidden, double limit) {
  block.mlp = {};
  RouterSpec& router = block.experts.router;
  router.logits = linear(base + "router", sizes.count, hidden, true);
  router.score = RouterScore::SoftmaxChosen;
  router.chosen = sizes.chosen;
  const bool apart = source.find(base + "experts.0.gate_proj.weight");  // as GGUF has them
  for (std::int64_t e = 0; e < sizes.count; ++e) {
    const std::string gate_up = base + "experts.gate_up_proj";
    MlpSpec expert;
    expert.kind = MlpKind::Gated;
    expert.activation = Activation::QuickGelu;
    if (apart) {
      const std::string own = base + "experts." + std::to_string(e);
      expert.gate = linear(own + ".gate_proj", sizes.inner, hidden, true);
      expert.up = linear(own + ".up_proj", sizes.inner, hidden, true);
      expert.down = linear(own + ".down_proj", hidden, sizes.inner, true);
    } else {
      expert.gate = stored_expert(gate_up, sizes.count, hidden, 2 * sizes.inner, e, 0, 2);
      expert.up = stored_expert(gate_up, sizes.count, hidden, 2 * sizes.inner, e, 1, 2);
      expert.down = stored_expert(base + "experts.down_proj", sizes.count, sizes.inner, hidden, e, 0, 1);
    }
    expert.limit = limit;
    expert.up_offset = 1.0;
    block.experts.experts.push_back(std::move(expert));
  }
}

Result<void> change_gpt_oss(const ModelSource& source, ConfigReader& config, const LlamaConfig& llama,
                            ModelSpec& model) {
  const DecoderSizes& sizes = llama.sizes;
  HEADROOM_TRY(const std::int64_t window, read_window(config, 128));
  HEADROOM_TRY(const auto sliding,
               read_sliding_layers(config, sizes.layers, [](std::int64_t layer) { return layer % 2 == 0; }));
  set_windows(model, sliding, window);
  HEADROOM_TRY(const ExpertSizes experts, read_expert_sizes(config, {"num_local_experts", 128, 4, {}, 0}, sizes.inner));
  HEADROOM_TRY(const double limit, config.number("swiglu_limit", 7.0));
  HEADROOM_TRY(const double alpha, config.number("swiglu_alpha", 1.702));
  if (alpha != 1.702) return refuse_config("the gate is σ(1.702·x) here", "swiglu_alpha", "1.702", format("%g", alpha));
  if (!(limit > 0.0)) return refuse_config("gates are clamped to this", "swiglu_limit", "> 0", format("%g", limit));
  (void)config.raw("experts_per_token");       // num_experts_per_tok once more
  (void)config.raw("initial_context_length");  // of rope_scaling
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    use_own_experts(block, source, llama.layer(layer) + "mlp.", experts, sizes.hidden, limit);
    block.attention.kind = "softmax_sink";
    block.attention.sink_logits = vector(llama.layer(layer) + "self_attn.sinks", sizes.heads);
    for (HeadProgram& head : block.attention.heads) head.sink = SinkSource::Learned;
  }
  return {};
}

Result<ModelSpec> translate_gpt_oss(const ModelSource& source) {
  const auto change = [&](ConfigReader& config, const LlamaConfig& llama, ModelSpec& model) {
    return change_gpt_oss(source, config, llama, model);
  };
  return translate_llama_relative(source, {.epsilon = 1e-5, .bias = true, .head_dim = 64, .rope = {.theta = 150000.0}},
                                  change);
}

constexpr auto kGptOssGgufTensors = std::to_array<GgufTensor>({
    {"blk.#.attn_sinks.weight", "model.layers.#.self_attn.sinks"},
    {"blk.#.ffn_gate_inp", "model.layers.#.mlp.router"},
    {"blk.#.ffn_gate_exps", "model.layers.#.mlp.experts.*.gate_proj"},
    {"blk.#.ffn_up_exps", "model.layers.#.mlp.experts.*.up_proj"},
    {"blk.#.ffn_down_exps", "model.layers.#.mlp.experts.*.down_proj"},
});
constexpr auto kGptOssGgufKeys = std::to_array<GgufKey>({
    {"expert_feed_forward_length", ""},  // feed_forward_length once more
});

// The corners of its rotation are not rounded, which GGUF does not tell.
Result<void> finish_gpt_oss_gguf(const GgufMetadata&, nlohmann::json& config) {
  if (config.contains("rope_scaling")) config["rope_scaling"]["truncate"] = false;
  return {};
}

constexpr GgufNames kGptOssGguf{.architectures = {"gpt-oss"},
                                .tensors = kGptOssGgufTensors,
                                .keys = kGptOssGgufKeys,
                                .finish = finish_gpt_oss_gguf};

}  // namespace

extern constinit const Family kFamily_gpt_oss{"gpt_oss", "gpt-oss: sink logits, windows, experts", translate_gpt_oss,
                                              &kGptOssGguf};

}  // namespace headroom
