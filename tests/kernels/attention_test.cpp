// The scalar reference against the definitions written out as whole matrices, for every row of the table of cases.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/reference/attention.h"
#include "tests/kernels/dense_attention.h"
#include "tests/kernels/wanted_subsets.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {
namespace {

using kernels::HeadProblem;
using kernels::HeadStatistics;
using kernels::StatisticsRequest;

HeadStatistics reference(const HeadProblem<double>& problem, const StatisticsRequest& request,
                         std::vector<double>& context) {
  HeadStatistics statistics;
  context.assign(static_cast<std::size_t>(problem.mask.length * problem.value_dim), 0.0);
  kernels::reference_attention(problem, request, statistics, context);
  return statistics;
}

}  // namespace

CATCH_TEST_CASE("reference attention: equals the dense formulas for every normaliser, pairing, mask and group") {
  std::uint64_t seed = 1;
  for (const AttentionCase& shape : attention_cases())
    for (const std::int64_t length : {1, 2, 13, 64, 70}) {
      const auto data = random_attention<double>(shape, length, ++seed);
      const StatisticsRequest request = full_request();
      for (std::int64_t head = 0; head < shape.heads; ++head) {
        CATCH_INFO(shape.name << ", length " << length << ", head " << head << ", seed " << seed);
        const HeadProblem<double> problem = data.problem(head);
        std::vector<double> context;
        const HeadStatistics found = reference(problem, request, context);
        CATCH_CHECK(statistics_mismatch(found, dense_statistics(problem, request), 1e-12) == "");
        CATCH_CHECK(array_mismatch("context", context, dense_head(problem).context, 1e-12) == "");
      }
    }
}

CATCH_TEST_CASE("reference attention: equals the dense formulas where padding sees nothing and is not seen") {
  std::uint64_t seed = 1;
  for (const AttentionCase& shape : padded_cases())
    for (const std::int64_t length : {1, 2, 13, 64, 70}) {
      const auto data = random_attention<double>(shape, length, ++seed);
      CATCH_INFO(shape.name << ", length " << length << ", seed " << seed);
      const HeadProblem<double> problem = data.problem(0);
      std::vector<double> context;
      const HeadStatistics found = reference(problem, full_request(), context);
      CATCH_CHECK(statistics_mismatch(found, dense_statistics(problem, full_request()), 1e-12) == "");
      CATCH_CHECK(array_mismatch("context", context, dense_head(problem).context, 1e-12) == "");
      const std::size_t m = problem.maps[0].present() ? 0 : 1;
      for (std::int64_t i = 0; i < std::min(length, shape.first_key); ++i) {
        const auto r = static_cast<std::size_t>(i);
        CATCH_CHECK(found.maps[m].lse[r] == (problem.has_sink ? problem.sink : -INFINITY));
        CATCH_CHECK(found.maps[m].logit_max[r] == -INFINITY);
        CATCH_CHECK(found.maps[m].logit_min[r] == INFINITY);
        CATCH_CHECK(found.maps[m].rounds_to_one[r] == 0);
        CATCH_CHECK(found.column_sum[r] == 0.0);
      }
    }
}

CATCH_TEST_CASE("reference attention: each subset of the statistics is what all of them have, and the rest is empty") {
  for (const AttentionCase& shape :
       std::vector<AttentionCase>{{.name = "softmax"}, {.name = "V2", .pairing = Pairing::V2, .first_key = 3}})
    for (kernels::StatisticSet wanted = 0; wanted <= kernels::kAllStatistics; ++wanted)
      for (const bool bins : {false, true}) {
        if (bins && wanted != 0 && !(wanted & kernels::kRowStatistics)) continue;
        const auto data = random_attention<double>(shape, 20, 9);
        StatisticsRequest request = bins ? full_request() : StatisticsRequest{};
        std::vector<double> full_context, context;
        const HeadStatistics full = reference(data.problem(0), request, full_context);
        request.wanted = wanted;
        HeadStatistics part = reference(data.problem(0), request, context);
        CATCH_INFO(shape.name << ", wanted " << wanted << ", bins " << bins);
        fill_unwanted(wanted, part, full);
        CATCH_CHECK(statistics_mismatch(part, full, 0.0) == "");
        CATCH_CHECK(context == full_context);
      }
}

CATCH_TEST_CASE("reference attention: the weights of single rows are the dense map's") {
  for (const AttentionCase& shape : attention_cases()) {
    const auto data = random_attention<double>(shape, 23, 5);
    const HeadProblem<double> problem = data.problem(0);
    for (std::size_t m = 0; m < 2; ++m) {
      if (!problem.maps[m].present()) continue;
      const DenseMap dense = dense_map(problem, m);
      for (std::int64_t i = 0; i < problem.mask.length; ++i) {
        CATCH_INFO(shape.name << ", map " << m << ", row " << i);
        std::vector<double> expected;
        for (std::int64_t j = 0; j < problem.mask.length; ++j) expected.push_back(dense.a(i, j));
        const std::vector<double> found = kernels::reference_weights(problem, m, i);
        CATCH_CHECK(array_mismatch("weights", found, expected, 1e-13) == "");
        for (std::int64_t j = 0; j < problem.mask.length; ++j)
          if (!dense_visible(problem, i, j)) CATCH_CHECK(found[static_cast<std::size_t>(j)] == 0.0);
      }
    }
  }
}

CATCH_TEST_CASE("reference attention: without statistics the context is the same and nothing else is filled") {
  for (const AttentionCase& shape : attention_cases()) {
    const auto data = random_attention<double>(shape, 20, 9);
    StatisticsRequest request = full_request();
    std::vector<double> full, plain;
    (void)reference(data.problem(0), request, full);
    request.wanted = 0;
    const HeadStatistics statistics = reference(data.problem(0), request, plain);
    CATCH_INFO(shape.name);
    CATCH_CHECK(plain == full);
    CATCH_CHECK(statistics.weight_sum.empty());
    CATCH_CHECK(statistics.maps[0].lse.empty());
    CATCH_CHECK(statistics.pooled_sum.empty());
  }
}

}  // namespace headroom::test
