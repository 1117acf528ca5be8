// What the CUDA kernels answer, emulated or on a device, against the scalar reference. Plain functions.
#pragma once

#include <algorithm>
#include <cstddef>
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

// The weights that meet the values are rounded to the input's format, as in every flash attention.
template <class Input>
inline constexpr double kContextTolerance = kTolerance;
template <>
inline constexpr double kContextTolerance<kernels::BFloat16> = 4e-3;
template <>
inline constexpr double kContextTolerance<kernels::Float16> = 5e-4;

template <class Input>
void check_answer(const kernels::HeadProblem<double>& problem, const kernels::StatisticsRequest& request,
                  kernels::HeadStatistics found, const std::vector<float>& found_context,
                  double tolerance = kTolerance) {
  kernels::HeadStatistics expected;
  std::vector<double> context(found_context.size());
  kernels::reference_attention(problem, request, expected, context);
  const double context_tolerance = std::max(tolerance, kContextTolerance<Input>);
  CATCH_CHECK(array_mismatch("context", std::vector<double>(found_context.begin(), found_context.end()), context,
                             context_tolerance) == "");
  for (std::size_t m = 0; m < 2; ++m) {
    CATCH_CHECK(array_mismatch("context_energy", found.maps[m].context_energy, expected.maps[m].context_energy,
                               2 * context_tolerance) == "");
    found.maps[m].context_energy = expected.maps[m].context_energy;
  }
  CATCH_CHECK(statistics_mismatch(found, expected, tolerance, kCountShare) == "");
}

}  // namespace headroom::test
