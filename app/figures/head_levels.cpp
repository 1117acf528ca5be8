#include "app/figures/head_levels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "app/plot/quantiles.h"
#include "core/run/head_values.h"

namespace headroom {

HeadLevels head_levels(const RunSnapshot& run, const QuantityRef& ref, double epsilon) {
  HeadLevels levels;
  if (ref.info == nullptr) return levels;
  levels.own = ref.info->threshold.has_value();
  if (levels.own || ref.info->sink_null) levels.threshold = ref.info->threshold.value_or(epsilon);
  if (const double uniform = null_level(run, ref); std::isfinite(uniform)) levels.uniform = uniform;
  levels.reference = ref.info->reference;
  return levels;
}

std::vector<std::vector<double>> layer_quantiles(std::span<const double> values, std::size_t heads,
                                                 std::span<const double> points) {
  std::vector<std::vector<double>> by_point(points.size());
  for (std::size_t from = 0; heads > 0 && from + heads <= values.size(); from += heads) {
    const std::vector<double> found = quantiles(values.subspan(from, heads), points);
    for (std::size_t p = 0; p < points.size(); ++p) by_point[p].push_back(found[p]);
  }
  return by_point;
}

std::vector<std::size_t> points_at_ends(std::span<const double> x, std::span<const double> y) {
  constexpr std::size_t kLargest = 3, kSmallest = 2;
  std::vector<std::size_t> all(x.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  // Of equal ones the first is the larger.
  const auto first = [&](std::span<const double> values, std::size_t count, bool largest) {
    std::vector<std::size_t> found = all;
    const std::size_t kept = std::min(count, found.size());
    std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(kept),
                              [&](std::size_t a, std::size_t b) {
                                if (values[a] != values[b])
                                  return largest ? values[a] > values[b] : values[a] < values[b];
                                return largest ? a < b : a > b;
                              });
    found.resize(kept);
    return found;
  };
  const std::vector<std::size_t> high_x = first(x, kLargest, true), high_y = first(y, kLargest, true),
                                 low_x = first(x, kSmallest, false), low_y = first(y, kSmallest, false);
  std::vector<std::size_t> ends;
  for (std::size_t k = 0; k < kLargest; ++k)
    for (const auto* list : {&high_x, &high_y, &low_y, &low_x})
      if (k < list->size() && std::ranges::find(ends, (*list)[k]) == ends.end()) ends.push_back((*list)[k]);
  return ends;
}

}  // namespace headroom
