#include "core/model/distance_bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace headroom {

std::vector<double> alibi_slopes(std::int64_t heads, double most) {
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const double step = most / static_cast<double>(power);
  std::vector<double> slopes;
  for (std::int64_t h = 0; h < heads; ++h) {
    const double steps = h < power ? static_cast<double>(h + 1) : static_cast<double>(h - power) + 0.5;
    slopes.push_back(std::exp2(-step * steps));
  }
  return slopes;
}

std::int64_t distance_bucket(std::int64_t distance, std::int64_t buckets, const DistanceBiasSpec& spec) {
  std::int64_t first = 0;
  if (spec.bidirectional) {
    buckets /= 2;
    first = distance < 0 ? buckets : 0;
    distance = std::abs(distance);
  }
  distance = std::max<std::int64_t>(distance, 0);
  const std::int64_t near = buckets / 2;
  if (distance < near) return first + distance;
  const auto widest = static_cast<float>(std::log(static_cast<double>(spec.max_distance) / static_cast<double>(near)));
  const float share = std::log(static_cast<float>(distance) / static_cast<float>(near)) / widest;
  const float steps = share * static_cast<float>(buckets - near);
  const auto last = static_cast<float>(buckets - 1 - near);
  return first + near + static_cast<std::int64_t>(std::clamp(steps, 0.0f, last));
}

DistanceBias distance_bias(const DistanceBiasSpec& spec, std::span<const double> table, std::int64_t heads,
                           std::int64_t ahead, std::int64_t behind) {
  DistanceBias bias{ahead, behind, {}};
  bias.values.resize(static_cast<std::size_t>(heads * bias.distances()));
  const std::int64_t buckets = static_cast<std::int64_t>(table.size()) / std::max<std::int64_t>(heads, 1);
  for (std::int64_t d = -ahead; d <= behind; ++d) {
    const std::int64_t bucket = spec.slopes.empty() ? distance_bucket(d, buckets, spec) : 0;
    for (std::int64_t h = 0; h < heads; ++h)
      bias.values[static_cast<std::size_t>(h * bias.distances() + ahead + d)] =
          spec.slopes.empty() ? table[static_cast<std::size_t>(bucket * heads + h)]
                              : -spec.slopes[static_cast<std::size_t>(h)] * static_cast<double>(std::abs(d));
  }
  return bias;
}

}  // namespace headroom
