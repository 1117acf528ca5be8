// The weights of a model in training: one leaf tensor for each tensor of its checkpoint. Owned by one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/compute/weights.h"
#include "core/training/recipe.h"

namespace headroom {

struct Parameter {
  std::string name;     // in the checkpoint
  std::string account;  // of for_each_weight
  at::Tensor value;     // a leaf
  bool trained = true;
};

class Parameters final : public WeightProvider {
 public:
  // Drawn for (seed, name): norms 1, sink logits 0, V1's λ vectors N(0, 0.1²), the rest N(0, σ²), σ being
  // settings.initial_std or 1/√inputs. The task's own embedding takes the place of a drawn one. Every weight reference
  // of the model must use its whole tensor as it is stored.
  static Parameters create(const ModelSpec& model, const TrainingSettings& settings,
                           std::span<const std::string> frozen, std::span<const float> embedding, std::uint64_t seed,
                           TorchTarget target);

  [[nodiscard]] std::vector<Parameter>& all() { return parameters_; }
  [[nodiscard]] const std::vector<Parameter>& all() const { return parameters_; }

  using WeightProvider::load;
  [[nodiscard]] Result<at::Tensor> load(const WeightRef& weight) const override;

 private:
  explicit Parameters(TorchTarget target) : WeightProvider(target) {}
  std::vector<Parameter> parameters_;
};

}  // namespace headroom
