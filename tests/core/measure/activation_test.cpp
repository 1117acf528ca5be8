// Kurtosis and the largest over the median activation against their definitions, written out.
#include "core/measure/activation.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {

CATCH_TEST_CASE("activation: kurtosis of a few numbers by hand") {
  // Mean 3, distances −2 … 2: squares sum to 10, fourths to 34; σ² = 10/4.
  CATCH_CHECK(kurtosis(std::vector<double>{1, 2, 3, 4, 5}) == near(34.0 / 5.0 / (2.5 * 2.5 + 1e-6), 1e-14));
  // One number among n − 1 zeros: about n, whatever its size and sign.
  std::vector<double> lone(1000, 0.0);
  lone[17] = -50.0;
  CATCH_CHECK(kurtosis(lone) == near(1000.0, 0.01));
  // Two values, as often each: 1.
  std::vector<double> even;
  for (std::size_t i = 0; i < 10000; ++i) even.push_back(i % 2 == 0 ? 7.0 : 9.0);
  CATCH_CHECK(kurtosis(even) == near(1.0, 1e-3));
  // Equal ones deviate by nothing, and 1e-6 keeps that from being 0/0.
  CATCH_CHECK(kurtosis(std::vector<double>{2, 2, 2}) == 0.0);
  CATCH_CHECK(std::isnan(kurtosis(std::vector<double>{1})));
  CATCH_CHECK(std::isnan(kurtosis({})));
}

CATCH_TEST_CASE("activation: kurtosis is 3 for a normal distribution and 1.8 for a uniform one") {
  std::vector<double> normal, uniform;
  // Box and Muller on a grid.
  constexpr int kSteps = 300;
  for (int i = 0; i < kSteps; ++i)
    for (int j = 0; j < kSteps; ++j) {
      const double u = (i + 0.5) / kSteps, v = (j + 0.5) / kSteps;
      normal.push_back(std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::acos(-1.0) * v));
      uniform.push_back(u);
    }
  CATCH_CHECK(kurtosis(normal) == near(3.0, 0.01));
  CATCH_CHECK(kurtosis(uniform) == near(1.8, 0.001));
}

CATCH_TEST_CASE("activation: the largest size over the median size, of odd and even numbers of them") {
  CATCH_CHECK(largest_over_median(std::vector<double>{-8, 1, 2}) == 4.0);
  CATCH_CHECK(largest_over_median(std::vector<double>{1, -3, 12, 5}) == 3.0);  // the median of an even number is 4
  CATCH_CHECK(largest_over_median(std::vector<double>{-7}) == 1.0);
  CATCH_CHECK(std::isinf(largest_over_median(std::vector<double>{0, 0, 5})));
  CATCH_CHECK(std::isnan(largest_over_median({})));
}

}  // namespace headroom::test
