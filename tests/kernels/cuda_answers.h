// What the CUDA kernels answer, emulated or on a device, against the scalar reference. Plain functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/attention.h"
#include "kernels/reference/attention.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {

// Of the kernels' own arithmetic. A logit is off by some float32 roundings of z itself, 2⁻²⁴ · |z| each, and so is a
// weight, relative to its size; |z| of the table stays below 50. Sums over the up to 200 rows or keys add less.
inline constexpr double kTolerance = 1e-5;
inline constexpr double kCountShare = 1e-3;  // of entries that may round across the edge of a bin

// On a device the tensor cores cut what they align, where a float32 sum is rounded: each of the up to 16 sums of a
// product of 256 channels may be off by 2⁻²³ of its largest term. On an H100 the largest error of the table was 1.1e-5,
// of a half. Three terms leave them every 16 channels, and are held to the tolerance of the arithmetic.
template <class Input>
inline constexpr double kDeviceTolerance = 3e-5;
template <>
inline constexpr double kDeviceTolerance<float> = kTolerance;

// The weights that meet the values are rounded to the input's format, as in every flash attention: by at most half a
// step of each. A context is off by that much of Σ aⱼ|vⱼ|, of both maps of a pair, however far their difference
// cancels.
template <class Input>
inline constexpr double kContextTolerance = 0.0;  // none beyond that of the arithmetic
template <>
inline constexpr double kContextTolerance<kernels::BFloat16> = 4e-3;
template <>
inline constexpr double kContextTolerance<kernels::Float16> = 5e-4;

// Σ aⱼ|vⱼ| of each row and channel, both maps added: the context of |v| and −|λ|.
inline std::vector<double> magnitudes(kernels::HeadProblem<double> problem, std::size_t size) {
  std::vector<double> values[2], lambda, context(size);
  for (std::size_t m = 0; m < 2; ++m) {
    kernels::MapInput<double>& map = problem.maps[m];
    if (!map.present()) continue;
    for (std::int64_t j = 0; j < problem.mask.length; ++j)
      for (std::int64_t c = 0; c < problem.value_dim; ++c)
        values[m].push_back(std::abs(map.value[j * map.value_stride + c]));
    map.value = values[m].data();
    map.value_stride = problem.value_dim;
  }
  if (problem.lambda != nullptr) {
    for (std::int64_t i = 0; i < problem.mask.length; ++i) lambda.push_back(-std::abs(problem.lambda[i]));
    problem.lambda = lambda.data();
  }
  kernels::HeadStatistics unused;
  kernels::reference_attention(problem, {}, unused, context);
  return context;
}

// Empty, or the first context that is off by more than `tolerance` of the largest and its own rounding.
template <class Input>
std::string context_mismatch(const kernels::HeadProblem<double>& problem, const std::vector<float>& found,
                             const std::vector<double>& expected, double tolerance) {
  const std::vector<double> magnitude = magnitudes(problem, found.size());
  double largest = 0.0;
  for (const double value : expected)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double one = static_cast<double>(found[i]);
    if (one == expected[i] || (std::isnan(one) && std::isnan(expected[i]))) continue;
    const double bound = tolerance * largest + kContextTolerance<Input> * magnitude[i];
    if (!(std::abs(one - expected[i]) <= bound))
      return "context[" + std::to_string(i) + "] is " + std::to_string(one) + ", expected " +
             std::to_string(expected[i]) + " within " + std::to_string(bound);
  }
  return "";
}

template <class Input>
void check_answer(const kernels::HeadProblem<double>& problem, const kernels::StatisticsRequest& request,
                  kernels::HeadStatistics found, const std::vector<float>& found_context,
                  double tolerance = kTolerance) {
  kernels::HeadStatistics expected;
  std::vector<double> context(found_context.size());
  kernels::reference_attention(problem, request, expected, context);
  CATCH_CHECK(context_mismatch<Input>(problem, found_context, context, tolerance) == "");
  const double context_tolerance = std::max(tolerance, kContextTolerance<Input>);
  for (std::size_t m = 0; m < 2; ++m) {
    CATCH_CHECK(array_mismatch("context_energy", found.maps[m].context_energy, expected.maps[m].context_energy,
                               2 * context_tolerance) == "");
    found.maps[m].context_energy = expected.maps[m].context_energy;
  }
  CATCH_CHECK(statistics_mismatch(found, expected, tolerance, kCountShare) == "");
}

}  // namespace headroom::test
