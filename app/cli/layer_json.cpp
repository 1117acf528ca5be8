#include "app/cli/layer_json.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/model/layer_facts.h"

namespace headroom {
namespace {

nlohmann::json norms_json(const BranchSpec& branch) {
  nlohmann::json norms = nlohmann::json::object();
  const std::pair<const NormSpec*, const char*> all[] = {
      {&branch.before, "before"}, {&branch.after, "after"}, {&branch.sum, "sum"}};
  for (const auto& [norm, place] : all)
    if (norm->kind != NormKind::None)
      norms[place] = {{"kind", norm->kind == NormKind::Rms ? "rms" : "layer"}, {"epsilon", norm->epsilon}};
  return norms;
}

nlohmann::json rotation_json(const AttentionSpec& attention) {
  const RopeSpec& rope = attention.rope;
  if (rope.layout == RopeLayout::None) return nullptr;
  const bool scaled = rope.scaling.kind != RopeScalingKind::None;
  return {{"layout", rope.layout == RopeLayout::HalfSplit ? "halves" : "pairs"},
          {"channels", rope.rotary_dim},
          {"theta", rope.theta},
          {"scaling", scaled ? nlohmann::json(name_of(rope.scaling.kind)) : nlohmann::json()}};
}

nlohmann::json number_or_null(std::int64_t keys) { return keys > 0 ? nlohmann::json(keys) : nlohmann::json(); }

const char* qk_norm_name(QkNormScope scope) { return scope == QkNormScope::PerHead ? "per_head" : "whole"; }

nlohmann::json layer_json(const ModelSpec& model, std::size_t layer) {
  const BlockSpec& block = model.blocks[layer];
  const AttentionSpec& attention = block.attention;
  const LayerFacts facts = layer_facts(model, static_cast<std::int64_t>(layer));
  nlohmann::json json = {{"name", facts.name},
                         {"kind", facts.kind},
                         {"unmeasured", facts.unmeasured.empty() ? nlohmann::json() : nlohmann::json(facts.unmeasured)},
                         {"heads", attention.heads.size()},
                         {"key_blocks", attention.num_key_blocks},
                         {"head_dim", attention.head_dim},
                         {"value_dim", attention.value_dim},
                         {"causal", attention.causal},
                         {"window", number_or_null(attention.window)},
                         {"chunk", number_or_null(attention.chunk)},
                         {"always_visible", number_or_null(attention.always_visible)},
                         {"softcap", attention.softcap > 0.0 ? nlohmann::json(attention.softcap) : nlohmann::json()},
                         {"scale", attention.scale},
                         {"rotation", rotation_json(attention)},
                         {"norms", norms_json(block.attention_branch)},
                         {"mlp_norms", norms_json(block.mlp_branch)},
                         {"qk_norm", nullptr},
                         {"mlp", nullptr},
                         {"experts", nullptr},
                         {"parallel", block.parallel}};
  if (attention.qk_norm != QkNormScope::None) json["qk_norm"] = qk_norm_name(attention.qk_norm);
  if (block.mlp.kind != MlpKind::None) json["mlp"] = block.mlp.kind == MlpKind::Gated ? "gated" : "plain";
  if (block.experts.present())
    json["experts"] = {{"count", block.experts.experts.size()}, {"chosen", block.experts.router.chosen}};
  return json;
}

}  // namespace

nlohmann::json layers_json(const ModelSpec& model) {
  nlohmann::json layers = nlohmann::json::array();
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) layers.push_back(layer_json(model, layer));
  return layers;
}

nlohmann::json logits_json(const ModelSpec& model) {
  if (!model.lm_head.weight.present()) return nullptr;
  return {{"tied", model.tied},
          {"scale", model.logit_scale},
          {"softcap", model.logit_softcap > 0.0 ? nlohmann::json(model.logit_softcap) : nlohmann::json()}};
}

}  // namespace headroom
