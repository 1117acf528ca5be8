// Singular values, ranks and eigenvalues of thin products: of matrices whose values are known by construction.
#include "core/circuits/spectra.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/circuits/vocabulary.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

Thin random_thin(std::int64_t rows, std::int64_t columns, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Thin matrix(rows, columns);
  for (double& value : matrix.values) value = normal(generator);
  return matrix;
}

// Columns of length 1 at right angles, by Gram and Schmidt.
Thin orthonormal(std::int64_t rows, std::int64_t columns, unsigned seed) {
  Thin matrix = random_thin(rows, columns, seed);
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t other = 0; other < c; ++other) {
      double dot = 0.0;
      for (std::int64_t r = 0; r < rows; ++r) dot += matrix.row(r)[c] * matrix.row(r)[other];
      for (std::int64_t r = 0; r < rows; ++r) matrix.row(r)[c] -= dot * matrix.row(r)[other];
    }
    double squares = 0.0;
    for (std::int64_t r = 0; r < rows; ++r) squares += matrix.row(r)[c] * matrix.row(r)[c];
    for (std::int64_t r = 0; r < rows; ++r) matrix.row(r)[c] /= std::sqrt(squares);
  }
  return matrix;
}

}  // namespace

CATCH_TEST_CASE("singular values of U diag(σ) Vᵀ are σ, whatever U and V", "[circuits]") {
  const std::vector<double> sigma = {9.0, 4.0, 1.0, 0.25, 0.0};
  Thin left = orthonormal(40, 5, 1);
  const Thin right = orthonormal(40, 5, 2);
  for (std::int64_t r = 0; r < left.rows; ++r)
    for (std::int64_t c = 0; c < left.columns; ++c) left.row(r)[c] *= sigma[static_cast<std::size_t>(c)];
  const std::vector<double> found = singular_values(triangle(left), triangle(right));
  CATCH_REQUIRE(found.size() == sigma.size());
  for (std::size_t i = 0; i < sigma.size(); ++i) CATCH_CHECK(std::abs(found[i] - sigma[i]) < 1e-12);
  const double squares = 81 + 16 + 1 + 0.0625, fourths = 6561 + 256 + 1 + 0.00390625;
  CATCH_CHECK(std::abs(effective_rank(found) - squares * squares / fourths) < 1e-9);
}

CATCH_TEST_CASE("factors wider than they are high keep as many values as they have columns", "[circuits]") {
  const std::vector<double> found = singular_values(triangle(random_thin(3, 5, 4)), triangle(random_thin(3, 5, 5)));
  CATCH_REQUIRE(found.size() == 5);
  CATCH_CHECK(found[2] > 0.0);
  CATCH_CHECK(found[3] == 0.0);
}

CATCH_TEST_CASE("eigenvalues come by size, and their real share says which way they point", "[circuits]") {
  // A rotation by 90° scaled by 2 has ±2i; beside it stand 3 and −1.
  Thin matrix(4, 4);
  matrix.row(0)[1] = -2.0, matrix.row(1)[0] = 2.0, matrix.row(2)[2] = 3.0, matrix.row(3)[3] = -1.0;
  const std::vector<std::complex<double>> found = eigenvalues(matrix);
  CATCH_REQUIRE(found.size() == 4);
  CATCH_CHECK(std::abs(found[0] - std::complex<double>(3.0, 0.0)) < 1e-12);
  CATCH_CHECK(std::abs(found[1] - std::complex<double>(0.0, 2.0)) < 1e-12);
  CATCH_CHECK(std::abs(found[2] - std::complex<double>(0.0, -2.0)) < 1e-12);
  CATCH_CHECK(std::abs(found[3] - std::complex<double>(-1.0, 0.0)) < 1e-12);
  CATCH_CHECK(std::abs(real_share(found) - (3.0 - 1.0) / (3.0 + 2.0 + 2.0 + 1.0)) < 1e-12);
}

CATCH_TEST_CASE("what is not finite has no spectrum", "[circuits]") {
  Thin matrix = random_thin(4, 4, 7);
  matrix.row(1)[2] = std::nan("");
  CATCH_CHECK(eigenvalues(matrix).empty());
  CATCH_CHECK(singular_values(matrix, matrix).empty());
  CATCH_CHECK(std::isnan(effective_rank({})));
  CATCH_CHECK(std::isnan(real_share({})));
}

CATCH_TEST_CASE("the cosine of two products is that of the matrices themselves", "[circuits]") {
  const Thin a = random_thin(12, 3, 1), b = random_thin(12, 3, 2), c = random_thin(12, 3, 3), d = random_thin(12, 3, 4);
  double dot = 0.0, first = 0.0, second = 0.0;
  for (std::int64_t i = 0; i < 12; ++i)
    for (std::int64_t j = 0; j < 12; ++j) {
      double x = 0.0, y = 0.0;
      for (std::int64_t k = 0; k < 3; ++k) x += a.row(i)[k] * b.row(j)[k], y += c.row(i)[k] * d.row(j)[k];
      dot += x * y, first += x * x, second += y * y;
    }
  CATCH_CHECK(std::abs(product_cosine(a, b, std::sqrt(first), c, d, std::sqrt(second)) -
                       dot / std::sqrt(first * second)) < 1e-12);
}

}  // namespace headroom
