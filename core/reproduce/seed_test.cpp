#include "core/reproduce/seed_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/student.h"

namespace headroom {
namespace {

Spread present(const Spread& numbers) {
  Spread result;
  std::ranges::copy_if(numbers.values, std::back_inserter(result.values),
                       [](double value) { return !std::isnan(value); });
  return result;
}

// Sets effect, error, degrees and p of a t test. Numbers without any spread, such as counts, leave t no error to go by:
// their p is that of the permutation test, of which `arrangements` are all.
void set_t(SeedTest& test, double effect, double error, double degrees, double arrangements) {
  test.effect = test.shown = effect;
  test.error = error;
  test.degrees = degrees;
  test.p = error > 0.0 ? student_two_sided(effect / error, degrees) : effect == 0.0 ? 1.0 : 2.0 / arrangements;
}

// Ways to choose n of n + m.
double choices(double n, double m) {
  return std::exp(std::lgamma(n + m + 1.0) - std::lgamma(n + 1.0) - std::lgamma(m + 1.0));
}

SeedTest paired_test(const Spread& differences) {
  SeedTest test;
  test.kind = SeedTestKind::Paired;
  test.count = test.other_count = static_cast<std::int64_t>(differences.values.size());
  const auto n = static_cast<double>(test.count);
  set_t(test, differences.mean(), differences.deviation() / std::sqrt(n), n - 1.0, std::exp2(n));
  return test;
}

// Welch (1947): the degrees of freedom are those that match the variance of the estimated variance.
SeedTest welch_test(const Spread& left, const Spread& right) {
  SeedTest test;
  test.kind = SeedTestKind::Welch;
  test.count = static_cast<std::int64_t>(left.values.size());
  test.other_count = static_cast<std::int64_t>(right.values.size());
  const auto n = static_cast<double>(test.count), m = static_cast<double>(test.other_count);
  const double a = left.deviation() * left.deviation() / n, b = right.deviation() * right.deviation() / m;
  const double degrees = a + b > 0.0 ? (a + b) * (a + b) / (a * a / (n - 1.0) + b * b / (m - 1.0)) : n + m - 2.0;
  set_t(test, right.mean() - left.mean(), std::sqrt(a + b), degrees, choices(n, m));
  return test;
}

}  // namespace

const char* kind_text(SeedTestKind kind) {
  switch (kind) {
    case SeedTestKind::Paired: return "paired t";
    case SeedTestKind::Welch: return "Welch's t";
    case SeedTestKind::Inside: return "t";
    case SeedTestKind::Binomial: return "binomial";
  }
  return "";
}

SeedTest::Interval SeedTest::interval(double level) const {
  if (kind == SeedTestKind::Binomial) {
    const ShareInterval share = share_interval(successes, count, level);
    return {share.low, share.high};
  }
  if (!(error > 0.0)) return {kNaN, kNaN};
  const double half = student_point(level, degrees) * error;
  return {shown - half, shown + half};
}

double SeedTest::detectable(double level) const {
  if (kind == SeedTestKind::Binomial) return binomial_detectable(count, expected, level, kPower);
  return error > 0.0 ? student_detectable(degrees, level, kPower) * error : kNaN;
}

std::optional<SeedTest> test_smaller(const Spread& left, const Spread& right, const Start& start) {
  Spread differences;
  for (std::size_t i = 0; i < std::min(left.values.size(), right.values.size()); ++i)
    if (const double value = right.values[i] - left.values[i]; !std::isnan(value)) differences.values.push_back(value);
  const Spread a = present(left), b = present(right);
  if (a.values.size() < 2 || b.values.size() < 2) return std::nullopt;
  const bool pairs = differences.values.size() >= 2;
  if (start.paired() && !pairs) return std::nullopt;
  SeedTest test = welch_test(a, b);
  if (!pairs) return test;
  SeedTest other = paired_test(differences);
  if (start.paired()) std::swap(test, other);
  test.other = SeedTest::OtherWay{other.kind, other.effect, other.p};
  return test;
}

std::optional<SeedTest> test_inside(const Spread& numbers, double low, double high) {
  const Spread all = present(numbers);
  if (all.values.size() < 2) return std::nullopt;
  SeedTest test;
  test.kind = SeedTestKind::Inside;
  test.count = static_cast<std::int64_t>(all.values.size());
  const auto n = static_cast<double>(test.count);
  set_t(test, std::min(all.mean() - low, high - all.mean()), all.deviation() / std::sqrt(n), n - 1.0, std::exp2(n));
  test.shown = all.mean();
  return test;
}

std::optional<SeedTest> test_share(std::int64_t successes, std::int64_t trials, double expected) {
  if (trials < 2) return std::nullopt;
  SeedTest test;
  test.kind = SeedTestKind::Binomial;
  test.count = trials;
  test.successes = successes;
  test.expected = expected;
  test.shown = static_cast<double>(successes) / static_cast<double>(trials);
  test.effect = test.shown - expected;
  test.p = binomial_test(successes, trials, expected);
  return test;
}

std::vector<HolmStep> holm(const std::vector<double>& p, double error) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<HolmStep> steps(p.size());
  bool ended = false;
  double level = 0.0, adjusted = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto left = static_cast<double>(p.size() - k);
    HolmStep& step = steps[order[k]];
    if (!ended) level = error / left;
    ended = ended || !(p[order[k]] < level);
    adjusted = std::max(adjusted, std::min(1.0, left * p[order[k]]));
    step = {!ended, level, adjusted};
  }
  return steps;
}

}  // namespace headroom
