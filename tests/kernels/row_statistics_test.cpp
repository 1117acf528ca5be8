// The row kernels against plain loops in double: every length and tail, unaligned starts, holes, all normalisers, and
// entries at the ends of the range. Bounds are argued from the unit roundoff of the kernel's type.
#include "kernels/cpu/row_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

using kernels::KeyRange;
using kernels::MapRowInput;
using kernels::MapRowResult;
using kernels::UniformBins;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Elements with a guard on both sides, starting `shift` elements behind an aligned address.
template <typename Real>
class Guarded {
 public:
  Guarded(std::int64_t size, std::int64_t shift, Real value)
      : shift_(shift), size_(size), elements_(static_cast<std::size_t>(size + shift + 2 * kGuard), Real(-77)) {
    std::fill_n(data(), size, value);
  }
  Real* data() { return elements_.data() + kGuard + shift_; }
  Real& operator[](std::int64_t i) { return data()[i]; }
  [[nodiscard]] bool guards_untouched() {
    const auto untouched = [](Real v) { return v == Real(-77); };
    return std::all_of(elements_.data(), data(), untouched) &&
           std::all_of(data() + size_, elements_.data() + elements_.size(), untouched);
  }

 private:
  static constexpr std::int64_t kGuard = 64;
  std::int64_t shift_, size_;
  std::vector<Real> elements_;
};

struct RowCase {
  std::int64_t first_key = 0;
  std::vector<KeyRange> segments;
  std::int64_t row = 0;
  double scale = 0.37, softcap = 0.0, temperature = 1.0;
  bool has_sink = false;
  double sink = 0.0;
  std::int64_t shift = 0;

  [[nodiscard]] std::int64_t end() const { return segments.empty() ? first_key : segments.back().end; }
  [[nodiscard]] bool sees(std::int64_t key) const {
    for (const KeyRange& segment : segments)
      if (key >= segment.begin && key < segment.end) return true;
    return false;
  }
};

const UniformBins kLogitBins{-4.0, 0.5, 16};
const UniformBins kWeightBins{-6.0, 0.25, 24};

// Found counts are right if entries within `slack` of an edge may fall on either side of it.
void check_histogram(const std::vector<std::int64_t>& counts, const UniformBins& bins,
                     const std::vector<double>& values, double slack) {
  std::int64_t found = 0;
  for (std::int64_t b = 0; b < bins.bins; ++b) {
    found += counts[static_cast<std::size_t>(b)];
    const double edge = b + 1 < bins.bins ? bins.low + bins.width * static_cast<double>(b + 1) : kInfinity;
    const auto below = [&](double limit) {
      return std::count_if(values.begin(), values.end(), [&](double v) { return v < limit; });
    };
    CATCH_INFO("bin " << b);
    CATCH_CHECK(found >= below(edge - slack));
    CATCH_CHECK(found <= below(edge + slack));
  }
}

// Runs the kernel on scores[first_key …] and compares everything it returns and writes with a loop in double.
template <typename Real>
void check_map_row(const RowCase& test, const std::vector<Real>& scores) {
  const double roundoff = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2.0;
  const double least = static_cast<double>(std::numeric_limits<Real>::min());
  const std::int64_t count = test.end() - test.first_key;
  const auto score = [&](std::int64_t key) { return scores[static_cast<std::size_t>(key - test.first_key)]; };

  Guarded<Real> z(count, test.shift, Real(0)), a(count, test.shift + 1, Real(0));
  Guarded<Real> columns(test.end(), test.shift, Real(0.25)), squares(test.end(), test.shift + 2, Real(0));
  for (std::int64_t key = test.first_key; key < test.end(); ++key) z[key - test.first_key] = score(key);
  for (std::int64_t key = 0; key < test.end(); ++key)
    squares[key] = static_cast<Real>(0.5 + 0.01 * static_cast<double>(key % 97));
  std::vector<std::int64_t> logit_histogram(16, 0), weight_histogram(24, 0);
  MapRowInput<Real> input;
  input.scores = z.data();
  input.weights = a.data();
  input.first_key = test.first_key;
  input.segments = test.segments;
  input.row = test.row;
  input.scale = test.scale;
  input.softcap = test.softcap;
  input.temperature = test.temperature;
  input.has_sink = test.has_sink;
  input.sink = test.sink;
  input.value_mean_square = squares.data();
  input.column_sum = columns.data();
  input.logit_bins = kLogitBins;
  input.log10_weight_bins = kWeightBins;
  input.logit_histogram = logit_histogram.data();
  input.weight_histogram = weight_histogram.data();
  MapRowResult found;
  kernels::map_row(input, found);

  CATCH_CHECK(z.guards_untouched());
  CATCH_CHECK(a.guards_untouched());
  CATCH_CHECK(columns.guards_untouched());

  // The row in double.
  std::vector<std::int64_t> keys;
  for (std::int64_t key = test.first_key; key < test.end(); ++key) {
    if (test.sees(key)) {
      keys.push_back(key);
      continue;
    }
    CATCH_CHECK(z[key - test.first_key] == score(key));
    CATCH_CHECK(a[key - test.first_key] == Real(0));
    CATCH_CHECK(columns[key] == Real(0.25));
  }
  for (std::int64_t key = 0; key < test.first_key; ++key) CATCH_CHECK(columns[key] == Real(0.25));
  if (keys.empty()) return;
  std::vector<double> logits, raw;
  for (const std::int64_t key : keys) {
    raw.push_back(test.scale * static_cast<double>(score(key)));
    const double capped = test.softcap > 0.0 ? test.softcap * std::tanh(raw.back() / test.softcap) : raw.back();
    logits.push_back(capped / test.temperature);
  }
  const double high = *std::max_element(logits.begin(), logits.end());
  const double low = *std::min_element(logits.begin(), logits.end());
  const double stabiliser = test.has_sink ? std::max(high, test.sink) : high;
  double total = test.has_sink ? std::exp(test.sink - stabiliser) : 0.0;
  for (const double logit : logits) total += std::exp(logit - stabiliser);
  const double lse = stabiliser + std::log(total);

  // A logit passes through at most four roundings and a tanh of 4 ulp; a weight adds an exponential of 2 ulp and the
  // error of two logits; sums of n positive terms add n roundings. LSE itself is a double, here and there.
  double extent = std::abs(high);
  for (const double logit : logits)
    if (std::isfinite(logit)) extent = std::max(extent, std::abs(logit));
  const double logit_error = 12.0 * roundoff * extent + least;
  const double sum_error = roundoff * static_cast<double>(std::min<std::size_t>(keys.size(), 4096));
  const double lse_error = 4.0 * std::numeric_limits<double>::epsilon() * (std::abs(lse) + std::abs(high));
  const double weight_error = 2.0 * logit_error + 24.0 * roundoff + sum_error + lse_error;

  double entropy = 0.0, squares_sum = 0.0, kept = 0.0, distance = 0.0, distance_scale = 0.0, energy = 0.0,
         largest = 0.0;
  std::vector<double> log10_weights;
  std::int64_t surely_near = 0, maybe_near = 0;
  const double near_limit = 0.0019550348358033506;  // −ln(1 − 2⁻⁹)
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const double weight = std::exp(logits[k] - lse);
    const std::int64_t key = keys[k];
    CATCH_INFO("key " << key);
    if (std::isfinite(logits[k]))
      CATCH_CHECK(static_cast<double>(z[key - test.first_key]) == near(logits[k], 0.0, logit_error));
    else
      CATCH_CHECK(static_cast<double>(z[key - test.first_key]) == logits[k]);
    CATCH_CHECK(static_cast<double>(a[key - test.first_key]) == near(weight, weight_error, least));
    CATCH_CHECK(static_cast<double>(columns[key]) == near(0.25 + weight, weight_error + roundoff));
    if (weight > 0.0) entropy -= weight * std::log(weight);
    squares_sum += weight * weight;
    kept += weight;
    largest = std::max(largest, weight);
    distance += weight * static_cast<double>(test.row - key);
    distance_scale += weight * std::abs(static_cast<double>(test.row - key));
    energy += weight * weight * static_cast<double>(squares[key]);
    log10_weights.push_back((logits[k] - lse) / std::log(10.0));
    surely_near += high - logits[k] <= near_limit - 4.0 * logit_error ? 1 : 0;
    maybe_near += high - logits[k] <= near_limit + 4.0 * logit_error + 4.0 * roundoff ? 1 : 0;
  }
  const double spread = 2.0 + 2.0 * std::log(static_cast<double>(keys.size())) + std::abs(lse - high);
  CATCH_CHECK(found.lse == near(lse, roundoff, weight_error));
  CATCH_CHECK(found.logit_max == near(high, 0.0, logit_error));
  if (std::isfinite(low))
    CATCH_CHECK(found.logit_min == near(low, 0.0, logit_error));
  else
    CATCH_CHECK(found.logit_min == low);
  const double raw_max = *std::max_element(raw.begin(), raw.end());
  CATCH_CHECK(found.logit_max_raw == near(raw_max, 4.0 * roundoff, least));
  CATCH_CHECK(found.entropy == near(entropy, 0.0, weight_error * spread));
  CATCH_CHECK(found.weight_max == near(largest, weight_error));
  CATCH_CHECK(found.weight_l2_squared == near(squares_sum, 2.0 * weight_error));
  CATCH_CHECK(found.weight_sum == near(kept, 2.0 * weight_error));
  CATCH_CHECK(found.weight_total == near(kept, 2.0 * weight_error));
  CATCH_CHECK(found.mean_distance == near(distance, 0.0, 2.0 * weight_error * distance_scale));
  CATCH_CHECK(found.value_energy == near(energy, 3.0 * weight_error, least));
  CATCH_CHECK(found.rounds_to_one >= surely_near);
  CATCH_CHECK(found.rounds_to_one <= maybe_near);
  check_histogram(logit_histogram, kLogitBins, logits, logit_error + 8.0 * roundoff * 4.0);
  check_histogram(weight_histogram, kWeightBins, log10_weights, weight_error + 8.0 * roundoff * (6.0 + std::abs(lse)));
}

template <typename Real>
std::vector<Real> random_scores(std::int64_t count, double deviation, std::uint64_t seed) {
  Random random(seed);
  std::vector<Real> scores;
  for (std::int64_t i = 0; i < count; ++i) scores.push_back(static_cast<Real>(deviation * random.normal()));
  return scores;
}

// body(Real()) for float and double.
template <typename Body>
void for_each_real(const Body& body) {
  CATCH_SECTION("float") { body(float()); }
  CATCH_SECTION("double") { body(double()); }
}

}  // namespace

CATCH_TEST_CASE("map row: equals a loop in double for every length from 0 to 70 and at every alignment") {
  for_each_real([](auto real) {
    using Real = decltype(real);
    for (std::int64_t length = 0; length <= 70; ++length)
      for (const std::int64_t shift : {0, 1, 3}) {
        CATCH_INFO("length " << length << ", shift " << shift);
        const RowCase test{.segments = {{0, length}}, .row = length - 1, .shift = shift};
        check_map_row<Real>(test, random_scores<Real>(length, 4.0, static_cast<std::uint64_t>(length + 1)));
      }
  });
}

CATCH_TEST_CASE("map row: every normaliser, at lengths around the vector widths") {
  for_each_real([](auto real) {
    using Real = decltype(real);
    for (const std::int64_t length : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 59, 97, 111, 128, 1025})
      for (const double softcap : {0.0, 3.0, 50.0})
        for (const double temperature : {1.0, 0.25, 3.0})
          for (const double sink : {-kInfinity, -5.0, 0.0, 2.5, 30.0}) {
            CATCH_INFO("length " << length << ", cap " << softcap << ", temperature " << temperature << ", sink "
                                 << sink);
            RowCase test{.segments = {{0, length}}, .row = length / 2};
            test.softcap = softcap;
            test.temperature = temperature;
            test.has_sink = sink > -kInfinity;
            test.sink = sink;
            check_map_row<Real>(test, random_scores<Real>(length, 6.0, 99));
          }
  });
}

CATCH_TEST_CASE("map row: windows that begin anywhere and rows with hidden keys touch only what they see") {
  for_each_real([](auto real) {
    using Real = decltype(real);
    for (const std::int64_t first : {1, 5, 64, 1000})
      for (const std::int64_t shift : {0, 1, 2}) {
        const std::vector<std::vector<KeyRange>> holes = {
            {{first, first + 1}},
            {{first + 3, first + 4}},
            {{first, first + 16}, {first + 17, first + 40}},
            {{first + 1, first + 2}, {first + 4, first + 5}, {first + 9, first + 31}, {first + 33, first + 66}},
        };
        for (const auto& segments : holes) {
          CATCH_INFO("first key " << first << ", shift " << shift << ", segments " << segments.size());
          const RowCase test{.first_key = first, .segments = segments, .row = segments.back().end + 2, .shift = shift};
          check_map_row<Real>(test, random_scores<Real>(test.end() - first, 3.0, 7));
        }
      }
  });
}

CATCH_TEST_CASE("map row: rows longer than one fold of the sums") {
  for_each_real([](auto real) {
    using Real = decltype(real);
    for (const std::int64_t length : {4095, 4096, 4097, 8192, 10001}) {
      CATCH_INFO("length " << length);
      check_map_row<Real>({.segments = {{0, length}}, .row = length - 1}, random_scores<Real>(length, 4.0, 5));
    }
  });
}

CATCH_TEST_CASE("map row: keys with a logit of −∞ get no weight and leave the others' statistics") {
  for_each_real([](auto real) {
    using Real = decltype(real);
    for (const std::int64_t length : {2, 5, 16, 17, 33, 70})
      for (const std::int64_t every : {2, 3, 7}) {
        CATCH_INFO("length " << length << ", every " << every);
        std::vector<Real> scores = random_scores<Real>(length, 4.0, 6);
        for (std::int64_t i = 1; i < length; i += every)
          scores[static_cast<std::size_t>(i)] = -std::numeric_limits<Real>::infinity();
        check_map_row<Real>({.segments = {{0, length}}, .row = length - 1}, scores);
      }
  });
}

CATCH_TEST_CASE("map row: logits of ±1e4, equal logits and subnormal scores") {
  for_each_real([](auto real) {
    using Real = decltype(real);
    for (const std::int64_t length : {1, 2, 16, 37}) {
      CATCH_INFO("length " << length);
      std::vector<Real> extreme(static_cast<std::size_t>(length)), equal(extreme), tiny(extreme);
      for (std::size_t i = 0; i < extreme.size(); ++i) {
        extreme[i] = i % 3 == 0 ? Real(1e4) : Real(-1e4);
        equal[i] = Real(3.25);
        tiny[i] = std::numeric_limits<Real>::denorm_min() * static_cast<Real>(i % 5);
      }
      for (const bool sink : {false, true})
        for (const auto& scores : {extreme, equal, tiny}) {
          RowCase test{.segments = {{0, length}}, .row = length - 1, .scale = 1.0};
          test.has_sink = sink;
          check_map_row<Real>(test, scores);
        }
    }
  });
}

CATCH_TEST_CASE("map row: weights below the smallest normal number are lost, not wrong") {
  for_each_real([](auto real) {
    using Real = decltype(real);
    // From e⁰ down past the smallest subnormal number of either type.
    std::vector<Real> scores;
    for (int i = 0; i < 67; ++i) scores.push_back(static_cast<Real>(-12.0 * i));
    check_map_row<Real>({.segments = {{0, 67}}, .row = 66, .scale = 1.0}, scores);
  });
}

CATCH_TEST_CASE("map row: without statistics weights and LSE have the same bits") {
  for_each_real([](auto real) {
    using Real = decltype(real);
    for (const std::int64_t length : {1, 15, 16, 70}) {
      const std::vector<Real> scores = random_scores<Real>(length, 4.0, 12);
      const std::vector<KeyRange> segments = {{0, length}};
      std::vector<Real> z(scores), plain_z(scores), a(scores.size()), plain_a(scores.size());
      std::vector<Real> columns(scores.size()), squares(scores.size(), Real(1));
      MapRowInput<Real> input;
      input.scores = z.data();
      input.weights = a.data();
      input.segments = segments;
      input.row = length - 1;
      input.column_sum = columns.data();
      input.value_mean_square = squares.data();
      MapRowResult full, plain;
      kernels::map_row(input, full);
      input.scores = plain_z.data();
      input.weights = plain_a.data();
      input.column_sum = nullptr;
      input.value_mean_square = nullptr;
      input.statistics = false;
      kernels::map_row(input, plain);
      CATCH_CHECK(plain.lse == full.lse);
      CATCH_CHECK(std::memcmp(a.data(), plain_a.data(), a.size() * sizeof(Real)) == 0);
    }
  });
}

CATCH_TEST_CASE("net row: equals a loop in double for every length from 0 to 70, long rows and every λ") {
  for_each_real([](auto real) {
    using Real = decltype(real);
    const double roundoff = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2.0;
    std::vector<std::int64_t> lengths = {97, 128, 1025, 4096, 4097, 9001};
    for (std::int64_t length = 0; length <= 70; ++length) lengths.push_back(length);
    for (const std::int64_t length : lengths)
      for (const double lambda : {0.0, 0.35, 1.0, -2.2}) {
        CATCH_INFO("length " << length << ", λ " << lambda);
        const std::int64_t shift = length % 4;
        Random random(static_cast<std::uint64_t>(length + 2));
        Guarded<Real> first(length, shift, Real(0)), second(length, shift + 1, Real(0)),
            squares(length, shift + 2, Real(0));
        Guarded<Real> net(length, shift + 3, Real(0)), columns(length, shift, Real(0.5));
        for (std::int64_t t = 0; t < length; ++t) {
          first[t] = t % 5 == 3 ? Real(0) : static_cast<Real>(random.uniform());
          second[t] = t % 7 == 2 ? std::numeric_limits<Real>::denorm_min() : static_cast<Real>(random.uniform());
          squares[t] = static_cast<Real>(random.uniform());
        }
        kernels::NetRowInput<Real> input;
        input.first = first.data();
        input.second = second.data();
        input.count = length;
        input.lambda = lambda;
        input.value_mean_square = squares.data();
        input.net = net.data();
        input.column_sum = columns.data();
        kernels::NetRowResult found;
        kernels::net_row(input, found);
        CATCH_CHECK(net.guards_untouched());
        CATCH_CHECK(columns.guards_untouched());
        double sum = 0.0, l1 = 0.0, l2 = 0.0, cross = 0.0, energy = 0.0, mass = 0.0;
        for (std::int64_t t = 0; t < length; ++t) {
          const double x = static_cast<double>(first[t]), y = static_cast<double>(second[t]);
          const double w = x - lambda * y;
          const double error = 3.0 * roundoff * (x + std::abs(lambda) * y) + std::numeric_limits<Real>::min();
          CATCH_CHECK(static_cast<double>(net[t]) == near(w, 0.0, error));
          CATCH_CHECK(static_cast<double>(columns[t]) == near(0.5 + w, 2.0 * roundoff, error));
          sum += w;
          l1 += std::abs(w);
          l2 += w * w;
          cross += x * y;
          energy += w * w * static_cast<double>(squares[t]);
          mass += x + std::abs(lambda) * y;
        }
        const double bound = (8.0 + static_cast<double>(std::min<std::int64_t>(length, 4096))) * roundoff;
        CATCH_CHECK(found.weight_sum == near(sum, 0.0, bound * mass));
        CATCH_CHECK(found.weight_l1 == near(l1, 0.0, bound * mass));
        CATCH_CHECK(found.weight_l2_squared == near(l2, 0.0, 2.0 * bound * mass * (1.0 + std::abs(lambda))));
        CATCH_CHECK(found.cross == near(cross, bound));
        CATCH_CHECK(found.value_energy == near(energy, 0.0, 2.0 * bound * mass * (1.0 + std::abs(lambda))));
      }
  });
}

CATCH_TEST_CASE("row kernels: the target that was chosen has a name") {
  CATCH_CHECK(!std::string(kernels::row_kernel_target()).empty());
}

}  // namespace headroom::test
