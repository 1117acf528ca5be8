// Experts against the equations of their papers, written out row by row: who is chosen, with which weight, and what
// comes of it.
#include "core/compute/feed_forward.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr std::int64_t kRows = 23, kHidden = 5, kInner = 4, kExperts = 6;

at::Tensor numbers(at::IntArrayRef shape) { return at::randn(shape, at::TensorOptions().dtype(at::kDouble)); }

std::vector<double> row_of(const at::Tensor& x, std::int64_t row) {
  const at::Tensor flat = x.select(0, row).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

std::vector<double> softmax(const std::vector<double>& z) {
  const double most = *std::ranges::max_element(z);
  std::vector<double> p;
  for (const double value : z) p.push_back(std::exp(value - most));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= sum;
  return p;
}

// Indices of the largest, largest first.
std::vector<std::size_t> best_of(const std::vector<double>& values, std::size_t count) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  order.resize(count);
  return order;
}

using Shares = std::map<std::int64_t, double>;  // expert → weight

void check_routing(const Routing& found, const std::vector<Shares>& expected) {
  CATCH_REQUIRE(found.weights.size(0) == static_cast<std::int64_t>(expected.size()));
  for (std::int64_t row = 0; row < found.weights.size(0); ++row) {
    const Shares& shares = expected[static_cast<std::size_t>(row)];
    CATCH_REQUIRE(found.weights.size(1) == static_cast<std::int64_t>(shares.size()));
    for (std::int64_t k = 0; k < found.weights.size(1); ++k) {
      const auto expert = found.experts[row][k].item<std::int64_t>();
      CATCH_INFO("row " << row << ", expert " << expert);
      CATCH_REQUIRE(shares.contains(expert));
      CATCH_CHECK(std::abs(found.weights[row][k].item<double>() - shares.at(expert)) < 1e-13);
    }
  }
}

struct Router {
  RouterSpec spec;
  RouterWeights weights;
  at::Tensor x, logits;

  explicit Router(std::int64_t chosen) {
    at::manual_seed(11);
    spec.chosen = chosen;
    weights.logits = {numbers({kExperts, kHidden}), numbers({kExperts})};
    x = numbers({kRows, kHidden});
    logits = at::mm(x, weights.logits.weight.t()) + weights.logits.bias;
  }
  [[nodiscard]] Routing run() const { return route(spec, weights, x, at::kDouble); }
};

MlpSpec gated() {
  MlpSpec mlp;
  mlp.kind = MlpKind::Gated;
  return mlp;
}

// Parameters by name.
class Parameters final : public WeightProvider {
 public:
  Parameters() : WeightProvider({at::kDouble, at::kDouble, at::kCPU}) {}
  using WeightProvider::load;
  [[nodiscard]] Result<at::Tensor> load(const WeightRef& weight) const override {
    if (!weight.present()) return at::Tensor();
    ++read[weight.tensor];
    if (weight.tensor == broken) return Error(ErrorCode::Io, "cannot be read");
    return values.at(weight.tensor);
  }
  std::map<std::string, at::Tensor> values;
  std::string broken;
  mutable std::map<std::string, int> read;
};

struct Mixture {
  ExpertsSpec spec;
  Parameters parameters;

  Mixture() {
    at::manual_seed(5);
    for (std::int64_t e = 0; e < kExperts; ++e) {
      MlpSpec mlp = gated();
      const auto name = [&](const char* part) { return std::to_string(e) + part; };
      for (const auto& [linear, part] : {std::pair(&mlp.gate, "gate"), std::pair(&mlp.up, "up")}) {
        linear->weight = {.tensor = name(part), .stored_shape = {kInner, kHidden}};
        parameters.values[name(part)] = numbers({kInner, kHidden});
      }
      mlp.down.weight = {.tensor = name("down"), .stored_shape = {kHidden, kInner}};
      parameters.values[name("down")] = numbers({kHidden, kInner});
      spec.experts.push_back(mlp);
    }
  }
  [[nodiscard]] at::Tensor expert(std::int64_t e, const at::Tensor& x) const {
    const auto part = [&](const char* name) { return parameters.values.at(std::to_string(e) + name); };
    const at::Tensor gate = at::mm(x, part("gate").t());
    return at::mm(gate * at::sigmoid(gate) * at::mm(x, part("up").t()), part("down").t());
  }
};

}  // namespace

CATCH_TEST_CASE("experts: softmax over all or over the chosen, normalised, scaled") {
  Router router(3);
  for (const bool of_chosen : {false, true})
    for (const bool normalised : {false, true})
      for (const double scale : {1.0, 2.5}) {
        router.spec.score = of_chosen ? RouterScore::SoftmaxChosen : RouterScore::Softmax;
        router.spec.normalised = normalised;
        router.spec.scale = scale;
        std::vector<Shares> expected;
        for (std::int64_t row = 0; row < kRows; ++row) {
          const std::vector<double> z = row_of(router.logits, row), all = softmax(z);
          const std::vector<std::size_t> best = best_of(z, 3);
          std::vector<double> chosen, weights;
          for (const std::size_t e : best) chosen.push_back(z[e]);
          for (const std::size_t e : best) weights.push_back(all[e]);
          if (of_chosen) weights = softmax(chosen);
          const double sum = normalised ? std::accumulate(weights.begin(), weights.end(), 0.0) : 1.0;
          Shares shares;
          for (std::size_t k = 0; k < 3; ++k) shares[static_cast<std::int64_t>(best[k])] = scale * weights[k] / sum;
          expected.push_back(shares);
        }
        check_routing(router.run(), expected);
      }
}

CATCH_TEST_CASE("experts: sigmoid scores, a bias of the choice alone, the best groups") {
  Router router(2);
  router.spec.score = RouterScore::Sigmoid;
  router.spec.normalised = true;
  router.spec.epsilon = 0.125;
  router.spec.groups = 3;
  router.spec.group_best = 2;
  router.weights.choice_bias = numbers({kExperts}) * 2.0;
  const std::vector<double> bias = row_of(router.weights.choice_bias.unsqueeze(0), 0);
  for (const std::int64_t groups : {1, 2, 3}) {
    router.spec.chosen_groups = groups;
    std::vector<Shares> expected;
    for (std::int64_t row = 0; row < kRows; ++row) {
      std::vector<double> score = row_of(router.logits, row), choice;
      for (double& z : score) z = 1.0 / (1.0 + std::exp(-z));
      for (std::size_t e = 0; e < score.size(); ++e) choice.push_back(score[e] + bias[e]);
      std::vector<double> group_scores;
      for (std::size_t g = 0; g < 3; ++g) group_scores.push_back(choice[2 * g] + choice[2 * g + 1]);
      std::vector<double> allowed(kExperts, -1e300);
      for (const std::size_t g : best_of(group_scores, static_cast<std::size_t>(groups)))
        for (const std::size_t e : {2 * g, 2 * g + 1}) allowed[e] = choice[e];
      const std::vector<std::size_t> best = best_of(allowed, 2);
      const double sum = score[best[0]] + score[best[1]] + 0.125;
      expected.push_back({{static_cast<std::int64_t>(best[0]), score[best[0]] / sum},
                          {static_cast<std::int64_t>(best[1]), score[best[1]] / sum}});
    }
    check_routing(router.run(), expected);
  }
}

CATCH_TEST_CASE("experts: the sparse mixer takes the best, then the best of the rest") {
  Router router(2);
  router.spec.score = RouterScore::SparseMixer;
  for (const double jitter : {0.01, 0.2, 10.0}) {
    router.spec.jitter = jitter;
    std::vector<Shares> expected;
    for (std::int64_t row = 0; row < kRows; ++row) {
      const std::vector<double> z = row_of(router.logits, row);
      const std::vector<std::size_t> best = best_of(z, 2);
      Shares shares;
      for (std::size_t k = 0; k < 2; ++k) {
        double sum = 0.0;
        for (std::size_t e = 0; e < z.size(); ++e) {
          const bool taken = k == 1 && e == best[0];
          const bool far = (z[best[k]] - z[e]) / std::max(std::abs(z[e]), z[best[k]]) > 2.0 * jitter;
          if (!taken && !far) sum += std::exp(z[e] - z[best[k]]);
        }
        shares[static_cast<std::int64_t>(best[k])] = 1.0 / sum;
      }
      expected.push_back(shares);
    }
    check_routing(router.run(), expected);
  }
}

CATCH_TEST_CASE("experts: each row gets the weighted sum of its own, and only the chosen are read") {
  Mixture mixture;
  const at::Tensor x = numbers({kRows, kHidden});
  // Expert 4 is never chosen.
  const std::int64_t pairs[][2] = {{0, 3}, {5, 1}, {3, 5}, {2, 0}};
  Routing routing{at::empty({kRows, 2}, at::kDouble), at::empty({kRows, 2}, at::kLong)};
  at::Tensor expected = at::zeros({kRows, kHidden}, at::kDouble);
  for (std::int64_t row = 0; row < kRows; ++row)
    for (std::int64_t k = 0; k < 2; ++k) {
      const std::int64_t e = pairs[row % 4][k];
      const double weight = 0.1 + 0.3 * static_cast<double>((row * 2 + k) % 5);
      routing.experts[row][k] = e;
      routing.weights[row][k] = weight;
      expected.narrow(0, row, 1).add_(mixture.expert(e, x.narrow(0, row, 1)) * weight);
    }
  for (const std::int64_t most_rows : {1, 3, 1000}) {
    mixture.parameters.read.clear();
    double last = 0.0;
    const auto out = run_experts(mixture.parameters, mixture.spec, routing, x, most_rows, [&](double share) {
      CATCH_CHECK(share >= last);
      last = share;
      return true;
    });
    CATCH_REQUIRE(out.has_value());
    CATCH_CHECK((*out - expected).abs().max().item<double>() < 1e-13);
    for (std::int64_t e = 0; e < kExperts; ++e)
      for (const char* part : {"gate", "up", "down"})
        CATCH_CHECK(mixture.parameters.read[std::to_string(e) + part] == (e == 4 ? 0 : 1));
  }
}

CATCH_TEST_CASE("experts: clamped gates, as gpt-oss has them") {
  at::manual_seed(2);
  MlpSpec mlp = gated();
  mlp.activation = Activation::QuickGelu;
  mlp.limit = 0.7;
  mlp.up_offset = 1.0;
  MlpWeights weights;
  weights.gate = {numbers({kInner, kHidden}), numbers({kInner})};
  weights.up = {numbers({kInner, kHidden}), numbers({kInner})};
  weights.down = {numbers({kHidden, kInner}), numbers({kHidden})};
  const at::Tensor x = numbers({kRows, kHidden});
  const at::Tensor gate = at::clamp_max(at::mm(x, weights.gate.weight.t()) + weights.gate.bias, 0.7);
  const at::Tensor up = at::clamp(at::mm(x, weights.up.weight.t()) + weights.up.bias, -0.7, 0.7);
  CATCH_CHECK(gate.lt(0.7).any().item<bool>());
  const at::Tensor expected =
      at::mm((up + 1.0) * gate * at::sigmoid(1.702 * gate), weights.down.weight.t()) + weights.down.bias;
  CATCH_CHECK((weights(mlp, x) - expected).abs().max().item<double>() < 1e-13);
}

CATCH_TEST_CASE("experts: an error of reading comes back, and stopping ends between two chunks") {
  Mixture mixture;
  const at::Tensor x = numbers({kRows, kHidden});
  const Routing routing{at::ones({kRows, 1}, at::kDouble), at::arange(kRows, at::kLong).remainder(6).unsqueeze(1)};
  const auto run = [&](const std::function<bool(double)>& go_on) {
    return run_experts(mixture.parameters, mixture.spec, routing, x, 2, go_on);
  };
  CATCH_CHECK(run([](double) { return true; }).has_value());
  const auto cancelled = run([](double share) { return share < 0.3; });
  CATCH_REQUIRE_FALSE(cancelled.has_value());
  CATCH_CHECK(cancelled.error().code == ErrorCode::Cancelled);
  mixture.parameters.broken = "3up";
  const auto broken = run([](double) { return true; });
  CATCH_REQUIRE_FALSE(broken.has_value());
  CATCH_CHECK(broken.error().code == ErrorCode::Io);
}

CATCH_TEST_CASE("experts: the record of a routing goes by weight, and equal weights by number") {
  const Routing routing{at::tensor({0.25, 0.5, 0.25, 0.1, 0.1, 0.3}, at::kDouble).view({2, 3}),
                        at::tensor({4, 0, 2, 5, 1, 4}, at::kLong).view({2, 3})};
  const RouterRecord record = record_of(routing, 7, kExperts);
  CATCH_CHECK(record.layer == 7);
  CATCH_CHECK(record.experts == kExperts);
  CATCH_CHECK(record.chosen == 3);
  CATCH_CHECK(record.length() == 2);
  CATCH_CHECK(record.index == std::vector<std::uint16_t>{0, 2, 4, 4, 1, 5});
  CATCH_CHECK(record.weight == std::vector<double>{0.5, 0.25, 0.25, 0.3, 0.1, 0.1});
  CATCH_CHECK(record.tokens_per_expert() == std::vector<std::int64_t>{1, 1, 1, 0, 2, 1});
}

}  // namespace headroom::test
