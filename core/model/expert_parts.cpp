#include "core/model/expert_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

namespace headroom {
namespace {

constexpr std::int64_t kMostExperts = 65536, kMostInner = std::int64_t{1} << 32;

LinearSpec slice_of(const std::string& name, std::int64_t count, std::int64_t rows, std::int64_t columns,
                    std::int64_t slice, RowRange used) {
  LinearSpec spec;
  spec.weight.tensor = name;
  spec.weight.stored_shape = {count, rows, columns};
  spec.weight.slice = slice;
  spec.weight.row_begin = used.begin;
  spec.weight.row_count = used.count;
  return spec;
}

}  // namespace

Result<ExpertSizes> read_expert_sizes(ConfigReader& config, const ExpertKeys& keys, std::int64_t mlp_inner) {
  ExpertSizes sizes;
  HEADROOM_TRY(sizes.count, config.integer(keys.count, keys.default_count, 1, kMostExperts));
  HEADROOM_TRY(sizes.chosen, config.integer("num_experts_per_tok", keys.default_chosen, 1, kMostExperts));
  if (sizes.chosen > sizes.count)
    return refuse_config("a token is sent to more experts than there are", "num_experts_per_tok",
                         "at most " + std::to_string(sizes.count), std::to_string(sizes.chosen));
  sizes.inner = mlp_inner;
  if (!keys.inner.empty()) {
    HEADROOM_TRY(sizes.inner, config.integer(keys.inner, keys.default_inner, 1, kMostInner));
  }
  return sizes;
}

void use_stacked_experts(BlockSpec& block, const std::string& gate_up, const std::string& down,
                         const std::string& router, const ExpertSizes& sizes, std::int64_t hidden,
                         Activation activation) {
  block.mlp = {};
  block.experts.router.logits.weight = matrix(router, sizes.count, hidden);
  block.experts.router.chosen = sizes.chosen;
  for (std::int64_t e = 0; e < sizes.count; ++e) {
    MlpSpec expert;
    expert.kind = MlpKind::Gated;
    expert.activation = activation;
    expert.gate = slice_of(gate_up, sizes.count, 2 * sizes.inner, hidden, e, {0, sizes.inner});
    expert.up = slice_of(gate_up, sizes.count, 2 * sizes.inner, hidden, e, {sizes.inner, sizes.inner});
    expert.down = slice_of(down, sizes.count, hidden, sizes.inner, e, {0, -1});
    block.experts.experts.push_back(std::move(expert));
  }
}

void use_experts(BlockSpec& block, const ModelSource& source, const ExpertNames& names, const ExpertSizes& sizes,
                 std::int64_t hidden, Activation activation) {
  const std::string router = names.base + std::string(names.router), stacked = names.base + "experts.gate_up_proj";
  if (source.find(stacked))
    return use_stacked_experts(block, stacked, names.base + "experts.down_proj", router, sizes, hidden, activation);
  block.mlp = {};
  block.experts.router.logits.weight = matrix(router, sizes.count, hidden);
  block.experts.router.chosen = sizes.chosen;
  for (std::int64_t e = 0; e < sizes.count; ++e) {
    const std::string base = names.base + "experts." + std::to_string(e) + ".";
    MlpSpec expert;
    expert.kind = MlpKind::Gated;
    expert.activation = activation;
    expert.gate = linear(base + std::string(names.gate), sizes.inner, hidden, false);
    expert.up = linear(base + std::string(names.up), sizes.inner, hidden, false);
    expert.down = linear(base + std::string(names.down), hidden, sizes.inner, false);
    block.experts.experts.push_back(std::move(expert));
  }
}

Result<std::function<bool(std::int64_t)>> read_sparse_layers(ConfigReader& config, std::int64_t layers) {
  HEADROOM_TRY(const std::int64_t step, config.integer("decoder_sparse_step", 1, 1, kMostExperts));
  std::set<std::int64_t> dense;
  const nlohmann::json& list = config.raw("mlp_only_layers");
  if (!list.is_null() && !list.is_array())
    return refuse_config("mlp_only_layers is not a list", "mlp_only_layers", "a list of layers", list.type_name());
  for (const nlohmann::json& layer : list) {
    if (!layer.is_number_integer() || layer.get<std::int64_t>() < 0 || layer.get<std::int64_t>() >= layers)
      return refuse_config("mlp_only_layers names a layer that the model does not have", "mlp_only_layers",
                           "0 … " + std::to_string(layers - 1), layer.dump());
    dense.insert(layer.get<std::int64_t>());
  }
  return std::function<bool(std::int64_t)>(
      [step, dense](std::int64_t layer) { return (layer + 1) % step == 0 && !dense.contains(layer); });
}

Result<void> use_qwen_experts(ConfigReader& config, const ModelSource& source, const LlamaConfig& llama,
                              const QwenExperts& defaults, ModelSpec& model) {
  const std::int64_t hidden = llama.sizes.hidden;
  HEADROOM_TRY(const ExpertSizes sizes, read_expert_sizes(config, defaults.keys, 0));
  HEADROOM_TRY(const std::int64_t shared,
               config.integer("shared_expert_intermediate_size", defaults.shared, 1, kMostInner));
  HEADROOM_TRY(const bool normalised, config.boolean("norm_topk_prob", defaults.normalised));
  HEADROOM_TRY(const auto sparse, read_sparse_layers(config, llama.sizes.layers));
  for (std::int64_t layer = 0; layer < llama.sizes.layers; ++layer) {
    if (!sparse(layer)) continue;
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    const std::string base = llama.layer(layer) + "mlp.";
    use_experts(block, source, {.base = base}, sizes, hidden, llama.activation);
    block.mlp = gated_mlp(base + "shared_expert.", hidden, shared, llama.activation, false);
    block.experts.shared_gate = linear(base + "shared_expert_gate", 1, hidden, false);
    block.experts.router.normalised = normalised;
  }
  return {};
}

RouterSpec deepseek_v3_router() {
  RouterSpec router;
  router.score = RouterScore::Sigmoid;
  router.group_best = 2;
  router.normalised = true;
  router.epsilon = 1e-20;
  return router;
}

Result<void> refuse_other_choices(ConfigReader& config, std::string_view method, std::string_view score) {
  for (const auto& [key, expected] : {std::pair("topk_method", method), std::pair("scoring_func", score)}) {
    HEADROOM_TRY(const std::string found, config.text(key, std::string(expected)));
    if (found == expected) continue;
    Error error(ErrorCode::Unsupported, "a way of choosing experts that this family does not have");
    error.at_tensor(key).wanted(std::string(expected), found);
    return error;
  }
  HEADROOM_TRY(const std::int64_t each, config.integer("moe_layer_freq", 1, 1, kMostExperts));
  if (each == 1) return {};
  Error error(ErrorCode::Unsupported, "dense layers among those with experts");
  error.at_tensor("moe_layer_freq").wanted("1", std::to_string(each));
  return error;
}

Result<void> use_deepseek_experts(ConfigReader& config, const ModelSource& source, const LlamaConfig& llama,
                                  const DeepseekDefaults& defaults, ModelSpec& model) {
  const std::int64_t hidden = llama.sizes.hidden;
  HEADROOM_TRY(const ExpertSizes sizes, read_expert_sizes(config, defaults.keys, 0));
  HEADROOM_TRY(const std::int64_t shared, config.integer("n_shared_experts", defaults.shared, 0, kMostExperts));
  HEADROOM_TRY(const std::int64_t dense,
               config.integer("first_k_dense_replace", defaults.dense_layers, 0, kMostExperts));
  RouterSpec router = defaults.router;
  if (defaults.grouped) {
    HEADROOM_TRY(router.groups, config.integer("n_group", router.groups, 1, sizes.count));
    HEADROOM_TRY(router.chosen_groups, config.integer("topk_group", router.chosen_groups, 1, router.groups));
  }
  HEADROOM_TRY(router.normalised, config.boolean("norm_topk_prob", router.normalised));
  HEADROOM_TRY(router.scale, config.number("routed_scaling_factor", router.scale));
  const std::int64_t each = sizes.count / router.groups;
  if (sizes.count % router.groups != 0 || each < router.group_best || each * router.chosen_groups < sizes.chosen)
    return refuse_config("the groups of experts cannot be chosen from", "n_group",
                         "equal groups of two experts and more, of which topk_group hold num_experts_per_tok",
                         std::to_string(router.groups) + " of " + std::to_string(each));
  for (std::int64_t layer = dense; layer < llama.sizes.layers; ++layer) {
    BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
    const std::string base = llama.layer(layer) + "mlp.";
    use_experts(block, source, {.base = base}, sizes, hidden, llama.activation);
    router.logits = block.experts.router.logits;
    router.chosen = sizes.chosen;
    if (router.score == RouterScore::Sigmoid)
      router.choice_bias = vector(base + "gate.e_score_correction_bias", sizes.count);
    block.experts.router = router;
    if (shared > 0)
      block.mlp = gated_mlp(base + "shared_experts.", hidden, shared * sizes.inner, llama.activation, false);
  }
  return {};
}

}  // namespace headroom
