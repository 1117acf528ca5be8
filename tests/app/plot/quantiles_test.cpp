// Order statistics by hand and against plain counting; ranges that hold what they say they hold.
#include "app/plot/quantiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

const double kNaN = std::nan(""), kInf = std::numeric_limits<double>::infinity();
using Doubles = std::vector<double>;

CATCH_TEST_CASE("Quantiles lie between order statistics, and only finite values count") {
  CATCH_CHECK(quantile(Doubles{4, 1, 3, 2}, 0.5) == 2.5);
  CATCH_CHECK(quantile(Doubles{4, 1, 3, 2}, 0.25) == 1.75);
  CATCH_CHECK(quantile(Doubles{4, 1, kNaN, 3, kInf, 2, -kInf}, 1.0) == 4.0);
  CATCH_CHECK(quantile(Doubles{7}, 0.3) == 7.0);
  CATCH_CHECK(std::isnan(quantile(Doubles{kNaN}, 0.5)));
  CATCH_CHECK(std::isnan(quantile(Doubles{}, 0.5)));
  CATCH_CHECK(quantile(std::vector<float>{1.0f, 2.0f}, 0.5) == 1.5);
  CATCH_CHECK(quantile(std::vector<std::int64_t>{1, 4}, 0.5) == 2.5);
  CATCH_CHECK(quantiles(Doubles{0, 10}, std::array{0.0, 0.1, 1.0}) == Doubles{0, 1, 10});
}

CATCH_TEST_CASE("Histograms count each value once") {
  const Histogram h = histogram(Doubles{0.0, 0.1, 0.25, 0.5, 0.99, 1.0, -0.1, 1.1, 7.0, kNaN, kInf}, 0.0, 1.0, 4);
  CATCH_CHECK(h.counts == Doubles{2, 1, 1, 2});
  CATCH_CHECK(h.edges == Doubles{0, 0.25, 0.5, 0.75, 1});
  CATCH_CHECK((h.below == 1 && h.above == 2));
  CATCH_CHECK((h.largest() == 2.0 && h.total() == 6.0));
  const Histogram log = histogram(Doubles{0.01, 0.02, 0.1, 0.5, 1.0, 0.0}, 0.01, 1.0, 2, true);
  CATCH_CHECK(log.counts == Doubles{2, 3});
  CATCH_CHECK(log.edges[1] == near(0.1, 1e-12));
  CATCH_CHECK(log.below == 1);
  const std::vector<std::uint8_t> chosen = {1, 0, 1, 0};
  CATCH_CHECK(histogram(Doubles{0.1, 0.1, 0.9, 0.9}, 0.0, 1.0, 2, false, chosen).counts == Doubles{1, 1});
  CATCH_CHECK(histogram(Doubles{1}, 1.0, 1.0, 4).bins() == 0);
  CATCH_CHECK(histogram(Doubles{1}, 0.0, 1.0, 4, true).bins() == 0);
  CATCH_CHECK(histogram(Doubles{1}, 0.0, kNaN, 4).bins() == 0);
}

CATCH_TEST_CASE("Several quantiles are those of the sorted values, in whatever order they are asked for") {
  std::mt19937 random(7);
  const std::array points = {0.25, 0.5, 0.75, 0.0, 1.0, 0.99, 0.01};
  for (std::size_t count = 1; count <= 60; ++count) {
    Doubles values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(random() % 20));
    Doubles sorted = values;
    std::ranges::sort(sorted);
    values.insert(values.begin() + static_cast<std::ptrdiff_t>(count / 2), kNaN);
    const Doubles found = quantiles(values, points);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double at = points[k] * static_cast<double>(count - 1);
      const auto low = static_cast<std::size_t>(at), high = std::min(low + 1, count - 1);
      CATCH_CAPTURE(count, points[k]);
      CATCH_CHECK(found[k] == near(sorted[low] + (at - std::floor(at)) * (sorted[high] - sorted[low]), 1e-12));
    }
  }
  CATCH_CHECK(std::isnan(quantiles(Doubles{kNaN}, points).front()));
}

CATCH_TEST_CASE("Ranges of colours hold most values and say when they clip") {
  Doubles shares;
  for (int i = 0; i <= 1000; ++i) shares.push_back(0.03 + 0.9 * i / 1000.0);
  RobustRange range = robust_range(shares);
  CATCH_CHECK((range.low == 0.0 && range.high == 1.0 && !range.clips_low && !range.clips_high));
  shares.push_back(50.0);
  range = robust_range(shares);
  CATCH_CHECK((range.high == 1.0 && range.clips_high && !range.clips_low));
  range = robust_range(Doubles{kNaN});
  CATCH_CHECK((range.low == 0.0 && range.high == 1.0));
  range = robust_range(Doubles{3.0});
  CATCH_CHECK((range.low <= 3.0 && range.high >= 3.0 && range.low < range.high));

  Doubles weights = {0.0};
  for (int i = 0; i <= 4000; ++i) weights.push_back(std::pow(10.0, -4.0 * i / 4000.0));
  RobustRange log = robust_log_range(weights);
  CATCH_CHECK(log.low == near(1e-4, 1e-9));
  CATCH_CHECK(log.high == near(1.0, 1e-9));
  CATCH_CHECK((log.clips_low && !log.clips_high));  // the zero lies below any floor
  weights.push_back(1e-30);
  CATCH_CHECK(robust_log_range(weights).low == near(1e-4, 1e-9));
  CATCH_CHECK(robust_log_range(Doubles{1e-30, 1e-30, 1.0, 1.0}).low == near(1e-6, 1e-9));  // six decades at most
  log = robust_log_range(Doubles{0.0, -1.0});
  CATCH_CHECK((log.low > 0.0 && log.high > log.low && log.clips_low));

  const RobustRange both = robust_signed_range(Doubles{-0.3, 0.1, 0.2, kInf});
  CATCH_CHECK((both.low == -0.5 && both.high == 0.5 && !both.clips_low && !both.clips_high));
  Doubles outlier(1000, 0.4);
  outlier.push_back(-9.0);
  const RobustRange clipped = robust_signed_range(outlier);
  CATCH_CHECK((clipped.high == 0.5 && clipped.clips_low && !clipped.clips_high));
  CATCH_CHECK(robust_signed_range(Doubles{0.0, 0.0}).high == 1.0);

  std::mt19937 random(21);
  std::normal_distribution<double> normal(0.0, 1.0);
  for (int round = 0; round < 300; ++round) {
    Doubles values;
    const double scale = std::pow(10.0, normal(random) * 3.0), shift = normal(random) * scale * 3.0;
    for (int i = 0; i < 500; ++i) values.push_back(shift + scale * normal(random));
    const RobustRange r = robust_range(values);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    CATCH_CHECK(r.clips_low == (*low < r.low));
    CATCH_CHECK(r.clips_high == (*high > r.high));
    const auto inside =
        std::count_if(values.begin(), values.end(), [&](double v) { return v >= r.low && v <= r.high; });
    CATCH_CHECK(inside >= 485);
  }
}

CATCH_TEST_CASE("Medians of some places ignore what has no value") {
  const Doubles values = {3.0, kNaN, 1.0, 10.0};
  const std::vector<std::size_t> all = {0, 1, 2, 3}, two = {0, 3}, none = {1};
  CATCH_CHECK(median_of(values, all) == 3.0);
  CATCH_CHECK(median_of(values, two) == 6.5);
  CATCH_CHECK(std::isnan(median_of(values, none)));
}

}  // namespace
}  // namespace headroom::test
