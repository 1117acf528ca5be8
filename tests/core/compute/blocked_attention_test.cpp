// The blocked backend against the scalar reference, in float32 and float64, over the table of cases.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/compute/blocked_attention.h"

#include "kernels/reference/attention.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {
namespace {

using kernels::HeadProblem;
using kernels::HeadStatistics;

// Of the largest value of a head's array, as the parity goals have it.
template <typename Real>
constexpr double kTolerance = sizeof(Real) == 4 ? 2e-4 : 1e-9;
template <typename Real>
constexpr double kCountShare = sizeof(Real) == 4 ? 1e-3 : 0.0;

// All heads of `data`, contexts beside each other in [length, heads, context_dim], as a layer has them.
template <typename Real>
struct BlockedRun {
  std::vector<kernels::HeadJob<Real>> heads;
  std::vector<Real> context;
};

template <typename Real>
BlockedRun<Real> run_blocked(const AttentionData<Real>& data, const kernels::StatisticsRequest& request) {
  BlockedRun<Real> run;
  const std::int64_t channels = data.context_dim(), heads = data.shape.heads;
  run.context.assign(static_cast<std::size_t>(data.length * heads * channels), Real(-77));
  for (std::int64_t h = 0; h < heads; ++h) {
    kernels::HeadJob<Real> head;
    head.problem = data.problem(h);
    head.request = request;
    head.context = run.context.data() + h * channels;
    head.context_stride = heads * channels;
    run.heads.push_back(std::move(head));
  }
  CATCH_REQUIRE(blocked_attention<Real>(std::span(run.heads), nullptr));
  return run;
}

template <typename Real>
void check_against_reference(const AttentionCase& shape, std::int64_t length, std::uint64_t seed,
                             std::int64_t pool_blocks = 5) {
  const auto data = random_attention<Real>(shape, length, seed);
  const AttentionData<double> exact = widened(data);
  const kernels::StatisticsRequest request = full_request(pool_blocks);
  const BlockedRun<Real> run = run_blocked(data, request);
  const std::int64_t channels = data.context_dim();
  for (std::int64_t h = 0; h < shape.heads; ++h) {
    CATCH_INFO(shape.name << ", length " << length << ", head " << h << ", seed " << seed << ", " << sizeof(Real) * 8
                          << " bit");
    HeadStatistics expected;
    std::vector<double> context(static_cast<std::size_t>(length * channels)), found;
    kernels::reference_attention(exact.problem(h), request, expected, context);
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t c = 0; c < channels; ++c)
        found.push_back(
            static_cast<double>(run.context[static_cast<std::size_t>((i * shape.heads + h) * channels + c)]));
    CATCH_CHECK(statistics_mismatch(run.heads[static_cast<std::size_t>(h)].statistics, expected, kTolerance<Real>,
                                    kCountShare<Real>) == "");
    CATCH_CHECK(array_mismatch("context", found, context, kTolerance<Real>) == "");
  }
}

}  // namespace

CATCH_TEST_CASE("blocked attention: equals the reference in float64 for every case and length") {
  std::uint64_t seed = 1;
  for (const AttentionCase& shape : attention_cases())
    for (const std::int64_t length : {1, 2, 63, 64, 65, 257}) check_against_reference<double>(shape, length, ++seed);
}

CATCH_TEST_CASE("blocked attention: equals the reference in float32 for every case and length") {
  std::uint64_t seed = 1001;
  for (const AttentionCase& shape : attention_cases())
    for (const std::int64_t length : {1, 2, 63, 64, 65, 257}) check_against_reference<float>(shape, length, ++seed);
}

CATCH_TEST_CASE("blocked attention: rows and keys of different sequences, and dense masks, in both types") {
  std::uint64_t seed = 2001;
  for (const auto& cases : {rectangular_cases(), dense_cases(), always_visible_cases()})
    for (const AttentionCase& shape : cases)
      for (const std::int64_t length : {1, 2, 65, 257, 600}) {
        check_against_reference<double>(shape, length, ++seed);
        check_against_reference<float>(shape, length, seed);
      }
}

CATCH_TEST_CASE("blocked attention: the weights of rows whose keys are of another sequence are the reference's") {
  for (const auto& cases : {rectangular_cases(), dense_cases(), always_visible_cases()})
    for (const AttentionCase& shape : cases) {
      const auto data = random_attention<double>(shape, 70, 17);
      const HeadProblem<double> problem = data.problem(0);
      const std::size_t m = problem.maps[0].present() ? 0 : 1;
      const std::int64_t row = 60, rows = 10, keys = problem.mask.keys();
      std::vector<double> found(static_cast<std::size_t>(rows * keys), -1.0), expected;
      blocked_weights<double>(problem, m, row, rows, found);
      for (std::int64_t i = row; i < row + rows; ++i)
        for (const double weight : kernels::reference_weights(problem, m, i)) expected.push_back(weight);
      CATCH_INFO(shape.name);
      CATCH_CHECK(array_mismatch("weights", found, expected, 1e-12) == "");
    }
}

CATCH_TEST_CASE("blocked attention: rows that several tasks share") {
  const std::vector<AttentionCase> shapes = {
      {.name = "softmax", .heads = 1},
      {.name = "bidirectional", .heads = 1, .causal = false},
      {.name = "V1, sink, window", .pairing = Pairing::V1, .heads = 1, .sink = 1.0, .window = 300, .lambda = 0.6},
      {.name = "V2, hidden keys", .pairing = Pairing::V2, .heads = 1, .hidden_keys = {0, 127, 128, 511}},
      {.name = "second map alone", .pairing = Pairing::SecondOnly, .heads = 1},
  };
  for (const AttentionCase& shape : shapes)
    for (const std::int64_t length : {511, 512, 1025}) {
      check_against_reference<double>(shape, length, 7);
      check_against_reference<float>(shape, length, 8);
    }
  check_against_reference<float>(shapes[3], 4100, 9, 64);
}

CATCH_TEST_CASE("blocked attention: any number of pooled blocks") {
  const AttentionCase shape{.name = "V2", .pairing = Pairing::V2, .heads = 1};
  for (const std::int64_t blocks : {0, 1, 2, 64, 65, 70, 1000}) {
    CATCH_INFO(blocks << " blocks");
    const auto data = random_attention<double>(shape, 70, 4);
    kernels::StatisticsRequest request;
    request.pool_blocks = blocks;
    HeadStatistics expected;
    std::vector<double> context(static_cast<std::size_t>(70 * data.context_dim()));
    kernels::reference_attention(data.problem(0), request, expected, context);
    const BlockedRun<double> run = run_blocked(data, request);
    CATCH_CHECK(statistics_mismatch(run.heads[0].statistics, expected, 1e-9) == "");
    CATCH_CHECK(run.heads[0].statistics.pool_size == expected.pool_size);
    CATCH_CHECK(run.heads[0].statistics.pool_blocks == expected.pool_blocks);
  }
}

CATCH_TEST_CASE("blocked attention: without statistics the contexts have the same bits and nothing else is filled") {
  for (const AttentionCase& shape : attention_cases()) {
    const auto data = random_attention<float>(shape, 130, 3);
    kernels::StatisticsRequest request = full_request();
    const BlockedRun<float> full = run_blocked(data, request);
    request.wanted = 0;
    const BlockedRun<float> plain = run_blocked(data, request);
    CATCH_INFO(shape.name);
    const std::vector<double> found(plain.context.begin(), plain.context.end()),
        expected(full.context.begin(), full.context.end());
    CATCH_CHECK(array_mismatch("context", found, expected, 0.0) == "");
    CATCH_CHECK(plain.heads[0].statistics.weight_sum.empty());
    CATCH_CHECK(plain.heads[0].statistics.maps[0].lse.empty());
    CATCH_CHECK(plain.heads[0].statistics.column_sum.empty());
  }
}

CATCH_TEST_CASE("blocked attention: rows of padding see nothing, and what is not wanted stays empty") {
  const std::vector<AttentionCase> shapes = {
      {.name = "softmax", .heads = 1},
      {.name = "bidirectional", .heads = 1, .causal = false},
      {.name = "V1, sink", .pairing = Pairing::V1, .heads = 1, .sink = 0.5, .lambda = 0.4},
      {.name = "V2, window, hidden keys",
       .pairing = Pairing::V2,
       .heads = 1,
       .window = 30,
       .hidden_keys = {3, 140, 141}},
      {.name = "second map alone", .pairing = Pairing::SecondOnly, .heads = 1},
  };
  const std::int64_t length = 200;
  for (const AttentionCase& shape : shapes)
    for (const std::int64_t first_key : {0, 1, 5, 140, 199})
      for (const kernels::StatisticSet wanted :
           {kernels::kAllStatistics, kernels::kRowStatistics, kernels::kNamedKeys, kernels::kColumnSums,
            kernels::kRoundsToOne, kernels::kRowStatistics | kernels::kColumnSums}) {
        CATCH_INFO(shape.name << ", keys from " << first_key << ", wanted " << wanted);
        const auto data = random_attention<double>(shape, length, 21);
        kernels::StatisticsRequest request;
        if (wanted & kernels::kRowStatistics) request = full_request();
        request.wanted = wanted;
        kernels::HeadJob<double> job;
        job.problem = data.problem(0);
        job.problem.mask.first_key = first_key;
        job.request = request;
        std::vector<double> context(static_cast<std::size_t>(length * data.context_dim()), -77.0),
            exact(context.size());
        job.context = context.data();
        job.context_stride = data.context_dim();
        HeadStatistics expected;
        kernels::reference_attention(job.problem, request, expected, exact);
        CATCH_REQUIRE(blocked_attention<double>(std::span(&job, 1), nullptr));
        // Infinities of the padding are compared by themselves: no bound is relative to them.
        for (std::size_t m = 0; m < 2; ++m) {
          kernels::MapStatistics& found = job.statistics.maps[m];
          kernels::MapStatistics& own = expected.maps[m];
          for (auto [a, b] : {std::pair{&found.lse, &own.lse}, std::pair{&found.logit_max, &own.logit_max},
                              std::pair{&found.logit_min, &own.logit_min}})
            for (std::size_t i = 0; i < b->size(); ++i)
              if (std::isinf((*b)[i])) {
                CATCH_CHECK((*a)[i] == (*b)[i]);
                (*a)[i] = (*b)[i] = 0.0;
              }
        }
        CATCH_CHECK(statistics_mismatch(job.statistics, expected, 1e-9) == "");
        CATCH_CHECK(array_mismatch("context", context, exact, 1e-9) == "");
      }
}

CATCH_TEST_CASE("blocked attention: logits of ±1e4 stay finite") {
  AttentionCase shape{.name = "extreme", .heads = 1, .head_dim = 1, .value_dim = 2};
  auto data = random_attention<float>(shape, 70, 3);
  for (std::size_t i = 0; i < 70; ++i) {
    data.query[i] = i % 4 == 1 ? -100.0F : 100.0F;
    data.key[i] = i % 3 == 0 ? 100.0F : -100.0F;
  }
  const kernels::StatisticsRequest request = full_request();
  const BlockedRun<float> run = run_blocked(data, request);
  const AttentionData<double> exact = widened(data);
  HeadStatistics expected;
  std::vector<double> context(140);
  kernels::reference_attention(exact.problem(0), request, expected, context);
  CATCH_CHECK(statistics_mismatch(run.heads[0].statistics, expected, 2e-4, 1e-3) == "");
  CATCH_CHECK(array_mismatch("context", std::vector<double>(run.context.begin(), run.context.end()), context, 2e-4) ==
              "");
}

CATCH_TEST_CASE("blocked weights: rows of exact maps are the reference's, zero where masked") {
  for (const AttentionCase& shape : attention_cases()) {
    const std::int64_t length = 67;
    const auto data = random_attention<double>(shape, length, 15);
    const HeadProblem<double> problem = data.problem(0);
    for (std::size_t m = 0; m < 2; ++m) {
      if (!problem.maps[m].present()) continue;
      for (const std::int64_t step : {1, 10, 67}) {
        for (std::int64_t row = 0; row < length; row += step) {
          const std::int64_t rows = std::min(step, length - row);
          std::vector<double> weights(static_cast<std::size_t>(rows * length), -77.0);
          blocked_weights<double>(problem, m, row, rows, weights);
          for (std::int64_t r = 0; r < rows; ++r) {
            CATCH_INFO(shape.name << ", map " << m << ", row " << row + r << ", " << rows << " rows at once");
            const std::vector<double> expected = kernels::reference_weights(problem, m, row + r);
            const std::span<const double> found(weights.data() + r * length, static_cast<std::size_t>(length));
            CATCH_CHECK(array_mismatch("weights", found, expected, 1e-12) == "");
            bool zeros = true;
            for (std::size_t j = 0; j < expected.size(); ++j)
              if (expected[j] == 0.0) zeros = zeros && found[j] == 0.0;
            CATCH_CHECK(zeros);
          }
        }
      }
    }
  }
}

}  // namespace headroom::test
