#include "core/circuits/spectra.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/numbers.h"

namespace headroom {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const RowMajor> view(const Thin& matrix) { return {matrix.values.data(), matrix.rows, matrix.columns}; }

Thin kept(const RowMajor& matrix) {
  Thin result(matrix.rows(), matrix.cols());
  std::copy_n(matrix.data(), matrix.size(), result.values.data());
  return result;
}

}  // namespace

Thin triangle(const Thin& factor) {
  const std::int64_t r = std::min(factor.rows, factor.columns);
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(view(factor));
  const RowMajor upper = qr.matrixQR().topRows(r).triangularView<Eigen::Upper>();
  return kept(upper);
}

std::vector<double> singular_values(const Thin& left_triangle, const Thin& right_triangle) {
  const Eigen::MatrixXd small = view(left_triangle) * view(right_triangle).transpose();
  if (!small.allFinite()) return {};
  const Eigen::BDCSVD<Eigen::MatrixXd> svd(small);
  const auto& found = svd.singularValues();
  std::vector<double> values(found.data(), found.data() + found.size());
  values.resize(static_cast<std::size_t>(left_triangle.columns), 0.0);
  return values;
}

Thin times_turned(const Thin& a, const Thin& b) { return kept(view(a) * view(b).transpose()); }

double frobenius(const Thin& matrix) {
  double sum = 0.0;
  for (const double value : matrix.values) sum += value * value;
  return std::sqrt(sum);
}

double effective_rank(std::span<const double> singular) {
  double squares = 0.0, fourths = 0.0;
  for (const double value : singular) squares += value * value, fourths += value * value * value * value;
  return fourths > 0.0 ? squares * squares / fourths : kNaN;
}

std::vector<std::complex<double>> eigenvalues(const Thin& matrix) {
  const Eigen::MatrixXd square = view(matrix);
  if (!square.allFinite()) return {};
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(square, false);
  if (solver.info() != Eigen::Success) return {};
  const auto& found = solver.eigenvalues();
  std::vector<std::complex<double>> values(found.data(), found.data() + found.size());
  std::ranges::stable_sort(values, [](const auto& a, const auto& b) {
    const double x = std::abs(a), y = std::abs(b);
    if (x != y) return x > y;
    return a.imag() > b.imag();
  });
  return values;
}

double real_share(std::span<const std::complex<double>> values) {
  double real = 0.0, size = 0.0;
  for (const auto& value : values) real += value.real(), size += std::abs(value);
  return size > 0.0 ? real / size : kNaN;
}

double cosine(const Thin& a, const Thin& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b.values[i];
  const double norms = frobenius(a) * frobenius(b);
  return norms > 0.0 ? sum / norms : kNaN;
}

double product_cosine(const Thin& left1, const Thin& right1, double norm1, const Thin& left2, const Thin& right2,
                      double norm2) {
  const Thin left = product(left1, left2), right = product(right1, right2);
  double sum = 0.0;
  for (std::size_t i = 0; i < left.values.size(); ++i) sum += left.values[i] * right.values[i];
  const double norms = norm1 * norm2;
  return norms > 0.0 ? sum / norms : kNaN;
}

}  // namespace headroom
