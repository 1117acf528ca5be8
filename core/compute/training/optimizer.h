// AdamW on the trained parameters by LibTorch's fused step, with state that can be saved. Owned by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/compute/training/parameters.h"

namespace headroom {

class Optimizer {
 public:
  // The parameters outlive the optimizer.
  Optimizer(Parameters& parameters, const TrainingSettings& settings);

  // The norm of all gradients together; then they are scaled to the settings' gradient_clip where they are larger, as
  // torch.nn.utils.clip_grad_norm_ does.
  [[nodiscard]] double clip_gradients();
  // One AdamW step (decoupled decay of tensors with two axes), then gradients are dropped.
  void step(double learning_rate);

  // First and second moments, by the parameter's name with this suffix; to be read and, after a stop, filled.
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state() const;
  void set_steps_done(std::int64_t steps);

 private:
  struct Group {
    std::vector<std::string> names;
    std::vector<at::Tensor> values, first, second, steps;
    double decay = 0.0;
  };
  const TrainingSettings& settings_;
  Group groups_[2];  // without and with decay
};

}  // namespace headroom
