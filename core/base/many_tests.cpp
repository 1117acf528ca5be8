#include "core/base/many_tests.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace headroom {

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (!std::isnan(p[i])) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  std::vector<double> adjusted(p.begin(), p.end());
  double least = 1.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto rank = static_cast<double>(order.size() - k);
    least = std::min(least, p[order[k]] * static_cast<double>(order.size()) / rank);
    adjusted[order[k]] = least;
  }
  return adjusted;
}

}  // namespace headroom
