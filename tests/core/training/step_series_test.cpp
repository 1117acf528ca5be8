// Series by step: every range has the smallest and the largest of what lies in it, whatever is thinned; means and bins
// as their formulas say, written out here.
#include "core/training/step_series.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(2.0f, 1.0f);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

}  // namespace

CATCH_TEST_CASE("step series: a range has the smallest and the largest of its values, at any length") {
  for (const std::size_t count : {1U, 15U, 16U, 17U, 300U, 4097U, 70000U}) {
    std::vector<float> values = random_values(count, static_cast<std::uint32_t>(count));
    for (std::size_t i = 7; i < count; i += 97) values[i] = kNan;
    if (count > 40) values[33] = 1000.0f;  // a spike of one step
    const StepSeries series(values);
    std::mt19937 random(3);
    for (int i = 0; i < 400; ++i) {
      std::size_t begin = random() % (count + 1), end = random() % (count + 1);
      if (begin > end) std::swap(begin, end);
      float low = std::numeric_limits<float>::infinity(), high = -low;
      for (std::size_t k = begin; k < end; ++k)
        if (std::isfinite(values[k])) low = std::min(low, values[k]), high = std::max(high, values[k]);
      const LowHigh found = series.range(begin, end);
      CATCH_INFO(count << " values, [" << begin << ", " << end << ")");
      CATCH_REQUIRE(found.empty() == (low > high));
      CATCH_REQUIRE(found.low == low);
      CATCH_REQUIRE(found.high == high);
    }
  }
}

CATCH_TEST_CASE("step series: the nearest step, and none beyond the end") {
  const StepSeries series({0, 20, 40, 100}, {1.0f, 2.0f, 3.0f, 4.0f});
  CATCH_CHECK(series.nearest(0) == 0U);
  CATCH_CHECK(series.nearest(10) == 0U);  // the earlier of two as near
  CATCH_CHECK(series.nearest(11) == 1U);
  CATCH_CHECK(series.nearest(69) == 2U);
  CATCH_CHECK(series.nearest(71) == 3U);
  CATCH_CHECK(series.nearest(160) == 3U);
  CATCH_CHECK_FALSE(series.nearest(161).has_value());
  CATCH_CHECK_FALSE(StepSeries().nearest(0).has_value());
  const StepSeries each({5.0f, 6.0f, 7.0f});
  CATCH_CHECK(each.nearest(1) == 1U);
  CATCH_CHECK(each.last_step() == 2);
  CATCH_CHECK(each.index_of(9) == 3U);
  // A step that goes back ends what is read.
  const StepSeries back({0, 10, 10, 20}, {1.0f, 2.0f, 3.0f, 4.0f});
  CATCH_CHECK(back.size() == 2U);
  CATCH_CHECK(back.last_step() == 10);
}

CATCH_TEST_CASE("step series: means of so many steps, largest of each bin, the end, and the first in a row") {
  std::vector<float> values = random_values(200, 9);
  values[50] = kNan;
  const StepSeries series(values);
  const StepSeries mean = mean_of_steps(series, 11);
  CATCH_REQUIRE(mean.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double sum = 0.0;
    int count = 0;
    for (std::size_t k = i < 5 ? 0 : i - 5; k <= std::min<std::size_t>(i + 5, 199); ++k)
      if (std::isfinite(values[k])) sum += static_cast<double>(values[k]), ++count;
    CATCH_REQUIRE(std::abs(static_cast<double>(mean.values()[i]) - sum / count) < 1e-5);
  }
  const StepSeries largest = largest_of_steps(series, 7);
  CATCH_REQUIRE(largest.size() == 29U);
  for (std::size_t b = 0; b < 29; ++b) {
    float high = -100.0f;
    for (std::size_t k = 7 * b; k < std::min<std::size_t>(7 * b + 7, 200); ++k)
      if (std::isfinite(values[k])) high = std::max(high, values[k]);
    CATCH_REQUIRE(largest.values()[b] == high);
    CATCH_REQUIRE(largest.step(b) == static_cast<std::int64_t>(7 * b));
  }
  CATCH_CHECK(mean_of_steps(series, 1).values()[3] == values[3]);
  const StepSeries sparse({0, 100, 600, 900, 1000}, {9.0f, 9.0f, 1.0f, 2.0f, 3.0f});
  CATCH_CHECK(mean_at_end(sparse, 500) == 2.0);  // steps 501 … 1000: 600, 900 and 1000
  CATCH_CHECK(mean_at_end(sparse, 100) == 3.0);  // steps 901 … 1000
  CATCH_CHECK(std::isnan(mean_at_end(StepSeries(), 500)));
  const StepSeries rises({0, 20, 40, 60, 80, 100, 120}, {0.6f, 0.1f, 0.6f, 0.6f, 0.2f, 0.6f, 0.6f});
  CATCH_CHECK_FALSE(first_above(rises, 0.5, 3).has_value());
  CATCH_CHECK(first_above(rises, 0.5, 2) == 40);
  CATCH_CHECK(first_above(rises, 0.05, 3) == 0);
  CATCH_CHECK_FALSE(first_above(rises, 0.6f, 1).has_value());  // over it, not at it
}

}  // namespace headroom::test
