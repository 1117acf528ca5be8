// Runs the CUDA kernels in the emulator on attention cases and holds the answers to the scalar reference. One thread.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/heads.h"
#include "kernels/reference/attention.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/cuda_emulated_machine.h"
#include "tests/support/narrow_tensors.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {

struct Answer {
  std::vector<kernels::HeadStatistics> statistics;
  std::vector<std::vector<float>> contexts;
};

template <class Input>
[[nodiscard]] Answer run(EmulatedMachine& machine, const std::vector<kernels::HeadProblem<Input>>& problems,
                         const kernels::StatisticsRequest& request) {
  Answer answer;
  std::vector<kernels::HeadJob<Input, float>> jobs;
  answer.contexts.resize(problems.size());
  for (std::size_t h = 0; h < problems.size(); ++h) {
    answer.contexts[h].assign(static_cast<std::size_t>(problems[h].length * problems[h].value_dim), NAN);
    jobs.push_back({problems[h], request, answer.contexts[h].data(), problems[h].value_dim, {}});
  }
  const kernels::KernelStatus status = kernels::cuda::run_heads<Input>(machine, jobs, {});
  CATCH_INFO(status.text);
  CATCH_REQUIRE(status.ok());
  CATCH_CHECK(machine.memory == 0);
  for (kernels::HeadJob<Input, float>& job : jobs) answer.statistics.push_back(std::move(job.statistics));
  return answer;
}

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

// One head of the case, another one with the next seed.
template <class Input>
void check_case(const AttentionCase& shape, std::int64_t length, std::uint64_t seed, EmulatedMachine& machine,
                const kernels::StatisticsRequest& request, std::int64_t first_key = 0, double tolerance = kTolerance) {
  const Tensors<Input> tensors(random_attention<float>(shape, length, seed));
  const std::int64_t head = static_cast<std::int64_t>(seed) % shape.heads;
  kernels::HeadProblem<Input> problem = tensors.problem(head);
  problem.first_key = first_key;
  const Answer answer = run<Input>(machine, {problem}, request);
  CATCH_INFO(shape.name << ", length " << length << ", head " << head << ", seed " << seed);
  kernels::HeadProblem<double> wide = tensors.wide(head);
  wide.first_key = first_key;
  kernels::HeadStatistics expected, found = answer.statistics[0];
  std::vector<double> context(answer.contexts[0].size());
  kernels::reference_attention(wide, request, expected, context);
  const double context_tolerance = std::max(tolerance, kContextTolerance<Input>);
  CATCH_CHECK(array_mismatch("context", std::vector<double>(answer.contexts[0].begin(), answer.contexts[0].end()),
                             context, context_tolerance) == "");
  for (std::size_t m = 0; m < 2; ++m) {
    CATCH_CHECK(array_mismatch("context_energy", found.maps[m].context_energy, expected.maps[m].context_energy,
                               2 * context_tolerance) == "");
    found.maps[m].context_energy = expected.maps[m].context_energy;
  }
  CATCH_CHECK(statistics_mismatch(found, expected, tolerance, kCountShare) == "");
}

}  // namespace headroom::test
