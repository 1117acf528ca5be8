// Small pieces that the entries of the quantity table share. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/numbers.h"
#include "core/measure/quantity.h"

namespace headroom::quantity {

using Context = QuantityContext;
using Out = std::span<double>;
using kernels::MapStatistics;

inline const MapStatistics& map(const Context& c, std::size_t m) { return c.head.head.statistics.maps[m]; }
inline double at(const std::vector<double>& values, std::int64_t row) { return values[static_cast<std::size_t>(row)]; }

// N₁ of a row; NaN where it has no softmax, whose count is 0.
inline double rounded_to_one(const MapStatistics& m, std::int64_t row) {
  const double count = static_cast<double>(m.rounds_to_one[static_cast<std::size_t>(row)]);
  return at(m.lse, row) == at(m.lse, row) ? count : at(m.lse, row);
}

// out[m] = value(map m) for the maps there are, NaN for the others.
template <typename Value>
void per_component(const Context& c, Out out, const Value& value) {
  for (std::size_t m = 0; m < 2; ++m) out[m] = c.head.has[m] ? value(map(c, m)) : kNaN;
}

inline void rounding_errors(const Context& c, Out out, double RoundingErrors::* error) {
  for (std::size_t m = 0; m < 2; ++m) out[m] = c.head.has[m] ? c.head.head.rounding[m].*error : kNaN;
}

// out[m] = mean over eligible rows of value(map m, row).
template <typename Value>
void component_means(const Context& c, Out out, const Value& value) {
  per_component(c, out,
                [&](const MapStatistics& m) { return c.head.mean([&](std::int64_t row) { return value(m, row); }); });
}

// NaN where one of them is, or there are none.
inline double largest(const std::vector<double>& values) {
  double result = -kInfinity;
  for (const double value : values) result = kernels::larger_or_nan(result, value);
  return values.empty() ? kNaN : result;
}

inline double smallest(const std::vector<double>& values) {
  double result = -kInfinity;
  for (const double value : values) result = kernels::larger_or_nan(result, -value);
  return values.empty() ? kNaN : -result;
}

// (‖w_i‖₁ − Σ_j w_ij) / 2; rounding does not make it negative.
inline double negative_mass(const kernels::HeadStatistics& s, std::int64_t row) {
  return kernels::larger_or_nan(0.0, at(s.weight_l1, row) - at(s.weight_sum, row)) / 2.0;
}

// 1/√(RMS_i² + ε) of DIFF V1's head norm; the head must have one.
[[nodiscard]] double norm_gain(const Context& c, std::int64_t row);

inline const std::vector<std::string_view> kNoAxes = {};
inline const std::vector<std::string_view> kByComponent = {axis::kComponent};
inline const std::vector<std::string_view> kByPosition = {axis::kPosition};
inline const std::vector<std::string_view> kByComponentPosition = {axis::kComponent, axis::kPosition};

}  // namespace headroom::quantity
