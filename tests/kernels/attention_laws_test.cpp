// What holds for any queries, keys and values (core/measure/QUANTITIES.md): sums, bounds, invariances, extreme logits.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/reference/attention.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {
namespace {

using kernels::HeadProblem;
using kernels::HeadStatistics;
using kernels::MapStatistics;

constexpr double kRounding = 1e-12;

struct Run {
  HeadStatistics statistics;
  std::vector<double> context;
};

Run run(const HeadProblem<double>& problem) {
  Run result;
  result.context.resize(static_cast<std::size_t>(problem.mask.length * problem.value_dim));
  kernels::reference_attention(problem, full_request(), result.statistics, result.context);
  return result;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::int64_t visible_count(const HeadProblem<double>& problem, std::int64_t row) {
  std::vector<kernels::KeyRange> segments;
  problem.mask.segments(row, segments);
  std::int64_t count = 0;
  for (const kernels::KeyRange& segment : segments) count += segment.end - segment.begin;
  return count;
}

// body(problem, λ of a row, statistics) for every case and head, at lengths with short and long rows.
template <typename Body>
void for_each_head(const Body& body) {
  std::uint64_t seed = 100;
  for (const AttentionCase& shape : attention_cases())
    for (const std::int64_t length : {1, 2, 59, 97}) {
      const auto data = random_attention<double>(shape, length, ++seed);
      for (std::int64_t head = 0; head < shape.heads; ++head) {
        CATCH_INFO(shape.name << ", length " << length << ", head " << head);
        const HeadProblem<double> problem = data.problem(head);
        body(problem, run(problem).statistics);
      }
    }
}

double lambda_of(const HeadProblem<double>& problem, std::int64_t row) {
  return problem.maps[1].present() ? problem.lambda[row] : 0.0;
}

}  // namespace

CATCH_TEST_CASE("laws: the rows of a map sum to 1, with a sink to what the sink leaves") {
  for_each_head([](const HeadProblem<double>& problem, const HeadStatistics& s) {
    for (const MapStatistics& map : s.maps)
      for (std::size_t i = 0; i < map.lse.size(); ++i) {
        // The sink's share is e^(s − LSE); LSE holds its term.
        const double kept = problem.has_sink ? 1.0 - std::exp(problem.sink - map.lse[i]) : 1.0;
        CATCH_CHECK(std::abs(map.weight_sum[i] - kept) < kRounding);
      }
  });
}

CATCH_TEST_CASE("laws: softmax-off-by-one keeps l / (l + 1) of a row") {
  const auto data = random_attention<double>({.name = "off by one", .sink = 0.0}, 40, 3);
  HeadProblem<double> problem = data.problem(0);
  const MapStatistics with = run(problem).statistics.maps[0];
  problem.has_sink = false;
  const MapStatistics without = run(problem).statistics.maps[0];
  for (std::size_t i = 0; i < 40; ++i) {
    const double l = std::exp(without.lse[i]);
    CATCH_CHECK(with.weight_sum[i] == near(l / (l + 1.0), kRounding));
    CATCH_CHECK(with.weight_max[i] == near(without.weight_max[i] * l / (l + 1.0), kRounding));
    CATCH_CHECK(with.lse[i] == near(std::log(l + 1.0), kRounding));
    CATCH_CHECK(with.logit_max[i] == without.logit_max[i]);
  }
}

CATCH_TEST_CASE("laws: the net row sums to c₁ − λ, and to less of each by its sink") {
  for_each_head([](const HeadProblem<double>& problem, const HeadStatistics& s) {
    for (std::int64_t i = 0; i < problem.mask.length; ++i) {
      const auto r = static_cast<std::size_t>(i);
      double expected = 0.0;
      if (problem.maps[0].present()) expected += s.maps[0].weight_sum[r];
      if (problem.maps[1].present()) expected -= problem.lambda[i] * s.maps[1].weight_sum[r];
      CATCH_CHECK(std::abs(s.weight_sum[r] - expected) < kRounding);
    }
    CATCH_CHECK(std::abs(sum(s.column_sum) - sum(s.weight_sum)) < kRounding * static_cast<double>(problem.mask.length));
  });
}

CATCH_TEST_CASE("laws: 1/√n ≤ ‖a‖₂ ≤ 1, scaled by what a sink leaves") {
  for_each_head([](const HeadProblem<double>& problem, const HeadStatistics& s) {
    for (const MapStatistics& map : s.maps)
      for (std::size_t i = 0; i < map.lse.size(); ++i) {
        const double n = static_cast<double>(visible_count(problem, static_cast<std::int64_t>(i)));
        const double kept = map.weight_sum[i];
        const double l2 = std::sqrt(map.weight_l2_squared[i]);
        CATCH_CHECK(l2 >= kept / std::sqrt(n) * (1.0 - kRounding));
        CATCH_CHECK(l2 <= kept * (1.0 + kRounding));
      }
  });
}

CATCH_TEST_CASE("laws: |1 − λ|/√n ≤ ‖w‖₂ < √(1 + λ²) of a difference, and up to 1 + |λ| where λ is negative") {
  for_each_head([](const HeadProblem<double>& problem, const HeadStatistics& s) {
    if (s.cross.empty() || problem.has_sink) return;
    for (std::int64_t i = 0; i < problem.mask.length; ++i) {
      const auto r = static_cast<std::size_t>(i);
      const double lambda = problem.lambda[i];
      const double n = static_cast<double>(visible_count(problem, i));
      const double l2 = std::sqrt(s.weight_l2_squared[r]);
      CATCH_CHECK(l2 >= std::abs(1.0 - lambda) / std::sqrt(n) * (1.0 - kRounding));
      const double top = lambda >= 0.0 ? std::sqrt(1.0 + lambda * lambda) : 1.0 - lambda;
      CATCH_CHECK(l2 <= top * (1.0 + kRounding));
      if (lambda > 0.0) CATCH_CHECK(l2 < top);
      if (problem.mask.length == 1) CATCH_CHECK(l2 == near(std::abs(1.0 - lambda), kRounding));
    }
  });
}

CATCH_TEST_CASE("laws: the ends of V2's interval are reached by uniform and by disjoint maps") {
  // Four keys; the query picks nothing (uniform) or one key by a logit of 60.
  const std::vector<double> key = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const std::vector<double> none(16, 0.0);
  std::vector<double> first(16, 0.0), third(16, 0.0);
  for (std::size_t i = 0; i < 4; ++i) first[i * 4] = third[i * 4 + 2] = 60.0;
  const std::vector<double> lambda = {0.1, 0.5, 0.7, 0.9};
  HeadProblem<double> problem;
  problem.mask.length = problem.head_dim = problem.value_dim = 4;
  problem.mask.causal = false;
  problem.lambda = lambda.data();
  problem.maps[0] = problem.maps[1] = {none.data(), key.data(), key.data(), 4, 4, 4};
  const Run uniform = run(problem);
  problem.maps[0].query = first.data();
  problem.maps[1].query = third.data();
  const Run disjoint = run(problem);
  for (std::size_t i = 0; i < 4; ++i) {
    CATCH_CHECK(std::sqrt(uniform.statistics.weight_l2_squared[i]) == near((1.0 - lambda[i]) / 2.0, kRounding));
    CATCH_CHECK(std::sqrt(disjoint.statistics.weight_l2_squared[i]) ==
                near(std::sqrt(1.0 + lambda[i] * lambda[i]), kRounding));
    CATCH_CHECK(disjoint.statistics.weight_l1[i] == near(1.0 + lambda[i], kRounding));
  }
}

CATCH_TEST_CASE("laws: negative and positive mass add to ‖w‖₁, which lies in [|1 − λ|, 1 + |λ|]") {
  for_each_head([](const HeadProblem<double>& problem, const HeadStatistics& s) {
    CATCH_CHECK(std::abs(sum(s.pooled_positive) + sum(s.pooled_negative) - sum(s.weight_l1)) < 1e-10);
    CATCH_CHECK(std::abs(sum(s.pooled_positive) - sum(s.pooled_negative) - sum(s.weight_sum)) < 1e-10);
    if (problem.has_sink || !problem.maps[0].present()) return;
    for (std::int64_t i = 0; i < problem.mask.length; ++i) {
      const double lambda = lambda_of(problem, i), l1 = s.weight_l1[static_cast<std::size_t>(i)];
      CATCH_CHECK(l1 >= std::abs(1.0 - lambda) - kRounding);
      CATCH_CHECK(l1 <= 1.0 + std::abs(lambda) + kRounding);
    }
  });
}

CATCH_TEST_CASE("laws: log n ≥ H ≥ −log Σa² ≥ −log max a ≥ 0 without a sink") {
  for_each_head([](const HeadProblem<double>& problem, const HeadStatistics& s) {
    if (problem.has_sink) return;
    for (const MapStatistics& map : s.maps)
      for (std::size_t i = 0; i < map.lse.size(); ++i) {
        const double n = static_cast<double>(visible_count(problem, static_cast<std::int64_t>(i)));
        CATCH_CHECK(map.entropy[i] <= std::log(n) + kRounding);
        CATCH_CHECK(map.entropy[i] >= -std::log(map.weight_l2_squared[i]) - kRounding);
        CATCH_CHECK(map.weight_l2_squared[i] <= map.weight_max[i] + kRounding);
        CATCH_CHECK(map.weight_max[i] <= 1.0 + kRounding);
      }
  });
}

CATCH_TEST_CASE("laws: pooled mass adds to the column sums of its cells") {
  for_each_head([](const HeadProblem<double>& problem, const HeadStatistics& s) {
    std::vector<double> pooled(static_cast<std::size_t>(s.pool_blocks)), columns(pooled);
    for (std::size_t cell = 0; cell < s.pooled_sum.size(); ++cell) pooled[cell % pooled.size()] += s.pooled_sum[cell];
    for (std::int64_t j = 0; j < problem.mask.length; ++j)
      columns[static_cast<std::size_t>(j / s.pool_size)] += s.column_sum[static_cast<std::size_t>(j)];
    for (std::size_t block = 0; block < pooled.size(); ++block)
      CATCH_CHECK(std::abs(pooled[block] - columns[block]) < 1e-10);
  });
}

CATCH_TEST_CASE("laws: a constant added to the logits of a row changes LSE and nothing of the weights") {
  // One more channel: the key's is 1, the query's is the constant.
  const std::int64_t n = 30;
  Random random(11);
  std::vector<double> query = random.normals(n * 5), key = random.normals(n * 5), value = random.normals(n * 3);
  for (std::int64_t i = 0; i < n; ++i) key[static_cast<std::size_t>(i * 5 + 4)] = 1.0;
  HeadProblem<double> problem;
  problem.mask.length = n;
  problem.head_dim = 5;
  problem.value_dim = 3;
  problem.maps[0] = {query.data(), key.data(), value.data(), 5, 5, 3};
  const Run before = run(problem);
  for (std::int64_t i = 0; i < n; ++i) query[static_cast<std::size_t>(i * 5 + 4)] += 100.0 + static_cast<double>(i);
  const Run after = run(problem);
  const MapStatistics& a = before.statistics.maps[0];
  const MapStatistics& b = after.statistics.maps[0];
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    CATCH_CHECK(b.lse[i] == near(a.lse[i] + 100.0 + static_cast<double>(i), kRounding));
    CATCH_CHECK(b.logit_max[i] - b.logit_min[i] == near(a.logit_max[i] - a.logit_min[i], 1e-11));
  }
  CATCH_CHECK(array_mismatch("entropy", b.entropy, a.entropy, 1e-11) == "");
  CATCH_CHECK(array_mismatch("weight_max", b.weight_max, a.weight_max, 1e-11) == "");
  CATCH_CHECK(array_mismatch("column_sum", b.column_sum, a.column_sum, 1e-11) == "");
  CATCH_CHECK(array_mismatch("context", after.context, before.context, 1e-11) == "");
}

CATCH_TEST_CASE("laws: permuting keys and values without a mask permutes the columns and leaves the rows") {
  for (const Pairing pairing : {Pairing::Single, Pairing::V2}) {
    auto data = random_attention<double>({.name = "", .pairing = pairing, .causal = false}, 41, 8);
    const Run before = run(data.problem(0));
    const auto permuted = data;
    const auto from = [](std::int64_t j) { return (j * 7 + 3) % 41; };
    const auto move_rows = [&](std::vector<double>& rows, const std::vector<double>& old, std::int64_t width) {
      for (std::int64_t j = 0; j < 41; ++j) std::copy_n(old.begin() + from(j) * width, width, rows.begin() + j * width);
    };
    move_rows(data.key, permuted.key, data.shape.head_dim);
    move_rows(data.value, permuted.value, data.shape.value_dim);
    const Run after = run(data.problem(0));
    const HeadStatistics& a = before.statistics;
    const HeadStatistics& b = after.statistics;
    for (std::size_t j = 0; j < 41; ++j)
      CATCH_CHECK(b.column_sum[j] ==
                  near(a.column_sum[static_cast<std::size_t>(from(static_cast<std::int64_t>(j)))], 0.0, kRounding));
    CATCH_CHECK(array_mismatch("lse", b.maps[0].lse, a.maps[0].lse, kRounding) == "");
    CATCH_CHECK(array_mismatch("entropy", b.maps[0].entropy, a.maps[0].entropy, kRounding) == "");
    CATCH_CHECK(array_mismatch("weight_l1", b.weight_l1, a.weight_l1, kRounding) == "");
    CATCH_CHECK(array_mismatch("weight_l2_squared", b.weight_l2_squared, a.weight_l2_squared, kRounding) == "");
    CATCH_CHECK(array_mismatch("uncorrelated_energy", b.uncorrelated_energy, a.uncorrelated_energy, kRounding) == "");
    CATCH_CHECK(array_mismatch("context", after.context, before.context, kRounding) == "");
    CATCH_CHECK(b.maps[0].logit_histogram == a.maps[0].logit_histogram);
  }
}

CATCH_TEST_CASE("laws: special cases of one normaliser are another") {
  const auto data = random_attention<double>({.name = "pair", .pairing = Pairing::V2, .heads = 1}, 33, 21);
  HeadProblem<double> softmax = data.problem(0);
  softmax.maps[1] = {};
  softmax.lambda = nullptr;
  const Run plain = run(softmax);
  CATCH_SECTION("a sink at −∞ is no sink") {
    HeadProblem<double> problem = softmax;
    problem.has_sink = true;
    problem.sink = -std::numeric_limits<double>::infinity();
    const Run sink = run(problem);
    CATCH_CHECK(statistics_mismatch(sink.statistics, plain.statistics, 0.0) == "");
    CATCH_CHECK(sink.context == plain.context);
  }
  CATCH_SECTION("λ = 0 is the first map alone") {
    const std::vector<double> zero(33, 0.0);
    HeadProblem<double> problem = data.problem(0);
    problem.lambda = zero.data();
    const Run pair = run(problem);
    CATCH_CHECK(array_mismatch("weight_sum", pair.statistics.weight_sum, plain.statistics.weight_sum, 0.0) == "");
    CATCH_CHECK(array_mismatch("context", pair.context, plain.context, 0.0) == "");
    CATCH_CHECK(array_mismatch("columns", pair.statistics.column_sum, plain.statistics.column_sum, 0.0) == "");
  }
  CATCH_SECTION("two equal maps at λ = 1 give nothing") {
    const std::vector<double> one(33, 1.0);
    HeadProblem<double> problem = data.problem(0);
    problem.maps[1] = problem.maps[0];
    problem.lambda = one.data();
    const Run pair = run(problem);
    for (std::size_t i = 0; i < 33; ++i) CATCH_CHECK(pair.statistics.weight_l1[i] == 0.0);
    for (const double c : pair.context) CATCH_CHECK(c == 0.0);
  }
  CATCH_SECTION("a window of the whole length is causal; soft cap far above the logits is none") {
    HeadProblem<double> problem = softmax;
    problem.mask.window = 33;
    CATCH_CHECK(statistics_mismatch(run(problem).statistics, plain.statistics, 0.0) == "");
    problem.mask.window = 0;
    problem.softcap = 1e6;
    CATCH_CHECK(statistics_mismatch(run(problem).statistics, plain.statistics, 1e-9, 0.01) == "");
  }
  CATCH_SECTION("temperature divides the logits") {
    HeadProblem<double> problem = softmax;
    problem.temperature = 4.0;
    HeadProblem<double> scaled = softmax;
    scaled.scale /= 4.0;
    const HeadStatistics a = run(problem).statistics, b = run(scaled).statistics;
    CATCH_CHECK(array_mismatch("lse", a.maps[0].lse, b.maps[0].lse, kRounding) == "");
    CATCH_CHECK(array_mismatch("entropy", a.maps[0].entropy, b.maps[0].entropy, kRounding) == "");
    CATCH_CHECK(a.maps[0].logit_max_raw == near(4.0 * b.maps[0].logit_max_raw, kRounding));
  }
}

CATCH_TEST_CASE("laws: grouped key heads are the same as repeated ones") {
  const auto grouped = random_attention<double>({.name = "GQA", .heads = 6, .kv_heads = 2}, 25, 17);
  auto repeated = grouped;
  repeated.shape.kv_heads = 6;
  repeated.key.clear();
  repeated.value.clear();
  for (std::int64_t i = 0; i < 25; ++i)
    for (std::int64_t head = 0; head < 6; ++head) {
      const auto block = i * 2 + head / 3;
      for (std::int64_t c = 0; c < 8; ++c) repeated.key.push_back(grouped.key[static_cast<std::size_t>(block * 8 + c)]);
      for (std::int64_t c = 0; c < 6; ++c)
        repeated.value.push_back(grouped.value[static_cast<std::size_t>(block * 6 + c)]);
    }
  for (std::int64_t head = 0; head < 6; ++head) {
    const Run a = run(grouped.problem(head)), b = run(repeated.problem(head));
    CATCH_INFO("head " << head);
    CATCH_CHECK(statistics_mismatch(a.statistics, b.statistics, 0.0) == "");
    CATCH_CHECK(a.context == b.context);
  }
}

CATCH_TEST_CASE("laws: logits of ±1e4 give finite rows that still sum to 1") {
  for (const bool sink : {false, true}) {
    std::vector<double> query = {1e4, -1e4, -1e4, 1e4, 1e4}, key = {1, -1, 1, -1, 1}, value = {1, 2, 3, 4, 5};
    HeadProblem<double> problem;
    problem.mask.length = 5;
    problem.head_dim = problem.value_dim = 1;
    problem.maps[0] = {query.data(), key.data(), value.data(), 1, 1, 1};
    problem.has_sink = sink;
    const Run result = run(problem);
    const MapStatistics& map = result.statistics.maps[0];
    CATCH_INFO("sink " << sink);
    for (std::size_t i = 0; i < 5; ++i) {
      for (const double value_found : {map.lse[i], map.entropy[i], map.weight_max[i], map.mean_distance[i],
                                       map.weight_l2_squared[i], result.context[i], map.column_sum[i]})
        CATCH_CHECK(std::isfinite(value_found));
      CATCH_CHECK(map.weight_sum[i] == near(1.0, kRounding));
    }
    // Rows 3 and 4 share themselves among the keys with 1, rows 1 and 2 see one key with −1.
    CATCH_CHECK(map.weight_max[4] == near(1.0 / 3.0, 1e-9));
    CATCH_CHECK(map.entropy[4] == near(std::log(3.0), 1e-9));
    CATCH_CHECK(map.rounds_to_one[4] == 3);
    CATCH_CHECK(result.context[4] == near(3.0, 1e-9));
    CATCH_CHECK(map.logit_min[4] == -1e4);
    CATCH_CHECK(result.context[3] == near(2.0, 1e-9));
    CATCH_CHECK(result.context[1] == near(2.0, 1e-9));
  }
}

CATCH_TEST_CASE("laws: a sink far above the keys takes the row, and the statistics stay finite") {
  const auto data = random_attention<double>({.name = "", .sink = 1e4}, 12, 4);
  const Run result = run(data.problem(0));
  const MapStatistics& map = result.statistics.maps[0];
  for (std::size_t i = 0; i < 12; ++i) {
    CATCH_CHECK(map.lse[i] == 1e4);
    CATCH_CHECK(map.weight_sum[i] == 0.0);
    CATCH_CHECK(map.entropy[i] == 0.0);
    CATCH_CHECK(std::isfinite(map.logit_max[i]));
  }
  for (const double c : result.context) CATCH_CHECK(c == 0.0);
}

CATCH_TEST_CASE("laws: a row whose keys are all hidden is its own key alone, and a hidden key receives nothing else") {
  auto data = random_attention<double>({.name = "", .hidden_keys = {0, 1, 2, 6}}, 8, 31);
  const Run result = run(data.problem(0));
  const MapStatistics& map = result.statistics.maps[0];
  for (const std::size_t i : {0, 1, 2}) {
    CATCH_CHECK(map.self_weight[i] == 1.0);
    CATCH_CHECK(map.entropy[i] == 0.0);
    CATCH_CHECK(map.mean_distance[i] == 0.0);
    for (std::size_t c = 0; c < 6; ++c)
      CATCH_CHECK(result.context[i * 6 + c] == near(data.value[i * 6 + c], kRounding));
  }
  CATCH_CHECK(map.self_weight[6] == 0.0);
  CATCH_CHECK(map.column_sum[6] == 0.0);
  CATCH_CHECK(map.column_sum[1] == 1.0);
  for (std::size_t i = 3; i < 8; ++i) CATCH_CHECK(map.weight_sum[i] == near(1.0, kRounding));
}

CATCH_TEST_CASE("laws: one token") {
  for (const AttentionCase& shape : attention_cases()) {
    const auto data = random_attention<double>(shape, 1, 77);
    const HeadProblem<double> problem = data.problem(0);
    const Run result = run(problem);
    CATCH_INFO(shape.name);
    const std::size_t m = problem.maps[0].present() ? 0 : 1;
    const MapStatistics& map = result.statistics.maps[m];
    const double kept = problem.has_sink ? 1.0 / (1.0 + std::exp(problem.sink - map.logit_max[0])) : 1.0;
    CATCH_CHECK(map.weight_max[0] == near(kept, kRounding));
    CATCH_CHECK(map.self_weight[0] == map.first_key_weight[0]);
    CATCH_CHECK(map.logit_max[0] == map.logit_min[0]);
    CATCH_CHECK(map.mean_distance[0] == 0.0);
    CATCH_CHECK(map.previous_weight[0] == 0.0);
    CATCH_CHECK(map.rounds_to_one[0] == 1);
    CATCH_CHECK(result.statistics.pooled_sum.size() == 1);
    if (!problem.has_sink) CATCH_CHECK(map.entropy[0] == near(0.0, 0.0, 1e-15));
  }
}

}  // namespace headroom::test
