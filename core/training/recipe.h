// A recipe: what is trained, on what, how long; one JSON file a person can read (assets/recipes/README.md names its
// keys). One recipe makes several models: every variant, at every point of its sweep, with every seed. Immutable; safe
// from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/model_spec.h"
#include "core/model/what_if.h"
#include "core/training/task.h"

namespace headroom {

struct TrainingSettings {
  std::int64_t steps = 0;
  std::int64_t batch = 0;      // sequences a step
  double learning_rate = 0.0;  // AdamW (Loshchilov and Hutter, arXiv 1711.05101)
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.0;           // of tensors with two axes
  std::int64_t warmup_steps = 0;       // linear from 0
  double final_learning_rate = 1.0;    // cosine down to this share of the learning rate; 1: constant
  double gradient_clip = 0.0;          // largest norm of all gradients together; 0: not clipped
  std::optional<double> initial_std;   // of matrices; absent: 1/√inputs
  std::int64_t statistics_every = 10;  // steps between two measurements of the heads
  std::int64_t validate_every = 250;
  std::int64_t validation_batches = 8;
  double stop_below_error = 0.0;  // ends when the largest validation error is below; Residual tasks only
};

struct Variant {
  std::string name;                       // "diff_v2"; swept: "diff_v2_learning_rate_0p01_gradient_clip_0"
  std::string base;                       // the name that the recipe gives it
  std::map<std::string, double> swept;    // this point of the sweep, by key of `training`
  std::string config;                     // content of a config.json of model_type headroom
  ModelSpec model;                        // what-ifs applied
  std::vector<WhatIf> what_ifs;           // head programs that a config cannot say
  std::vector<std::int64_t> checkpoints;  // steps kept beside the last one, ascending; of the recipe's first seed
  std::vector<std::uint64_t> seeds;       // its own, or the recipe's
  TrainingSettings training;
  std::string definition, definition_sha256;  // training_definition() as text, and its hash
};

struct Recipe {
  std::string name;  // of the file, without .json
  std::string about;
  std::string licence;        // of the weights
  std::string sha256;         // of the file
  std::string json = "null";  // the file's content
  std::shared_ptr<const Task> task;
  std::vector<Variant> variants;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> frozen;  // tensors, or accounts of for_each_weight, that are not trained
  std::string stored_dtype;         // "float32" or "bfloat16": of the checkpoints
};

// Errors name the field. Every variant's model is described, so that a recipe that is read can be trained.
[[nodiscard]] Result<Recipe> read_recipe(const std::filesystem::path& path);

// What makes a trained model besides its seed: task, config, what-ifs, training, frozen weights and dtype, from the
// content of a recipe's file. A recipe that gains seeds, variants, points of a sweep, checkpoints or words keeps the
// models that it has. Null where the recipe has no such variant.
[[nodiscard]] nlohmann::json training_definition(const nlohmann::json& recipe, std::string_view variant);
void set_definition(const nlohmann::json& recipe, Variant& variant);  // which must be one of the recipe

// The learning rate of a step, 0 … steps − 1.
[[nodiscard]] double learning_rate_at(const TrainingSettings& settings, std::int64_t step);

}  // namespace headroom
