// The small models that training is tested with: every kind of attention and what changes it, with parameters that lie
// at no special point. Pure functions; safe from any thread.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/compute/training/parameters.h"
#include "core/compute/training/trainable_model.h"
#include "core/model/family.h"
#include "core/model/what_if.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"

namespace headroom::test {

inline const TorchTarget kDoubleTarget{at::kDouble, at::kDouble, at::kCPU};

struct TrainingCase {
  const char* name;
  nlohmann::json changes;  // merged into training_config()
  std::vector<std::string> what_ifs = {};
  bool library = true;                   // whether scaled_dot_product_attention can run it
  const char* unused = "";               // ends of the names of parameters that nothing depends on, separated by spaces
  void (*change)(ModelSpec&) = nullptr;  // what no config says yet
};

inline void make_bidirectional(ModelSpec& model) {
  for (BlockSpec& block : model.blocks) block.attention.causal = false;
}

// Norms of the stream itself in the first block, of what the branches give in the second; scales wherever there are
// any.
inline void make_post_norm(ModelSpec& model) {
  bool first = true;
  for (BlockSpec& block : model.blocks) {
    for (BranchSpec* branch : {&block.attention_branch, &block.mlp_branch})
      (first ? branch->sum : branch->after) = std::exchange(branch->before, {});
    block.attention_branch.scale = 0.6;
    block.mlp_branch.scale = -0.8;
    first = false;
  }
  model.embedding_scale = 1.7;
  model.logit_scale = 0.4;
  model.logit_softcap = 1.5;
}

inline void make_parallel(ModelSpec& model) {
  for (BlockSpec& block : model.blocks) block.parallel = true;
}

inline void make_alibi(ModelSpec& model) {
  for (BlockSpec& block : model.blocks) block.attention.bias.slopes = {0.5, 0.3, 0.1, 0.7};
}

// A table of its own in every layer.
inline void make_learned_bias(ModelSpec& model) {
  std::int64_t layer = 0;
  for (BlockSpec& block : model.blocks) {
    block.attention.causal = false;
    block.attention.bias = {{}, {}, true, 5};
    block.attention.bias.table.tensor = "model.layers." + std::to_string(layer++) + ".self_attn.relative_bias.weight";
    block.attention.bias.table.stored_shape = {8, 4};
  }
}

inline nlohmann::json training_config() {
  return {{"model_type", "headroom"},
          {"vocab_size", 11},
          {"hidden_size", 12},
          {"num_hidden_layers", 2},
          {"intermediate_size", 10},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 2},
          {"head_dim", 4},
          {"max_position_embeddings", 9},
          {"rms_norm_eps", 1e-3},
          {"tie_word_embeddings", false},
          {"position", "rope"},
          {"rope_theta", 20.0},
          {"attention", {{"kind", "softmax"}}}};
}

inline std::vector<TrainingCase> training_cases() {
  const auto attention = [](nlohmann::json settings) { return nlohmann::json{{"attention", std::move(settings)}}; };
  const auto with = [](nlohmann::json a, const nlohmann::json& b) {
    a.merge_patch(b);
    return a;
  };
  const nlohmann::json v1 = attention({{"kind", "diff_v1"}}), v2 = attention({{"kind", "diff_v2"}});
  const nlohmann::json none = {{"position", "none"}};
  const char* v1_unused = "lambda_q1 lambda_k1 lambda_q2 lambda_k2 subln.weight";
  return {
      {"softmax", attention({{"kind", "softmax"}})},
      {"softmax, tied, no position", with(none, {{"tie_word_embeddings", true}})},
      {"softmax, learned positions, q/k norms", {{"position", "learned"}, {"attention", {{"qk_norm", true}}}}},
      {"softmax, window, scale", attention({{"window", 3}, {"scale", 0.9}}), {}, false},
      {"softmax, bidirectional, window", attention({{"window", 3}}), {}, false, "", make_bidirectional},
      {"softmax, norms after the branches, scales", {{"position", "learned"}}, {}, true, "", make_post_norm},
      {"softmax, ALiBi, no position", none, {}, false, "", make_alibi},
      {"softmax, learned biases, bidirectional", attention({{"kind", "softmax"}}), {}, false, "", make_learned_bias},
      {"diff_v2, ALiBi, off by one", v2, {"normalizer=softmax_one"}, false, "", make_alibi},
      {"diff_v2, attention and MLP side by side", v2, {}, true, "", make_parallel},
      {"diff_v2, bidirectional, window, hidden keys",
       with(v2, attention({{"window", 2}})),
       {"L1:hide-key=3,4,5"},
       false,
       "",
       make_bidirectional},
      {"softmax_one", attention({{"kind", "softmax_one"}}), {}, false},
      {"softmax_sink", attention({{"kind", "softmax_sink"}}), {}, false},
      {"gated by head", attention({{"kind", "gated"}, {"gate", "headwise"}})},
      {"gated by channel",
       with(none, {{"num_key_value_heads", 4}, {"attention", {{"kind", "gated"}, {"gate", "elementwise"}}}})},
      {"diff_v1", v1},
      {"diff_v1 without MLP", with(v1, {{"intermediate_size", 0}, {"position", "none"}})},
      {"diff_v1 naive", with(v1, attention({{"v1_form", "naive"}}))},
      {"diff_v1 naive without norm", with(v1, attention({{"v1_form", "naive"}, {"v1_norm", false}}))},
      {"diff_v1 without norm",
       with(v1, {{"num_key_value_heads", 4}, {"attention", {{"v1_norm", false}, {"qk_norm", true}}}})},
      {"diff_v2", v2},
      {"diff_v2 with q/k norms, two heads a group",
       with(v2, {{"num_key_value_heads", 4}, {"attention", {{"qk_norm", true}}}})},
      {"diff_v2 without position, one group", with(v2, {{"num_key_value_heads", 1}, {"position", "none"}})},
      {"diff_v2, pairing=halves", v2, {"pairing=halves"}},
      {"diff_v2, lambda=none", v2, {"lambda=none"}, true, "lambda_proj.weight"},
      {"diff_v2, lambda=raw", v2, {"lambda=raw"}},
      {"diff_v2, second-map=off", v2, {"second-map=off"}, true, "lambda_proj.weight"},
      {"diff_v1, pairing=halves", v1, {"pairing=halves"}},
      {"diff_v1, lambda=none, norm=off", v1, {"lambda=none", "norm=off"}, true, v1_unused},
      {"diff_v2 with a head of each sort",
       v2,
       {"L0.H1:second-map=off", "L1.H0:first-map=off", "L1.H2:lambda=0.3", "L0.H3:lambda=raw"}},
      {"diff_v2, off by one, hidden keys",
       v2,
       {"normalizer=softmax_one", "L0.H2:normalizer=softmax", "L1:hide-key=0,3"},
       false},
      {"softmax, temperature and a dead head",
       attention({{"kind", "softmax"}}),
       {"L0:temperature=0.7", "L1.H3:head=off"},
       false},
  };
}

// With `language` false the model ends at the residual stream.
inline nlohmann::json training_config_of(const TrainingCase& given, bool language) {
  nlohmann::json config = training_config();
  config.merge_patch(given.changes);
  if (!language) {
    config["lm_head"] = false;
    config["tie_word_embeddings"] = false;
  }
  return config;
}

inline std::vector<WhatIf> training_what_ifs(const TrainingCase& given) {
  std::vector<WhatIf> what_ifs;
  for (const std::string& text : given.what_ifs) {
    auto what_if = parse_what_if(text);
    if (!what_if) CATCH_FAIL(given.name << ": " << describe(what_if.error()));
    what_ifs.push_back(*what_if);
  }
  return what_ifs;
}

inline ModelSpec training_spec(const TrainingCase& given, bool language) {
  auto model = design_model(training_config_of(given, language));
  if (!model) CATCH_FAIL(given.name << ": " << describe(model.error()));
  auto changed = apply_what_ifs(*model, training_what_ifs(given));
  if (!changed) CATCH_FAIL(given.name << ": " << describe(changed.error()));
  if (given.change) given.change(changed->model);
  return changed->model;
}

// Norms away from 1, sinks and λ vectors away from 0, logits large enough for maps that are far from uniform.
inline Parameters training_parameters(const ModelSpec& model, std::uint64_t seed, TorchTarget target = kDoubleTarget) {
  TrainingSettings settings;
  Parameters parameters = Parameters::create(model, settings, {}, {}, seed, target);
  const at::NoGradGuard no_gradients;
  Random random(seed + 77);
  for (Parameter& parameter : parameters.all()) {
    const bool vector = parameter.value.dim() == 1;
    const bool query = parameter.account == "q" || parameter.account == "k";
    const double deviation = vector ? 0.4 : query ? 0.5 : 0.0;
    parameter.value.add_(at::tensor(random.normals(parameter.value.numel(), deviation), at::kDouble)
                             .view(parameter.value.sizes())
                             .to(parameter.value.scalar_type()));
  }
  return parameters;
}

inline Batch training_batch(const ModelSpec& model, bool language, std::int64_t sequences, std::int64_t length,
                            std::uint64_t seed) {
  Random random(seed);
  Batch batch;
  batch.sequences = sequences;
  batch.length = length;
  for (std::int64_t i = 0; i < sequences * length; ++i) {
    batch.tokens.push_back(static_cast<std::int32_t>(random.below(model.vocab_size)));
    if (language) batch.targets.push_back(static_cast<std::int32_t>(random.below(model.vocab_size)));
    for (std::int64_t c = 0; !language && c < model.hidden_size; ++c)
      batch.residual.push_back(static_cast<float>(random.normal()));
  }
  return batch;
}

}  // namespace headroom::test
