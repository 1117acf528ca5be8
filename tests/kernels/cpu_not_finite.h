// The CPU kernels on a case of what is not finite, against the scalar reference. Plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/reference/attention.h"
#include "tests/kernels/cpu_runs.h"
#include "tests/support/catch.h"
#include "tests/support/narrow_tensors.h"
#include "tests/support/non_finite_cases.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {

struct NotFiniteAnswer {
  kernels::HeadStatistics statistics;
  std::vector<double> context;
};

[[nodiscard]] inline NotFiniteAnswer not_finite_reference(const kernels::HeadProblem<double>& problem,
                                                          const kernels::StatisticsRequest& request) {
  NotFiniteAnswer expected;
  expected.context.assign(static_cast<std::size_t>(problem.mask.length * problem.value_dim), 0.0);
  kernels::reference_attention(problem, request, expected.statistics, expected.context);
  return expected;
}

template <typename Input>
void check_not_finite(const NonFiniteCase& given, double tolerance) {
  const Tensors<Input> tensors(given.data);
  kernels::StatisticsRequest contexts_only;
  contexts_only.wanted = 0;
  const CpuAnswer answer = run_cpu(heads_of(tensors), full_request());
  const CpuAnswer contexts = run_cpu(heads_of(tensors), contexts_only);
  CATCH_CHECK(same_bits(answer.context, contexts.context));
  for (std::int64_t h = 0; h < given.data.shape.heads; ++h) {
    CATCH_INFO(given.name << ", head " << h);
    const kernels::HeadProblem<double> exact = tensors.wide(h);
    const NotFiniteAnswer expected = not_finite_reference(exact, full_request());
    CATCH_CHECK(statistics_mismatch(answer.statistics[static_cast<std::size_t>(h)], expected.statistics, tolerance,
                                    1e-3) == "");
    CATCH_CHECK(array_mismatch("context", answer.context_of(h, exact.value_dim), expected.context, tolerance) == "");
  }
}

}  // namespace headroom::test
