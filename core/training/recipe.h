// A recipe: what is trained, on what, how long; one JSON file a person can read (assets/recipes/README.md names its
// keys). One recipe makes several models: every variant with every seed. Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
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
  std::string name;
  std::string config;                     // content of a config.json of model_type headroom
  ModelSpec model;                        // what-ifs applied
  std::vector<WhatIf> what_ifs;           // head programs that the config cannot say
  std::vector<std::int64_t> checkpoints;  // steps kept beside the last one, ascending; of the recipe's first seed
};

struct Recipe {
  std::string name;  // of the file, without .json
  std::string about;
  std::string licence;        // of the weights
  std::string sha256;         // of the file
  std::string json = "null";  // the file's content
  std::shared_ptr<const Task> task;
  TrainingSettings training;
  std::vector<Variant> variants;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> frozen;  // tensors, or accounts of for_each_weight, that are not trained
  std::string stored_dtype;         // "float32" or "bfloat16": of the checkpoints
};

// Errors name the field. Every variant's model is described, so that a recipe that is read can be trained.
[[nodiscard]] Result<Recipe> read_recipe(const std::filesystem::path& path);

// The learning rate of a step, 0 … steps − 1.
[[nodiscard]] double learning_rate_at(const TrainingSettings& settings, std::int64_t step);

}  // namespace headroom
