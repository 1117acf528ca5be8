#include "core/model/non_finite.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/format.h"

namespace headroom {
namespace {

// A loop over bits, since it runs over every weight and a compiler makes vectors of it.
bool any_non_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000u;
  std::uint32_t found = 0;
  for (const float value : values) found |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1u : 0u;
  return found != 0;
}
bool any_non_finite(std::span<const double> values) {
  constexpr std::uint64_t kExponent = 0x7ff0000000000000u;
  std::uint64_t found = 0;
  for (const double value : values) found |= (std::bit_cast<std::uint64_t>(value) & kExponent) == kExponent ? 1u : 0u;
  return found != 0;
}

template <typename Real>
NonFiniteCounts count(std::span<const Real> values) {
  constexpr std::size_t kBlock = 4096;
  NonFiniteCounts counts;
  for (; !values.empty(); values = values.subspan(std::min(values.size(), kBlock))) {
    const std::span<const Real> block = values.first(std::min(values.size(), kBlock));
    if (!any_non_finite(block)) continue;
    for (const Real value : block) {
      if (std::isnan(value)) ++counts.nan;
      if (std::isinf(value)) ++(value > 0 ? counts.positive_infinity : counts.negative_infinity);
    }
  }
  return counts;
}

}  // namespace

NonFiniteCounts& NonFiniteCounts::operator+=(const NonFiniteCounts& other) {
  nan += other.nan;
  positive_infinity += other.positive_infinity;
  negative_infinity += other.negative_infinity;
  return *this;
}

NonFiniteCounts count_non_finite(std::span<const float> values) { return count(values); }
NonFiniteCounts count_non_finite(std::span<const double> values) { return count(values); }

std::string describe(const NonFiniteWeight& weight) {
  std::string kinds;
  const auto add = [&](std::int64_t found, const char* kind) {
    if (found > 0) kinds += (kinds.empty() ? "" : ", ") + format("%lld %s", static_cast<long long>(found), kind);
  };
  add(weight.counts.nan, "NaN");
  add(weight.counts.positive_infinity, "+∞");
  add(weight.counts.negative_infinity, "−∞");
  const std::string place = weight.layer < 0 ? "" : format("layer %lld, ", static_cast<long long>(weight.layer));
  return place + weight.tensor + ": " + kinds + format(" among %lld values", static_cast<long long>(weight.values));
}

template <typename Real>
void NonFiniteLog::add(const WeightRef& weight, std::span<const Real> values, bool rows) {
  const NonFiniteCounts counts = count(values);
  const MutexLock lock(mutex_);
  // Slices without any count too: another slice of their tensor may have some.
  Entry& entry = entries_[weight.tensor];
  (rows ? entry.rows : entry.slices) += counts;
  (rows ? entry.row_values : entry.slice_values) += static_cast<std::int64_t>(values.size());
}

template void NonFiniteLog::add(const WeightRef&, std::span<const float>, bool);
template void NonFiniteLog::add(const WeightRef&, std::span<const double>, bool);

std::vector<NonFiniteWeight> NonFiniteLog::weights(const ModelSpec& model) const {
  const MutexLock lock(mutex_);
  std::vector<NonFiniteWeight> found;
  std::map<std::string_view, std::size_t> place;
  for (const auto& [tensor, entry] : entries_) {
    const bool whole = entry.slice_values > 0;
    const NonFiniteCounts& counts = whole ? entry.slices : entry.rows;
    if (counts.all() == 0) continue;
    place.emplace(tensor, found.size());
    found.push_back({-1, tensor, counts, whole ? entry.slice_values : entry.row_values});
  }
  if (found.empty()) return found;
  for_each_weight(model, [&](const WeightRef& weight, std::string_view, std::int64_t layer) {
    if (const auto at = place.find(weight.tensor); at != place.end()) found[at->second].layer = layer;
  });
  std::ranges::stable_sort(found, {}, &NonFiniteWeight::layer);
  return found;
}

}  // namespace headroom
