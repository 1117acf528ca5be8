// What a training needs to go on as if it had not stopped: parameters, moments, and the history so far, in one
// safetensors file. Owned by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/compute/training/optimizer.h"
#include "core/training/state_file.h"
#include "core/training/training.h"

namespace headroom {

// Identifies the training: a state of another definition (core/training/recipe.h), variant, seed or number of steps is
// refused.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> training_identity(const TrainingRequest& request);

[[nodiscard]] Result<void> save_state(const TrainingRequest& request, std::int64_t step, const Parameters& parameters,
                                      const Optimizer& optimizer, const TrainingHistory& history);

// The step to go on with. Corrupt where the file is of another training.
[[nodiscard]] Result<std::int64_t> load_state(const TrainingRequest& request, Parameters& parameters,
                                              Optimizer& optimizer, TrainingHistory& history);

// A tensor's bytes as a file has them; the tensor is on the processor and contiguous, and outlives the result.
[[nodiscard]] TensorBytes tensor_bytes(const std::string& name, const at::Tensor& tensor);

}  // namespace headroom
