// Clipping and AdamW against the formulas, element by element in double.
#include "core/compute/training/optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/compute/counted_memory.h"
#include "tests/core/compute/training_models.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

using Values = std::map<std::string, std::vector<double>>;

std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().flatten().contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

// Decoupled decay (Loshchilov and Hutter, algorithm 2, with the decay times the learning rate as PyTorch has it).
class AdamW {
 public:
  AdamW(const TrainingSettings& settings, Values values) : settings_(settings), values_(std::move(values)) {}

  double norm(const Values& gradients) const {
    double squares = 0.0;
    for (const auto& [name, gradient] : gradients)
      for (const double g : gradient) squares += g * g;
    return std::sqrt(squares);
  }

  void step(const Values& gradients, double rate, const std::set<std::string>& decayed) {
    ++steps_;
    const double norm_of_all = norm(gradients);
    const double clip = settings_.gradient_clip;
    const double factor = clip > 0.0 && norm_of_all > clip ? clip / (norm_of_all + 1e-6) : 1.0;
    for (auto& [name, value] : values_) {
      if (!gradients.contains(name)) continue;
      std::vector<double>& m = first_[name];
      std::vector<double>& v = second_[name];
      m.resize(value.size());
      v.resize(value.size());
      for (std::size_t i = 0; i < value.size(); ++i) {
        const double g = factor * gradients.at(name)[i];
        m[i] = settings_.beta1 * m[i] + (1.0 - settings_.beta1) * g;
        v[i] = settings_.beta2 * v[i] + (1.0 - settings_.beta2) * g * g;
        const double m_hat = m[i] / (1.0 - std::pow(settings_.beta1, steps_));
        const double v_hat = v[i] / (1.0 - std::pow(settings_.beta2, steps_));
        if (decayed.contains(name)) value[i] -= rate * settings_.weight_decay * value[i];
        value[i] -= rate * m_hat / (std::sqrt(v_hat) + settings_.epsilon);
      }
    }
  }
  [[nodiscard]] const Values& values() const { return values_; }

 private:
  TrainingSettings settings_;
  Values values_, first_, second_;
  int steps_ = 0;
};

void check_optimizer(double clip) {
  const Threads one(1);
  TrainingCase given{"diff_v1", {{"attention", {{"kind", "diff_v1"}}}}};
  const ModelSpec spec = training_spec(given, true);
  TrainingSettings settings;
  settings.beta1 = 0.8;
  settings.beta2 = 0.97;
  settings.epsilon = 1e-3;
  settings.weight_decay = 0.2;
  settings.gradient_clip = clip;
  const std::string frozen[] = {"model.layers.0.self_attn.q_proj.weight", "head_norm"};
  Parameters parameters = Parameters::create(spec, settings, frozen, {}, 1, kDoubleTarget);
  Optimizer optimizer(parameters, settings);
  Values begin;
  std::set<std::string> matrices;
  for (const Parameter& parameter : parameters.all()) {
    begin[parameter.name] = values_of(parameter.value);
    if (parameter.value.dim() == 2) matrices.insert(parameter.name);
  }
  CATCH_REQUIRE(matrices.size() < begin.size());
  AdamW expected(settings, begin);
  Random random(3);
  bool clipped = false, not_clipped = false;
  for (const double rate : {0.1, 0.02, 0.02, 0.3}) {
    Values gradients;
    const double size = clipped ? 0.01 : 1.0;
    for (Parameter& parameter : parameters.all()) {
      if (!parameter.trained) continue;
      gradients[parameter.name] = random.normals(parameter.value.numel(), size);
      parameter.value.mutable_grad() =
          at::tensor(gradients[parameter.name], at::kDouble).view(parameter.value.sizes()).clone();
    }
    const double norm = expected.norm(gradients);
    (norm > clip ? clipped : not_clipped) = true;
    CATCH_CHECK(optimizer.clip_gradients() == near(norm, 1e-13));
    optimizer.step(rate);
    expected.step(gradients, rate, matrices);
    for (const Parameter& parameter : parameters.all()) {
      CATCH_INFO(parameter.name);
      CATCH_CHECK(!parameter.value.grad().defined());
      const std::vector<double> found = values_of(parameter.value);
      const bool is_frozen = parameter.name == frozen[0] || parameter.account == "head_norm";
      CATCH_CHECK((found == begin[parameter.name]) == is_frozen);
      for (std::size_t i = 0; i < found.size(); ++i)
        CATCH_CHECK(found[i] == near(expected.values().at(parameter.name)[i], 1e-12, 1e-14));
    }
  }
  if (clip > 0.0) CATCH_CHECK(clipped);
  if (clip > 0.0) CATCH_CHECK(not_clipped);
}

}  // namespace

CATCH_TEST_CASE("optimizer: clipping and AdamW are the formulas, and vectors do not decay, frozen weights stay") {
  check_optimizer(0.0);
  check_optimizer(2.0);
}

CATCH_TEST_CASE("optimizer: what has no gradient stays, and does not decay") {
  const Threads one(1);
  const TrainingCase given{"softmax", nlohmann::json::object()};
  const ModelSpec spec = training_spec(given, true);
  TrainingSettings settings;
  settings.weight_decay = 0.2;
  Parameters parameters = Parameters::create(spec, settings, {}, {}, 1, kDoubleTarget);
  Optimizer optimizer(parameters, settings);
  Parameter& with = parameters.all().back();
  with.value.mutable_grad() = at::ones_like(with.value);
  Values begin;
  for (const Parameter& parameter : parameters.all()) begin[parameter.name] = values_of(parameter.value);
  CATCH_CHECK(optimizer.clip_gradients() == near(std::sqrt(static_cast<double>(with.value.numel())), 1e-13));
  optimizer.step(0.1);
  for (const Parameter& parameter : parameters.all()) {
    CATCH_INFO(parameter.name);
    CATCH_CHECK((values_of(parameter.value) == begin[parameter.name]) == (parameter.name != with.name));
  }
}

CATCH_TEST_CASE("optimizer: with its state and count of steps taken over, another one goes on alike") {
  const Threads one(1);
  const TrainingCase given{"softmax", nlohmann::json::object()};
  const ModelSpec spec = training_spec(given, true);
  TrainingSettings settings;
  Parameters a = Parameters::create(spec, settings, {}, {}, 1, kDoubleTarget);
  Parameters b = Parameters::create(spec, settings, {}, {}, 2, kDoubleTarget);
  Optimizer first(a, settings), second(b, settings);
  Random random(4);
  const auto give = [&](std::initializer_list<Parameters*> all) {
    for (std::size_t i = 0; i < a.all().size(); ++i) {
      const at::Tensor gradient =
          at::tensor(random.normals(a.all()[i].value.numel()), at::kDouble).view(a.all()[i].value.sizes());
      for (Parameters* parameters : all) parameters->all()[i].value.mutable_grad() = gradient.clone();
    }
  };
  for (int step = 0; step < 3; ++step) give({&a}), first.step(0.01);
  {
    const at::NoGradGuard no_gradients;
    const auto from = first.state();
    auto to = second.state();
    CATCH_REQUIRE(from.size() == 2 * a.all().size());
    CATCH_REQUIRE(to.size() == from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      CATCH_CHECK(to[i].first == from[i].first);
      to[i].second.copy_(from[i].second);
    }
    for (std::size_t i = 0; i < a.all().size(); ++i) b.all()[i].value.copy_(a.all()[i].value);
  }
  second.set_steps_done(3);
  give({&a, &b});
  first.step(0.01);
  second.step(0.01);
  for (std::size_t i = 0; i < a.all().size(); ++i) CATCH_CHECK(at::equal(a.all()[i].value, b.all()[i].value));
}

}  // namespace headroom::test
