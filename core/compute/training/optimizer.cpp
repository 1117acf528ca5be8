#include "core/compute/training/optimizer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace headroom {

Optimizer::Optimizer(Parameters& parameters, const TrainingSettings& settings) : settings_(settings) {
  groups_[1].decay = settings.weight_decay;
  for (Parameter& parameter : parameters.all()) {
    if (!parameter.trained) continue;
    Group& group = groups_[parameter.value.dim() >= 2 ? 1 : 0];
    group.names.push_back(parameter.name);
    group.values.push_back(parameter.value);
    group.first.push_back(at::zeros_like(parameter.value, at::MemoryFormat::Contiguous).set_requires_grad(false));
    group.second.push_back(at::zeros_like(group.first.back()));
    group.steps.push_back(at::zeros({}, at::TensorOptions().dtype(at::kFloat).device(parameter.value.device())));
  }
}

double Optimizer::clip_gradients() {
  const at::NoGradGuard no_gradients;
  std::vector<at::Tensor> gradients, norms;
  for (Group& group : groups_)
    for (at::Tensor& value : group.values)
      if (value.grad().defined()) gradients.push_back(value.grad());
  for (const at::Tensor& gradient : gradients) norms.push_back(gradient.norm());
  const double norm = at::stack(norms).norm().item<double>();
  constexpr double kEpsilon = 1e-6;
  const double factor = settings_.gradient_clip / (norm + kEpsilon);
  if (settings_.gradient_clip > 0.0 && factor < 1.0)
    for (at::Tensor& gradient : gradients) gradient.mul_(factor);
  return norm;
}

void Optimizer::step(double learning_rate) {
  const at::NoGradGuard no_gradients;
  for (Group& group : groups_) {
    // What nothing depends on (a what-if) has no gradient and stays, decay and all, as in torch.optim.
    std::vector<at::Tensor> values, gradients, first, second, steps;
    for (std::size_t i = 0; i < group.values.size(); ++i) {
      group.steps[i].add_(1.0);
      if (!group.values[i].grad().defined()) continue;
      values.push_back(group.values[i]);
      gradients.push_back(group.values[i].grad());
      first.push_back(group.first[i]);
      second.push_back(group.second[i]);
      steps.push_back(group.steps[i]);
    }
    if (values.empty()) continue;
    at::_fused_adamw_(values, gradients, first, second, {}, steps, learning_rate, settings_.beta1, settings_.beta2,
                      group.decay, settings_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
    for (at::Tensor& value : values) value.mutable_grad().reset();
  }
}

std::vector<std::pair<std::string, at::Tensor>> Optimizer::state() const {
  std::vector<std::pair<std::string, at::Tensor>> state;
  for (const Group& group : groups_)
    for (std::size_t i = 0; i < group.names.size(); ++i) {
      state.emplace_back(group.names[i] + "/first_moment", group.first[i]);
      state.emplace_back(group.names[i] + "/second_moment", group.second[i]);
    }
  return state;
}

void Optimizer::set_steps_done(std::int64_t steps) {
  for (Group& group : groups_)
    for (at::Tensor& count : group.steps) count.fill_(static_cast<double>(steps));
}

}  // namespace headroom
