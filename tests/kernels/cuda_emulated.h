// Runs the CUDA kernels in the emulator on attention cases and holds the answers to the scalar reference. One thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/heads.h"
#include "tests/kernels/cuda_answers.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/cuda_emulated_machine.h"
#include "tests/support/narrow_tensors.h"

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
    answer.contexts[h].assign(static_cast<std::size_t>(problems[h].mask.length * problems[h].value_dim), NAN);
    jobs.push_back({problems[h], request, answer.contexts[h].data(), problems[h].value_dim, {}});
  }
  const kernels::KernelStatus status = kernels::cuda::run_heads<Input>(machine, jobs, {});
  CATCH_INFO(status.text);
  CATCH_REQUIRE(status.ok());
  CATCH_CHECK(machine.memory == 0);
  for (kernels::HeadJob<Input, float>& job : jobs) answer.statistics.push_back(std::move(job.statistics));
  return answer;
}

// One head of the case, another one with the next seed.
template <class Input>
void check_case(const AttentionCase& shape, std::int64_t length, std::uint64_t seed, EmulatedMachine& machine,
                const kernels::StatisticsRequest& request, double tolerance = kTolerance) {
  const Tensors<Input> tensors(random_attention<float>(shape, length, seed));
  const std::int64_t head = static_cast<std::int64_t>(seed) % shape.heads;
  const Answer answer = run<Input>(machine, {tensors.problem(head)}, request);
  CATCH_INFO(shape.name << ", length " << length << ", head " << head << ", seed " << seed);
  check_answer<Input>(tensors.wide(head), request, answer.statistics[0], answer.contexts[0], tolerance);
}

}  // namespace headroom::test
