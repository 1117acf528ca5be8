// Experts as families name them, and the keys that describe a router (core/model/ARCHITECTURES.md#experts).
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/model/llama_parts.h"

namespace headroom {

struct ExpertSizes {
  std::int64_t count = 0, chosen = 0, inner = 0;
};
// The keys and what holds where one is missing; an empty `inner` is the MLP's own size.
struct ExpertKeys {
  std::string_view count = "num_experts";
  std::int64_t default_count = 0;
  std::int64_t default_chosen = 0;
  std::string_view inner = "moe_intermediate_size";
  std::int64_t default_inner = 0;
};
// Corrupt (field, expected, found) where more are chosen than there are.
[[nodiscard]] Result<ExpertSizes> read_expert_sizes(ConfigReader& config, const ExpertKeys& keys,
                                                    std::int64_t mlp_inner);

// Names of one layer's experts below BASE: BASE + "experts.E." + gate + ".weight" and so on, and the router's.
struct ExpertNames {
  std::string base;
  std::string_view router = "gate.weight", gate = "gate_proj", up = "up_proj", down = "down_proj";
};
// Gated experts in place of the block's MLP, and a router without bias that chooses by softmax. A file that has
// BASE + "experts.gate_up_proj" [E, 2I, D] and "experts.down_proj" [E, D, I] holds them stacked.
void use_experts(BlockSpec& block, const ModelSource& source, const ExpertNames& names, const ExpertSizes& sizes,
                 std::int64_t hidden, Activation activation);
// The same from tensors of these names: gate above up in `gate_up`.
void use_stacked_experts(BlockSpec& block, const std::string& gate_up, const std::string& down,
                         const std::string& router, const ExpertSizes& sizes, std::int64_t hidden,
                         Activation activation);

// Qwen: which layers have experts, by decoder_sparse_step and mlp_only_layers.
[[nodiscard]] Result<std::function<bool(std::int64_t)>> read_sparse_layers(ConfigReader& config, std::int64_t layers);
// Qwen's keys: experts beside a shared MLP with a gate, in those layers.
struct QwenExperts {
  ExpertKeys keys;
  std::int64_t shared = 0;  // inner size of the shared MLP
  bool normalised = false;
};
[[nodiscard]] Result<void> use_qwen_experts(ConfigReader& config, const ModelSource& source, const LlamaConfig& llama,
                                            const QwenExperts& defaults, ModelSpec& model);
// DeepSeek's and GLM's keys: the first layers are dense, the rest have experts and a shared MLP beside them.
struct DeepseekDefaults {
  ExpertKeys keys;
  std::int64_t dense_layers = 1, shared = 1;
  bool grouped = true;  // n_group and topk_group count
  // Its scores, and what holds where a config says nothing; sigmoid scores have a bias of the choice.
  RouterSpec router;
};
// Sigmoid scores, groups by their two best, normalised: DeepSeek-V3.
[[nodiscard]] RouterSpec deepseek_v3_router();
// Of the keys of DeepSeek's own code: topk_method and scoring_func if they say something else, moe_layer_freq if not 1.
[[nodiscard]] Result<void> refuse_other_choices(ConfigReader& config, std::string_view method, std::string_view score);
[[nodiscard]] Result<void> use_deepseek_experts(ConfigReader& config, const ModelSource& source,
                                                const LlamaConfig& llama, const DeepseekDefaults& defaults,
                                                ModelSpec& model);

}  // namespace headroom
