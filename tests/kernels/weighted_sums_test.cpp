// Sums of rows, each so many times, in the bits that plain loops have.
#include "kernels/cpu/weighted_sums.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {

CATCH_TEST_CASE("weighted sums: the bits of a plain loop, for any number of rows and columns") {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (const std::int64_t rows : {0, 1, 7, 32, 129})
    for (const std::int64_t columns : {1, 7, 31, 32, 33, 64, 70}) {
      const std::int64_t stride = columns + 5;
      std::vector<double> values(static_cast<std::size_t>(rows * stride)), times(static_cast<std::size_t>(rows));
      for (double& value : values) value = normal(random);
      for (double& time : times) time = static_cast<double>(random() % 4);
      std::vector<double> sums(static_cast<std::size_t>(columns), -1.0);
      kernels::weighted_sums(times.data(), rows, values.data(), stride, columns, sums.data());
      std::size_t wrong = 0;
      for (std::int64_t c = 0; c < columns; ++c) {
        double sum = 0.0;
        for (std::int64_t r = 0; r < rows; ++r) {
          const double product = times[static_cast<std::size_t>(r)] * values[static_cast<std::size_t>(r * stride + c)];
          sum += product;
        }
        wrong += sums[static_cast<std::size_t>(c)] == sum ? 0 : 1;
      }
      CATCH_INFO(rows << " rows, " << columns << " columns");
      CATCH_CHECK(wrong == 0);
    }
}

}  // namespace headroom::test
