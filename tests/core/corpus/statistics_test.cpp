// Exact sums, statistics over sequences and sketches: small cases worked out by hand, larger ones against long double
// and sorting, which share nothing with the code under test. tests/oracle/test_corpus.py compares whole files with
// NumPy.
#include "core/corpus/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/base/numbers.h"
#include "core/corpus/exact_sum.h"
#include "core/corpus/sketch.h"
#include "core/measure/head_view.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

ExactMoments moments_of(const std::vector<float>& values) {
  ExactMoments moments;
  for (const float value : values) moments.add(value);
  return moments;
}

std::vector<float> numbers(std::uint32_t seed, int count, int low, int high) {
  std::mt19937 random(seed);
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    const float mantissa = 1.0F + static_cast<float>(random() % 8388608) / 8388608.0F;
    const int exponent = low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    values.push_back(std::ldexp(random() % 2 == 0 ? mantissa : -mantissa, exponent));
  }
  return values;
}

}  // namespace

CATCH_TEST_CASE("exact sums: any order and any parts come to the same bits") {
  std::vector<float> values = numbers(1, 3000, -149, 127);
  const ExactMoments whole = moments_of(values);
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    const std::size_t cut = random() % values.size();
    ExactMoments parts = moments_of({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(cut)});
    parts.add(moments_of({values.begin() + static_cast<std::ptrdiff_t>(cut), values.end()}));
    CATCH_CHECK(parts.words() == whole.words());
    CATCH_CHECK(parts.mean() == whole.mean());
    CATCH_CHECK(parts.deviation() == whole.deviation());
    CATCH_CHECK(ExactMoments::from_words(parts.words()).deviation() == whole.deviation());
  }
}

CATCH_TEST_CASE("exact sums: what cancels leaves what is there") {
  const float huge = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
  CATCH_CHECK(moments_of({huge, least, -huge}).mean() == static_cast<double>(least) / 3.0);
  CATCH_CHECK(moments_of({huge, huge, huge}).mean() == static_cast<double>(huge));
  CATCH_CHECK(moments_of({huge, huge, huge}).deviation() == 0.0);
  CATCH_CHECK(moments_of({-least, -least}).mean() == -static_cast<double>(least));
  CATCH_CHECK(moments_of({huge, -huge}).deviation() == near(static_cast<double>(huge) * std::sqrt(2.0), 1e-15));
  // Nearly equal numbers: their spread is one unit of the last place.
  const float one = std::nextafter(1000.0F, 2000.0F);
  CATCH_CHECK(moments_of({1000.0F, 1000.0F, one, one}).deviation() ==
              near(static_cast<double>(one - 1000.0F) / std::sqrt(3.0), 1e-15));
}

CATCH_TEST_CASE("exact sums: moderate numbers agree with long double") {
  for (std::uint32_t seed = 3; seed < 9; ++seed) {
    const std::vector<float> values = numbers(seed, 500, -6, 6);
    long double sum = 0.0L, squares = 0.0L;
    for (const float value : values) sum += value;
    const long double mean = sum / 500.0L;
    for (const float value : values) squares += (value - mean) * (value - mean);
    const ExactMoments moments = moments_of(values);
    CATCH_CHECK(moments.mean() == near(static_cast<double>(mean), 1e-15, 1e-17));
    CATCH_CHECK(moments.deviation() == near(static_cast<double>(std::sqrt(squares / 499.0L)), 1e-14));
    CATCH_CHECK(moments.least() == static_cast<double>(*std::ranges::min_element(values)));
    CATCH_CHECK(moments.most() == static_cast<double>(*std::ranges::max_element(values)));
  }
}

CATCH_TEST_CASE("exact sums: NaN is left out, infinities are not hidden, one number has no spread") {
  const float infinity = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
  CATCH_CHECK(moments_of({1.0F, none, 3.0F}).count() == 2);
  CATCH_CHECK(moments_of({1.0F, none, 3.0F}).mean() == 2.0);
  CATCH_CHECK(std::isnan(moments_of({none}).mean()));
  CATCH_CHECK(std::isnan(moments_of({5.0F}).deviation()));
  CATCH_CHECK(moments_of({1.0F, infinity}).mean() == kInfinity);
  CATCH_CHECK(moments_of({1.0F, -infinity}).least() == -kInfinity);
  CATCH_CHECK(std::isnan(moments_of({infinity, -infinity}).mean()));
  CATCH_CHECK(std::isnan(moments_of({1.0F, infinity}).deviation()));
}

CATCH_TEST_CASE("corpus statistics: documents are what is independent") {
  // Documents 10: 1, 3; 20: 5; 30: 7, 9, 11. Mean 6; sums about it −8, −1, 9; 3/2 · 146 = 219; √219/6.
  const std::vector<std::int64_t> documents = {10, 20, 30, 10, 30, 30};
  const std::vector<double> values = {1, 5, 7, 3, 9, 11};
  const SequenceStatistics statistics(documents, 0);
  CATCH_CHECK(statistics.documents() == 3);
  const StatisticValues result = statistics.compute(values, 1).front();
  CATCH_CHECK(of(result, Statistic::Mean) == 6.0);
  CATCH_CHECK(of(result, Statistic::Deviation) == near(std::sqrt(70.0 / 5.0), 1e-15));
  CATCH_CHECK(of(result, Statistic::StandardError) == near(std::sqrt(219.0) / 6.0, 1e-15));
  CATCH_CHECK(of(result, Statistic::CiHigh) == near(6.0 + 4.302652729911275 * std::sqrt(219.0) / 6.0, 1e-9));
  CATCH_CHECK(of(result, Statistic::Least) == 1.0);
  CATCH_CHECK(of(result, Statistic::Most) == 11.0);
  CATCH_CHECK(of(result, Statistic::Count) == 6.0);
  // Resamples lie between the smallest and the largest mean of a document.
  CATCH_CHECK(of(result, Statistic::BootstrapLow) == 2.0);
  CATCH_CHECK(of(result, Statistic::BootstrapHigh) == 9.0);
}

CATCH_TEST_CASE("corpus statistics: one sequence a document is the standard error of the mean") {
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  std::vector<std::int64_t> documents;
  for (std::size_t s = 0; s < values.size(); ++s) documents.push_back(static_cast<std::int64_t>(s));
  const StatisticValues result = SequenceStatistics(documents, 0).compute(values, 1).front();
  CATCH_CHECK(of(result, Statistic::StandardError) == near(of(result, Statistic::Deviation) / std::sqrt(8.0), 1e-14));
  const double half = of(result, Statistic::CiHigh) - of(result, Statistic::Mean);
  CATCH_CHECK(half / of(result, Statistic::StandardError) == near(2.364624, 1e-6));
}

// The definition read aloud: resample by resample, then sorted, then type 7.
std::array<double, 2> bootstrap_of(const std::vector<std::int64_t>& documents, const std::vector<double>& values,
                                   std::size_t columns, std::size_t column, std::uint64_t seed) {
  const std::size_t count = static_cast<std::size_t>(*std::ranges::max_element(documents)) + 1;
  std::vector<double> sums(count, 0.0), numbers_of(count, 0.0), means;
  for (std::size_t s = 0; s < documents.size(); ++s)
    if (const double x = values[s * columns + column]; !std::isnan(x))
      sums[static_cast<std::size_t>(documents[s])] += x, numbers_of[static_cast<std::size_t>(documents[s])] += 1.0;
  for (std::uint64_t b = 0; b < 2000; ++b) {
    std::vector<double> times(count, 0.0);
    for (const std::int64_t d : bootstrap_draws(seed, b, static_cast<std::int64_t>(count)))
      times[static_cast<std::size_t>(d)] += 1.0;
    double sum = 0.0, number = 0.0;
    for (std::size_t d = 0; d < count; ++d)
      if (times[d] > 0.0) sum += times[d] * sums[d], number += times[d] * numbers_of[d];
    if (number > 0.0) means.push_back(sum / number);
  }
  std::ranges::sort(means);
  std::array<double, 2> ends{};
  for (std::size_t end = 0; end < 2; ++end) {
    const double position = (end == 0 ? 0.025 : 0.975) * static_cast<double>(means.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    ends[end] = means[below] + (position - static_cast<double>(below)) * (means[below + 1] - means[below]);
  }
  return ends;
}

CATCH_TEST_CASE("corpus statistics: the bootstrap has the bits of its definition") {
  std::mt19937 random(21);
  std::normal_distribution<double> normal;
  constexpr std::size_t kSequences = 90, kColumns = 70;
  std::vector<std::int64_t> documents;
  for (std::size_t s = 0; s < kSequences; ++s) documents.push_back(static_cast<std::int64_t>(s % 41));
  for (const bool missing : {false, true}) {
    std::vector<double> values;
    for (std::size_t s = 0; s < kSequences; ++s)
      for (std::size_t c = 0; c < kColumns; ++c) {
        // Ordinary, far from symmetric, one number for all, hardly any two alike, large.
        const double x = normal(random);
        values.push_back(c % 11 == 4  ? kNaN  // none at all
                         : c % 5 == 0 ? 3.0 + x
                         : c % 5 == 1 ? std::exp(4.0 * x)
                         : c % 5 == 2 ? 0.1
                         : c % 5 == 3 ? (s == 17 ? 1.0 : 0.0)
                                      : 1e6 + 1e-3 * x);
      }
    if (missing)
      for (std::size_t i = 0; i < values.size(); i += 13) values[i] = kNaN;
    const std::vector<StatisticValues> results = SequenceStatistics(documents, 5).compute(values, kColumns);
    for (std::size_t c = 0; c < kColumns; ++c) {
      if (c % 11 == 4) {
        CATCH_CHECK(std::isnan(of(results[c], Statistic::BootstrapLow)));
        continue;
      }
      const std::array<double, 2> wanted = bootstrap_of(documents, values, kColumns, c, 5);
      CATCH_INFO("column " << c << (missing ? ", some missing" : ""));
      CATCH_CHECK(of(results[c], Statistic::BootstrapLow) == wanted[0]);
      CATCH_CHECK(of(results[c], Statistic::BootstrapHigh) == wanted[1]);
    }
  }
}

CATCH_TEST_CASE("corpus statistics: what is missing is left out, and one document has no interval") {
  const std::vector<std::int64_t> documents = {0, 0, 1, 2};
  const std::vector<double> values = {1.0, kNaN, 2.0, kNaN, 3.0, kNaN, kNaN, 8.0};  // two columns
  const std::vector<StatisticValues> results = SequenceStatistics(documents, 0).compute(values, 2);
  CATCH_CHECK(of(results[0], Statistic::Count) == 3.0);
  CATCH_CHECK(of(results[0], Statistic::Mean) == 2.0);
  CATCH_CHECK(of(results[0], Statistic::StandardError) == near(std::sqrt(2.0 * 2.0) / 3.0, 1e-15));  // −1, 1
  CATCH_CHECK(of(results[1], Statistic::Count) == 1.0);
  CATCH_CHECK(of(results[1], Statistic::Mean) == 8.0);
  CATCH_CHECK(std::isnan(of(results[1], Statistic::Deviation)));
  CATCH_CHECK(std::isnan(of(results[1], Statistic::StandardError)));
  CATCH_CHECK(std::isnan(of(results[1], Statistic::BootstrapLow)));
  const std::vector<double> nothing = {kNaN, kNaN, kNaN, kNaN};
  CATCH_CHECK(of(SequenceStatistics(documents, 0).compute(nothing, 1).front(), Statistic::Count) == 0.0);
  const std::vector<std::int64_t> one = {4, 4};
  const std::vector<double> pair = {1.0, 2.0};
  const StatisticValues alone = SequenceStatistics(one, 0).compute(pair, 1).front();
  CATCH_CHECK(of(alone, Statistic::Mean) == 1.5);
  CATCH_CHECK(std::isnan(of(alone, Statistic::CiLow)));
}

CATCH_TEST_CASE("corpus statistics: of many columns each has the bits that it has alone") {
  std::mt19937 random(7);
  constexpr std::size_t kSequences = 30, kColumns = 200;
  std::vector<std::int64_t> documents;
  for (std::size_t s = 0; s < kSequences; ++s) documents.push_back(static_cast<std::int64_t>(random() % 11));
  std::vector<double> values;
  for (const float value : numbers(8, kSequences * kColumns, -3, 3)) values.push_back(static_cast<double>(value));
  for (const bool complete : {true, false}) {
    if (!complete)
      for (std::size_t i = 0; i < values.size(); i += 17) values[i] = kNaN;
    const SequenceStatistics statistics(documents, 0);
    const std::vector<StatisticValues> together = statistics.compute(values, kColumns);
    bool equal = true;
    for (std::size_t c = 0; c < kColumns; ++c) {
      std::vector<double> column;
      for (std::size_t s = 0; s < kSequences; ++s) column.push_back(values[s * kColumns + c]);
      equal = equal && statistics.compute(column, 1).front() == together[c];
      equal = equal && of(together[c], Statistic::BootstrapLow) < of(together[c], Statistic::BootstrapHigh);
    }
    CATCH_CHECK(equal);
  }
}

CATCH_TEST_CASE("corpus statistics: draws of the bootstrap") {
  CATCH_CHECK(bootstrap_draws(0, 0, 8) == std::vector<std::int64_t>{1, 2, 4, 6, 0, 6, 3, 2});
  for (const std::int64_t d : bootstrap_draws(77, 1999, 20000)) CATCH_REQUIRE((d >= 0 && d < 20000));
}

CATCH_TEST_CASE("corpus statistics: quantiles of type 7") {
  const std::vector<double> values = {5, 1, 4, 2, 3};
  CATCH_CHECK(quantiles(values, {0.5}).front() == 3.0);
  CATCH_CHECK(quantiles(values, {0.1}).front() == near(1.4, 1e-15));
  CATCH_CHECK(quantiles(values, {0.0}).front() == 1.0);
  CATCH_CHECK(quantiles(values, {1.0}).front() == 5.0);
  const std::vector<double> one = {7};
  CATCH_CHECK(quantiles(one, {0.975}).front() == 7.0);
  // One and two points are selected, more are looked up among the sorted.
  const std::vector<double> all = quantiles(values, {0.025, 0.5, 0.975});
  CATCH_CHECK(quantiles(values, {0.025, 0.975}) == std::vector<double>{all[0], all[2]});
}

CATCH_TEST_CASE("sketches: a quantile is within half a percent, or half a bin, of the sorted values") {
  std::mt19937 random(5);
  std::normal_distribution<double> normal(-1.0, 3.0);
  const auto draw = [&](std::mt19937& from) { return std::exp(normal(from)); };
  for (const bool logarithmic : {true, false}) {
    const SketchBins bins = logarithmic ? log_bins(1e-5, 1e5) : linear_bins(-2.0, 30.0, 1.0 / 64.0);
    std::vector<double> values;
    for (int i = 0; i < 5000; ++i) values.push_back(logarithmic ? draw(random) : std::fmod(draw(random), 30.0) - 1.0);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(bins.bins), 0);
    for (const double value : values) ++counts[static_cast<std::size_t>(bins.bin_of(value))];
    std::ranges::sort(values);
    for (const double p : {0.0, 0.001, 0.05, 0.25, 0.5, 0.9, 0.999, 1.0}) {
      const double exact = values[static_cast<std::size_t>(std::floor(p * 4999.0))];
      const double found = sketch_quantile(bins, counts, values.front(), values.back(), p);
      CATCH_INFO(p);
      if (exact > 1e-5 && exact < 1e5) CATCH_CHECK(found == near(exact, logarithmic ? 0.00501 : 0.0, 1.01 / 128.0));
      if (p == 0.0 || p == 1.0) CATCH_CHECK(found == exact);
    }
  }
}

CATCH_TEST_CASE("sketches: what lies beyond the bins is in the outer ones, and no quantile leaves the extremes") {
  const SketchBins bins = log_bins(1e-5, 1e5);
  for (const double low : {0.0, -1.0, 1e-300, 1e-6}) CATCH_CHECK(bins.bin_of(low) == 0);
  for (const double high : {1e6, kInfinity}) CATCH_CHECK(bins.bin_of(high) == bins.bins - 1);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins.bins), 0);
  counts.front() = 3;
  CATCH_CHECK(sketch_quantile(bins, counts, 0.0, 0.0, 0.5) == 0.0);
  CATCH_CHECK(std::isnan(sketch_quantile(bins, std::vector<std::int64_t>(4, 0), kNaN, kNaN, 0.5)));
  // Bounds are those of the paper: bin i holds (γ^(i−1), γ^i].
  const double gamma = 1.005 / 0.995;
  CATCH_CHECK(bins.bin_of(1.0) == -bins.first);
  CATCH_CHECK(bins.bin_of(1.0 + 1e-12) == 1 - bins.first);
  CATCH_CHECK(bins.value_of(-bins.first) == near(2.0 / (gamma + 1.0), 1e-14));
}

}  // namespace headroom::test
