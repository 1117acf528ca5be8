// C += Aᵀ B against three loops in long double: sizes round every edge of the tiles, strides, and every target.
#include "kernels/cpu/product.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/target.h"
#include "tests/support/catch.h"

namespace headroom::kernels {
namespace {

template <typename Real>
void check(std::int64_t depth, std::int64_t rows, std::int64_t columns, double tolerance) {
  std::mt19937 generator(static_cast<unsigned>(depth * 7 + rows * 3 + columns));
  std::normal_distribution<double> normal;
  const std::int64_t a_stride = rows + 3, b_stride = columns + 1, c_stride = columns + 2;
  std::vector<Real> a(static_cast<std::size_t>(depth * a_stride)), b(static_cast<std::size_t>(depth * b_stride));
  for (Real& value : a) value = static_cast<Real>(normal(generator));
  for (Real& value : b) value = static_cast<Real>(normal(generator));
  std::vector<Real> c(static_cast<std::size_t>(rows * c_stride), Real{0.5});
  add_product(a.data(), a_stride, b.data(), b_stride, depth, rows, columns, c.data(), c_stride);
  double worst = 0.0;
  bool untouched = true;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < c_stride; ++j) {
      const Real found = c[static_cast<std::size_t>(i * c_stride + j)];
      if (j >= columns) {
        untouched = untouched && found == Real{0.5};
        continue;
      }
      long double sum = 0.5L;
      for (std::int64_t k = 0; k < depth; ++k)
        sum += static_cast<long double>(a[static_cast<std::size_t>(k * a_stride + i)]) *
               b[static_cast<std::size_t>(k * b_stride + j)];
      worst = std::max(worst, std::abs(static_cast<double>(sum) - static_cast<double>(found)));
    }
  CATCH_INFO(depth << " " << rows << " " << columns);
  CATCH_CHECK(worst <= tolerance * std::sqrt(static_cast<double>(depth) + 1.0));
  CATCH_CHECK(untouched);
}

}  // namespace

CATCH_TEST_CASE("products of columns equal three loops", "[product]") {
  for (const std::string& target : cpu_targets()) {
    CATCH_REQUIRE(choose_cpu_target(target));
    for (const std::int64_t depth : {1, 2, 255, 256, 257, 600})
      for (const std::int64_t rows : {1, 5, 6, 7, 13})
        for (const std::int64_t columns : {1, 15, 16, 17, 33, 513}) {
          check<double>(depth, rows, columns, 1e-14);
          check<float>(depth, rows, columns, 5e-6);
        }
  }
  CATCH_CHECK(choose_cpu_target(""));
}

}  // namespace headroom::kernels
