// What is not finite, in the reference, the CPU kernels and the emulated CUDA ones: the reference against the
// definition written out entry by entry, the others against the reference, on one table.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cpu/window.h"
#include "kernels/reference/attention.h"
#include "kernels/reference/window.h"
#include "tests/kernels/cpu_not_finite.h"
#include "tests/kernels/cpu_runs.h"
#include "tests/kernels/cuda_emulated.h"
#include "tests/kernels/dense_attention.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/narrow_tensors.h"
#include "tests/support/near.h"
#include "tests/support/non_finite_cases.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {
namespace {

using kernels::HeadProblem;

kernels::StatisticsRequest only(kernels::StatisticSet wanted) {
  kernels::StatisticsRequest request;
  request.wanted = wanted;
  return request;
}

}  // namespace

CATCH_TEST_CASE("not finite: the reference is the definition, entry by entry") {
  for (const NonFiniteCase& given : non_finite_cases()) {
    const AttentionData<double> data = widened(given.data);
    for (std::int64_t h = 0; h < data.shape.heads; ++h) {
      CATCH_INFO(given.name << ", head " << h);
      const HeadProblem<double> problem = data.problem(h);
      const NotFiniteAnswer found = not_finite_reference(problem, full_request());
      CATCH_CHECK(statistics_mismatch(found.statistics, dense_statistics(problem, full_request()), 1e-12) == "");
      CATCH_CHECK(array_mismatch("context", found.context, dense_head(problem).context, 1e-12) == "");
    }
  }
}

CATCH_TEST_CASE("not finite: the CPU kernels answer as the reference does") {
  for (const NonFiniteCase& given : non_finite_cases()) check_not_finite<float>(given, 1e-5);
}

CATCH_TEST_CASE("not finite: the CPU kernels answer as the reference does, bfloat16") {
  for (const NonFiniteCase& given : non_finite_cases()) check_not_finite<kernels::BFloat16>(given, 1e-5);
}

CATCH_TEST_CASE("not finite: the CPU kernels answer the same with scores that are not kept and with any statistic") {
  for (const NonFiniteCase& given : non_finite_cases()) {
    const Tensors<float> tensors(given.data);
    const CpuAnswer whole = run_cpu(heads_of(tensors), full_request());
    const CpuAnswer again = run_cpu(heads_of(tensors), full_request(), serial, nullptr, 0);
    CATCH_INFO(given.name);
    for (std::size_t h = 0; h < whole.statistics.size(); ++h)
      CATCH_CHECK(statistics_mismatch(again.statistics[h], whole.statistics[h], 1e-5, 1e-3) == "");
    for (const kernels::StatisticSet wanted : {kernels::kNamedKeys, kernels::kColumnSums, kernels::kRowStatistics}) {
      const CpuAnswer part = run_cpu(heads_of(tensors), only(wanted));
      CATCH_CHECK(same_bits(part.context, whole.context));
      for (std::size_t h = 0; h < whole.statistics.size(); ++h) {
        const kernels::MapStatistics &a = part.statistics[h].maps[0], &b = whole.statistics[h].maps[0];
        if (wanted == kernels::kNamedKeys)
          CATCH_CHECK(array_mismatch("first key", a.first_key_weight, b.first_key_weight, 1e-5) == "");
        if (wanted == kernels::kColumnSums) CATCH_CHECK(same_bits(a.column_sum, b.column_sum));
        if (wanted == kernels::kRowStatistics)
          CATCH_CHECK(array_mismatch("weight_sum", a.weight_sum, b.weight_sum, 1e-5) == "");
      }
    }
  }
}

CATCH_TEST_CASE("not finite: the CUDA kernels, emulated, answer as the reference does") {
  EmulatedMachine machine;
  for (const NonFiniteCase& given : non_finite_cases()) {
    const Tensors<float> tensors(given.data);
    for (std::int64_t h = 0; h < given.data.shape.heads; ++h) {
      CATCH_INFO(given.name << ", head " << h);
      const Answer answer = run<float>(machine, {tensors.problem(h)}, full_request());
      check_answer<float>(tensors.wide(h), full_request(), answer.statistics[0], answer.contexts[0]);
    }
  }
}

CATCH_TEST_CASE("not finite: the CUDA kernels, emulated, answer as the reference does, bfloat16 and half") {
  EmulatedMachine machine;
  for (const NonFiniteCase& given : non_finite_cases()) {
    const Tensors<kernels::BFloat16> narrow(given.data);
    const Tensors<kernels::Float16> half(given.data);
    CATCH_INFO(given.name);
    const Answer a = run<kernels::BFloat16>(machine, {narrow.problem(0)}, full_request());
    check_answer<kernels::BFloat16>(narrow.wide(0), full_request(), a.statistics[0], a.contexts[0]);
    const Answer b = run<kernels::Float16>(machine, {half.problem(0)}, full_request());
    check_answer<kernels::Float16>(half.wide(0), full_request(), b.statistics[0], b.contexts[0]);
  }
}

// Logits as large as a float holds weigh as PyTorch weighs them: only their differences count.
CATCH_TEST_CASE("not finite: logits near the end of float32, all of them finite") {
  for (const double size : {1e30, 1e35, 1e38}) {
    for (const double sign : {1.0, -1.0}) {
      AttentionData<float> data = random_attention<float>({.name = "", .heads = 1}, 70, 5);
      // One channel: z_ij = ±size · (1 + j / 1000), so that the weight is all on the last key, or on the first.
      std::fill(data.query.begin(), data.query.end(), 0.0f);
      std::fill(data.key.begin(), data.key.end(), 0.0f);
      for (std::int64_t i = 0; i < 70; ++i) {
        set_number(data.query, 1, 8, i, 0, 0, static_cast<float>(std::sqrt(8.0 * size)));
        set_number(data.key, 1, 8, i, 0, 0,
                   static_cast<float>(sign * std::sqrt(size) * (1.0 + static_cast<double>(i) / 1000.0)));
      }
      const Tensors<float> tensors(data);
      const CpuAnswer answer = run_cpu(heads_of(tensors), full_request());
      const kernels::MapStatistics& map = answer.statistics[0].maps[0];
      for (std::size_t i = 0; i < 70; ++i) {
        CATCH_INFO("logits of " << sign * size << ", row " << i);
        const std::size_t key = sign > 0.0 ? i : 0;
        CATCH_CHECK(map.weight_sum[i] == 1.0);
        CATCH_CHECK(map.entropy[i] == near(0.0, 0.0, 1e-6));
        CATCH_CHECK(std::abs(map.logit_max[i] / (sign * size) - 1.0) < 0.1);
        for (std::size_t c = 0; c < 6; ++c)
          CATCH_CHECK(static_cast<double>(answer.context[i * 6 + c]) ==
                      near(static_cast<double>(data.value[key * 6 + c]), 1e-6));
      }
    }
  }
}

CATCH_TEST_CASE("not finite: windows of maps show NaN where a row is undefined, and nothing else changes") {
  using kernels::WindowMap;
  for (const NonFiniteCase& given : non_finite_cases()) {
    const AttentionData<double> exact = widened(given.data);
    const auto problem = given.data.problem(0);
    const auto wide = exact.problem(0);
    std::array<std::vector<double>, 2> lse;
    for (std::size_t m = 0; m < 2; ++m)
      for (std::int64_t i = 0; wide.maps[m].present() && i < wide.mask.length; ++i)
        lse[m].push_back(kernels::reference_row(wide, m, i).lse);
    for (const WindowMap map : {WindowMap::Net, WindowMap::First, WindowMap::ScaledSecond, WindowMap::FirstLogits})
      for (const std::int64_t reduction : {1, 7}) {
        const kernels::WindowRequest request{map, 0, wide.mask.length, 0, wide.mask.length, reduction};
        const auto cells = static_cast<std::size_t>(request.cell_rows() * request.cell_columns());
        std::vector<float> found(4 * cells, -77.0f), expected = found;
        const auto planes = [&](std::vector<float>& values) {
          float* data = values.data();
          return kernels::WindowCells{data, data + cells, data + 2 * cells, data + 3 * cells, request.cell_columns()};
        };
        kernels::reference_window(wide, request, planes(expected));
        CATCH_REQUIRE(kernels::cpu_window<float>(problem, {lse[0].data(), lse[1].data()}, request, planes(found),
                                                 serial, nullptr));
        CATCH_INFO(given.name << ", map " << static_cast<int>(map) << ", reduction " << reduction);
        CATCH_CHECK(array_mismatch("cells", std::vector<double>(found.begin(), found.end()),
                                   std::vector<double>(expected.begin(), expected.end()), 1e-5) == "");
      }
  }
}

}  // namespace headroom::test
