// Small pieces that the entries of the quantity table share. Pure functions; safe from any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/numbers.h"
#include "core/run/quantity.h"

namespace headroom::quantity {

using Context = QuantityContext;
using Out = std::span<double>;
using kernels::MapStatistics;

inline const MapStatistics& map(const Context& c, std::size_t m) { return c.head.head.statistics.maps[m]; }
inline double at(const std::vector<double>& values, std::int64_t row) { return values[static_cast<std::size_t>(row)]; }

// out[m] = value(map m) for the maps there are, NaN for the others.
template <typename Value>
void per_component(const Context& c, Out out, const Value& value) {
  for (std::size_t m = 0; m < 2; ++m) out[m] = c.head.has[m] ? value(map(c, m)) : kNaN;
}

// out[m] = mean over eligible rows of value(map m, row).
template <typename Value>
void component_means(const Context& c, Out out, const Value& value) {
  per_component(c, out,
                [&](const MapStatistics& m) { return c.head.mean([&](std::int64_t row) { return value(m, row); }); });
}

inline double largest(const std::vector<double>& values) {
  double result = -std::numeric_limits<double>::infinity();
  for (const double value : values) result = std::max(result, value);
  return values.empty() ? kNaN : result;
}

inline double smallest(const std::vector<double>& values) {
  double result = std::numeric_limits<double>::infinity();
  for (const double value : values) result = std::min(result, value);
  return values.empty() ? kNaN : result;
}

// 1/√(RMS_i² + ε) of DIFF V1's head norm; the head must have one.
[[nodiscard]] double norm_gain(const Context& c, std::int64_t row);

inline const std::vector<std::string_view> kNoAxes = {};
inline const std::vector<std::string_view> kByComponent = {axis::kComponent};
inline const std::vector<std::string_view> kByPosition = {axis::kPosition};
inline const std::vector<std::string_view> kByComponentPosition = {axis::kComponent, axis::kPosition};

}  // namespace headroom::quantity
