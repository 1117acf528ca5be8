// The gradient of both losses with respect to every parameter, of every kind of attention, against differences of the
// loss in float64; and the two ways to run attention against each other.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "core/compute/training/trainable_model.h"
#include "tests/core/compute/counted_memory.h"
#include "tests/core/compute/training_models.h"

namespace headroom::test {
namespace {

constexpr std::int64_t kSequences = 2, kLength = 7;

// Five points: the error is step⁴/30 · L⁽⁵⁾ along a unit vector, below 1e-17 · L⁽⁵⁾, and rounding of a loss of a few
// nats (some 1e-15) divided by the step, 1e-11. Embeddings before a norm are the most curved: L⁽⁵⁾ reaches 1e9, which
// is 1e-8 of the gradient. A term that is left out shows as a share of it.
constexpr double kStep = 1e-4, kRelative = 1e-7, kAbsolute = 1e-10;

class GradientCheck {
 public:
  GradientCheck(const TrainingCase& given, bool language)
      : given_(given),
        spec_(training_spec(given, language)),
        parameters_(training_parameters(spec_, 5)),
        batch_(training_batch(spec_, language, kSequences, kLength, 9), kDoubleTarget),
        model_(*TrainableModel::create(spec_, parameters_, kLength)) {
    backward(AttentionPath::Auto);
  }

  // A random direction through each tensor, its steepest element and another one.
  void check_all(Random& random) {
    for (Parameter& parameter : parameters_.all()) {
      CATCH_INFO(given_.name << ", " << parameter.name);
      CATCH_REQUIRE(parameter.trained);
      if (is_unused(parameter.name)) {
        const at::Tensor direction = unit(random, parameter.value);
        CATCH_CHECK(loss_at(parameter.value, direction, 1.0) == loss_at(parameter.value, direction, -1.0));
        CATCH_CHECK((!parameter.value.grad().defined() || parameter.value.grad().abs().max().item<double>() == 0.0));
        continue;
      }
      CATCH_REQUIRE(parameter.value.grad().defined());
      const double norm = parameter.value.grad().norm().item<double>();
      CATCH_REQUIRE(norm > 1e-4);  // a gradient that is there at all
      check(parameter.value, unit(random, parameter.value), norm);
      const at::Tensor flat = parameter.value.grad().flatten();
      for (const std::int64_t element : {flat.abs().argmax().item<std::int64_t>(), random.below(flat.numel())}) {
        at::Tensor one = at::zeros_like(flat);
        one[element] = 1.0;
        check(parameter.value, one.view(parameter.value.sizes()), norm);
      }
    }
  }

  // Contexts of every layer and all gradients by LibTorch's attention and by maps.
  void check_paths() {
    for (const BlockSpec& block : spec_.blocks) CATCH_REQUIRE(library_runs(block.attention));
    const std::vector<BatchedHeads> library = backward(AttentionPath::Library);
    std::vector<at::Tensor> gradients;
    for (const Parameter& parameter : parameters_.all())
      gradients.push_back(parameter.value.grad().defined() ? parameter.value.grad().clone() : at::Tensor());
    const std::vector<BatchedHeads> maps = backward(AttentionPath::Maps);
    CATCH_REQUIRE(library.size() == spec_.blocks.size());
    CATCH_REQUIRE(maps.size() == library.size());
    for (std::size_t layer = 0; layer < maps.size(); ++layer) check_close(library[layer].context, maps[layer].context);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      CATCH_INFO(parameters_.all()[i].name);
      CATCH_REQUIRE(gradients[i].defined() == parameters_.all()[i].value.grad().defined());
      if (gradients[i].defined()) check_close(gradients[i], parameters_.all()[i].value.grad());
    }
  }

 private:
  [[nodiscard]] bool is_unused(const std::string& name) const {
    std::istringstream ends(given_.unused);
    for (std::string end; ends >> end;)
      if (name.ends_with(end)) return true;
    return false;
  }

  std::vector<BatchedHeads> backward(AttentionPath path) {
    for (Parameter& parameter : parameters_.all()) parameter.value.mutable_grad().reset();
    std::vector<BatchedHeads> layers;
    task_loss(model_(batch_.tokens, path, &layers), batch_).backward();
    return layers;
  }

  static at::Tensor unit(Random& random, const at::Tensor& like) {
    const at::Tensor direction = at::tensor(random.normals(like.numel()), at::kDouble).view(like.sizes());
    return direction / direction.norm();
  }

  double loss_at(at::Tensor& value, const at::Tensor& direction, double step) {
    const at::NoGradGuard no_gradients;
    const at::Tensor before = value.clone();
    value.add_(direction, step);
    const double loss = task_loss(model_(batch_.tokens), batch_).item<double>();
    value.copy_(before);
    return loss;
  }

  void check(at::Tensor& value, const at::Tensor& direction, double norm) {
    const auto difference = [&](double step) {
      return loss_at(value, direction, step) - loss_at(value, direction, -step);
    };
    const double measured = (8.0 * difference(kStep) - difference(2.0 * kStep)) / (12.0 * kStep);
    const double claimed = (value.grad() * direction).sum().item<double>();
    CATCH_INFO("by differences " << measured << ", by the gradient " << claimed << ", the gradient's norm " << norm);
    CATCH_CHECK(std::abs(measured - claimed) <= kRelative * norm + kAbsolute);
  }

  // Sums of at most some hundred terms in double, in another order.
  static void check_close(const at::Tensor& a, const at::Tensor& b) {
    CATCH_REQUIRE(b.abs().max().item<double>() > 0.0);
    CATCH_CHECK((a - b).abs().max().item<double>() <= 1e-12 * b.abs().max().item<double>());
  }

  Threads one_thread_{1};  // the tensors are tiny
  const TrainingCase& given_;
  ModelSpec spec_;
  Parameters parameters_;
  BatchTensors batch_;
  TrainableModel model_;
};

}  // namespace

CATCH_TEST_CASE("training gradient: next-token loss, every kind, every parameter, against differences") {
  Random random(1);
  for (const TrainingCase& given : training_cases()) GradientCheck(given, true).check_all(random);
}

CATCH_TEST_CASE("training gradient: loss on the residual stream, every kind, every parameter, against differences") {
  Random random(2);
  for (const TrainingCase& given : training_cases()) GradientCheck(given, false).check_all(random);
}

CATCH_TEST_CASE("training gradient: LibTorch's attention and maps give the same contexts and gradients") {
  int compared = 0;
  for (const TrainingCase& given : training_cases()) {
    CATCH_INFO(given.name);
    if (given.library) {
      GradientCheck(given, true).check_paths();
      ++compared;
      continue;
    }
    const ModelSpec spec = training_spec(given, true);
    CATCH_CHECK(
        !std::ranges::all_of(spec.blocks, [](const BlockSpec& block) { return library_runs(block.attention); }));
  }
  CATCH_CHECK(compared >= 15);
}

}  // namespace headroom::test
