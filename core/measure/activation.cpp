#include "core/measure/activation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/base/numbers.h"

namespace headroom {

double kurtosis(std::span<const double> values) {
  if (values.size() < 2) return kNaN;
  const auto count = static_cast<double>(values.size());
  double mean = 0.0;
  for (const double value : values) mean += value / count;
  double squares = 0.0, fourths = 0.0;
  for (const double value : values) {
    const double square = (value - mean) * (value - mean);
    squares += square;
    fourths += square * square;
  }
  constexpr double kSmall = 1e-6;
  const double variance = squares / (count - 1.0);
  return fourths / count / (variance * variance + kSmall);
}

double largest_over_median(std::span<const double> values) {
  if (values.empty()) return kNaN;
  std::vector<double> sizes;
  sizes.reserve(values.size());
  for (const double value : values) sizes.push_back(std::abs(value));
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  double median = *middle;
  if (sizes.size() % 2 == 0) median = 0.5 * (median + *std::max_element(sizes.begin(), middle));
  return *std::max_element(middle, sizes.end()) / median;
}

}  // namespace headroom
