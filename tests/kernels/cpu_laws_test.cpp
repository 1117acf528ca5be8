// What holds for any data (core/measure/QUANTITIES.md), from the CPU kernels: sums, bounds, invariances, printed
// values. Sums of weights carry float's rounding of up to 64 additions: 4e-6 of 1.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/kernels/cpu_runs.h"
#include "tests/support/attention_goldens.h"
#include "tests/support/near.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {
namespace {

using kernels::HeadProblem;
using kernels::HeadStatistics;
using kernels::MapStatistics;

constexpr double kRounding = 4e-6;

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

struct Run {
  HeadStatistics statistics;
  std::vector<double> context;
};

Run run(const HeadProblem<float>& problem) {
  CpuAnswer answer = run_cpu(std::vector{problem}, full_request());
  CATCH_REQUIRE(answer.complete);
  std::vector<double> context = answer.context_of(0, problem.value_dim);
  return {std::move(answer.statistics[0]), std::move(context)};
}

// body(problem, statistics) for every case, with lengths of one strip, of some, and of several parts.
template <typename Body>
void for_each_head(const Body& body) {
  std::uint64_t seed = 900;
  for (const auto& cases : {attention_cases(), padded_cases()})
    for (const AttentionCase& shape : cases)
      for (const std::int64_t length : {1, 97, 513}) {
        const auto data = random_attention<float>(shape, length, ++seed);
        CATCH_INFO(shape.name << ", length " << length);
        const HeadProblem<float> problem = data.problem(0);
        body(problem, run(problem).statistics);
      }
}

std::int64_t visible_count(const HeadProblem<float>& problem, std::int64_t row) {
  std::vector<kernels::KeyRange> segments;
  problem.mask.segments(row, segments);
  std::int64_t count = 0;
  for (const kernels::KeyRange& segment : segments) count += segment.end - segment.begin;
  return count;
}

}  // namespace

CATCH_TEST_CASE("cpu laws: rows sum to what the sink leaves, net rows to c₁ − λ of it, columns to all of them") {
  for_each_head([](const HeadProblem<float>& problem, const HeadStatistics& s) {
    for (const MapStatistics& map : s.maps) {
      for (std::size_t i = 0; i < map.lse.size(); ++i) {
        const bool padding = static_cast<std::int64_t>(i) < problem.mask.first_key;
        const double kept = padding ? 0.0 : problem.has_sink ? -std::expm1(problem.sink - map.lse[i]) : 1.0;
        CATCH_CHECK(std::abs(map.weight_sum[i] - kept) <= kRounding);
      }
      CATCH_CHECK(sum(map.column_sum) == near(sum(map.weight_sum), kRounding));
      CATCH_CHECK(sum(map.pooled_sum) == near(sum(map.weight_sum), kRounding));
    }
    double size = 1.0;
    for (std::int64_t i = 0; i < problem.mask.length; ++i) {
      const auto r = static_cast<std::size_t>(i);
      const double lambda = problem.maps[1].present() ? problem.lambda[i] : 0.0;
      double expected = 0.0;
      if (problem.maps[0].present()) expected += s.maps[0].weight_sum[r];
      if (problem.maps[1].present()) expected -= lambda * s.maps[1].weight_sum[r];
      CATCH_CHECK(std::abs(s.weight_sum[r] - expected) <= kRounding * (1.0 + std::abs(lambda)));
      size += 1.0 + std::abs(lambda);
    }
    CATCH_CHECK(std::abs(sum(s.column_sum) - sum(s.weight_sum)) <= kRounding * size);
    CATCH_CHECK(std::abs(sum(s.pooled_sum) - sum(s.weight_sum)) <= kRounding * size);
    CATCH_CHECK(std::abs(sum(s.pooled_positive) + sum(s.pooled_negative) - sum(s.weight_l1)) <= kRounding * size);
    CATCH_CHECK(std::abs(sum(s.pooled_positive) - sum(s.pooled_negative) - sum(s.weight_sum)) <= kRounding * size);
  });
}

CATCH_TEST_CASE("cpu laws: pooled mass is the column mass of its keys, and no cell without a visible entry has any") {
  for_each_head([](const HeadProblem<float>& problem, const HeadStatistics& s) {
    const auto blocks = static_cast<std::size_t>(s.pool_blocks);
    const auto counts = kernels::pooled_counts(problem.mask, s.pool_size, s.pool_blocks);
    const auto check = [&](const std::vector<double>& columns, const std::vector<double>& pooled) {
      std::vector<double> by_block(blocks, 0.0), by_cell(blocks, 0.0);
      for (std::size_t j = 0; j < columns.size(); ++j)
        by_block[j / static_cast<std::size_t>(s.pool_size)] += columns[j];
      for (std::size_t cell = 0; cell < pooled.size(); ++cell) {
        by_cell[cell % blocks] += pooled[cell];
        if (counts[cell] == 0) CATCH_CHECK(pooled[cell] == 0.0);
      }
      for (std::size_t block = 0; block < blocks; ++block)
        CATCH_CHECK(std::abs(by_block[block] - by_cell[block]) <=
                    kRounding * 3.0 * static_cast<double>(problem.mask.length));
    };
    for (const MapStatistics& map : s.maps)
      if (!map.lse.empty()) check(map.column_sum, map.pooled_sum);
    check(s.column_sum, s.pooled_sum);
  });
}

CATCH_TEST_CASE("cpu laws: log n ≥ H ≥ −log Σa² ≥ −log max a ≥ 0 without a sink, 1 ≤ N₁ ≤ n, Σa² ≥ 1/n") {
  for_each_head([](const HeadProblem<float>& problem, const HeadStatistics& s) {
    for (const MapStatistics& map : s.maps)
      for (std::size_t i = 0; i < map.lse.size(); ++i) {
        const std::int64_t count = visible_count(problem, static_cast<std::int64_t>(i));
        CATCH_CHECK(map.rounds_to_one[i] <= count);
        if (count == 0) continue;
        const double n = static_cast<double>(count);
        CATCH_CHECK(map.rounds_to_one[i] >= 1);
        CATCH_CHECK(map.weight_max[i] <= 1.0 + kRounding);
        CATCH_CHECK(map.weight_l2_squared[i] <= map.weight_max[i] * (1.0 + kRounding));
        CATCH_CHECK(map.logit_max[i] >= map.logit_min[i]);
        if (problem.has_sink) continue;
        CATCH_CHECK(map.entropy[i] <= std::log(n) + kRounding * (1.0 + std::log(n)));
        CATCH_CHECK(map.entropy[i] >= -std::log(map.weight_l2_squared[i]) - kRounding * (1.0 + std::log(n)));
        CATCH_CHECK(map.weight_l2_squared[i] >= (1.0 - kRounding) / n);
        CATCH_CHECK(map.lse[i] >= map.logit_max[i] - kRounding);
      }
  });
}

CATCH_TEST_CASE("cpu laws: histograms hold every visible entry once, at any length and mask") {
  for (const std::int64_t window : {0, 1, 100, 1025})
    for (const bool hidden : {false, true}) {
      AttentionCase shape = {.name = "counts", .pairing = Pairing::V2, .heads = 1, .window = window};
      if (hidden) shape.hidden_keys = {0, 1, 99, 512, 1024};
      const auto data = random_attention<float>(shape, 1025, 5);
      const HeadStatistics s = run(data.problem(0)).statistics;
      std::int64_t visible = 0;
      for (std::int64_t i = 0; i < 1025; ++i) visible += visible_count(data.problem(0), i);
      CATCH_INFO("window " << window << ", hidden keys " << hidden);
      for (const MapStatistics& map : s.maps) {
        CATCH_CHECK(std::accumulate(map.logit_histogram.begin(), map.logit_histogram.end(), std::int64_t{0}) ==
                    visible);
        CATCH_CHECK(std::accumulate(map.weight_histogram.begin(), map.weight_histogram.end(), std::int64_t{0}) ==
                    visible);
      }
    }
}

CATCH_TEST_CASE("cpu laws: special cases of one normaliser are another") {
  const auto data = random_attention<float>({.name = "pair", .pairing = Pairing::V2, .heads = 1}, 150, 21);
  HeadProblem<float> softmax = data.problem(0);
  softmax.maps[1] = {};
  softmax.lambda = nullptr;
  const Run plain = run(softmax);
  CATCH_SECTION("a sink at −∞ is no sink") {
    HeadProblem<float> problem = softmax;
    problem.has_sink = true;
    problem.sink = -INFINITY;
    const Run sink = run(problem);
    CATCH_CHECK(statistics_mismatch(sink.statistics, plain.statistics, 1e-7) == "");
    CATCH_CHECK(sink.context == plain.context);
  }
  CATCH_SECTION("a sink of logit 0 divides by l + 1") {
    HeadProblem<float> problem = softmax;
    problem.has_sink = true;
    const MapStatistics with = run(problem).statistics.maps[0];
    for (std::size_t i = 0; i < 150; ++i) {
      const double l = std::exp(plain.statistics.maps[0].lse[i]);
      CATCH_CHECK(with.weight_sum[i] == near(l / (l + 1.0), kRounding));
      CATCH_CHECK(with.weight_max[i] == near(plain.statistics.maps[0].weight_max[i] * l / (l + 1.0), kRounding));
    }
  }
  CATCH_SECTION("λ = 0 is the first map alone") {
    const std::vector<double> zero(150, 0.0);
    HeadProblem<float> problem = data.problem(0);
    problem.lambda = zero.data();
    const Run pair = run(problem);
    CATCH_CHECK(pair.context == plain.context);
    CATCH_CHECK(pair.statistics.column_sum == plain.statistics.column_sum);
    CATCH_CHECK(array_mismatch("weight_l2_squared", pair.statistics.weight_l2_squared,
                               plain.statistics.weight_l2_squared, kRounding) == "");
  }
  CATCH_SECTION("two equal maps at λ = 1 give nothing") {
    const std::vector<double> one(150, 1.0);
    HeadProblem<float> problem = data.problem(0);
    problem.maps[1] = problem.maps[0];
    problem.lambda = one.data();
    const Run pair = run(problem);
    for (std::size_t i = 0; i < 150; ++i) CATCH_CHECK(pair.statistics.weight_l1[i] == 0.0);
    for (const double c : pair.context) CATCH_CHECK(c == 0.0);
    for (const double column : pair.statistics.column_sum) CATCH_CHECK(column == 0.0);
  }
  CATCH_SECTION("the second map alone is the first, negated and scaled") {
    HeadProblem<float> problem = data.problem(0);
    problem.maps[1] = problem.maps[0];
    problem.maps[0] = {};
    const std::vector<double> half(150, 0.5);
    problem.lambda = half.data();
    const Run second = run(problem);
    for (std::size_t at = 0; at < plain.context.size(); ++at)
      CATCH_CHECK(second.context[at] == near(-0.5 * plain.context[at], 1e-6, 1e-9));
    for (std::size_t j = 0; j < 150; ++j)
      CATCH_CHECK(second.statistics.column_sum[j] == near(-0.5 * plain.statistics.column_sum[j], 1e-6));
  }
  CATCH_SECTION("a window of the whole length is causal") {
    HeadProblem<float> problem = softmax;
    problem.mask.window = 150;
    CATCH_CHECK(statistics_mismatch(run(problem).statistics, plain.statistics, kRounding) == "");
  }
  CATCH_SECTION("padding is as if the rows and keys before it were not there") {
    HeadProblem<float> padded = softmax, shifted = softmax;
    padded.mask.first_key = 37;
    shifted.mask.length -= 37;
    kernels::MapInput<float>& map = shifted.maps[0];
    map.query += 37 * map.query_stride, map.key += 37 * map.key_stride, map.value += 37 * map.value_stride;
    shifted.induction_key = nullptr;
    const Run a = run(padded), b = run(shifted);
    for (std::size_t i = 37; i < 150; ++i) {
      CATCH_CHECK(a.statistics.maps[0].lse[i] == near(b.statistics.maps[0].lse[i - 37], kRounding));
      CATCH_CHECK(a.statistics.maps[0].entropy[i] == near(b.statistics.maps[0].entropy[i - 37], 0.0, 2e-5));
      CATCH_CHECK(a.statistics.column_sum[i] == near(b.statistics.column_sum[i - 37], 1e-5));
      for (std::size_t c = 0; c < 6; ++c)
        CATCH_CHECK(a.context[i * 6 + c] == near(b.context[(i - 37) * 6 + c], 0.0, 1e-5));
    }
    for (std::size_t i = 0; i < 37; ++i) {
      CATCH_CHECK(a.statistics.maps[0].lse[i] == -INFINITY);
      CATCH_CHECK(a.statistics.column_sum[i] == 0.0);
      for (std::size_t c = 0; c < 6; ++c) CATCH_CHECK(a.context[i * 6 + c] == 0.0);
    }
  }
}

CATCH_TEST_CASE("cpu laws: rows know nothing of the order of keys where all are visible") {
  AttentionData<float> data = random_attention<float>({.name = "", .heads = 1, .causal = false}, 141, 31);
  data.induction_key.assign(141, -1);
  const Run before = run(data.problem(0));
  const AttentionData<float> old = data;
  const auto from = [](std::size_t j) { return (j * 7 + 3) % 141; };
  for (std::size_t j = 0; j < 141; ++j) {
    std::copy_n(old.key.begin() + static_cast<std::ptrdiff_t>(from(j) * 8), 8,
                data.key.begin() + static_cast<std::ptrdiff_t>(j * 8));
    std::copy_n(old.value.begin() + static_cast<std::ptrdiff_t>(from(j) * 6), 6,
                data.value.begin() + static_cast<std::ptrdiff_t>(j * 6));
  }
  const Run after = run(data.problem(0));
  const MapStatistics &a = before.statistics.maps[0], &b = after.statistics.maps[0];
  CATCH_CHECK(same_bits(a.logit_max, b.logit_max));
  CATCH_CHECK(same_bits(a.logit_min, b.logit_min));
  CATCH_CHECK(array_mismatch("lse", b.lse, a.lse, kRounding) == "");
  CATCH_CHECK(array_mismatch("entropy", b.entropy, a.entropy, kRounding) == "");
  CATCH_CHECK(array_mismatch("weight_l2_squared", b.weight_l2_squared, a.weight_l2_squared, kRounding) == "");
  CATCH_CHECK(array_mismatch("context_energy", b.context_energy, a.context_energy, kRounding) == "");
  CATCH_CHECK(array_mismatch("context", after.context, before.context, kRounding) == "");
  CATCH_CHECK(a.logit_histogram == b.logit_histogram);
  for (std::size_t j = 0; j < 141; ++j) CATCH_CHECK(b.column_sum[j] == near(a.column_sum[from(j)], 1e-5));
}

CATCH_TEST_CASE(
    "cpu laws: a constant added to every value adds its share to the context, one added to logits nothing") {
  AttentionData<float> data = random_attention<float>({.name = "", .heads = 1, .sink = 0.5}, 140, 41);
  const Run before = run(data.problem(0));
  for (std::size_t at = 0; at < data.value.size(); ++at) data.value[at] += static_cast<float>(at % 6);
  const Run after = run(data.problem(0));
  for (std::size_t i = 0; i < 140; ++i)
    for (std::size_t c = 0; c < 6; ++c) {
      const double share = static_cast<double>(c) * before.statistics.weight_sum[i];
      CATCH_CHECK(after.context[i * 6 + c] == near(before.context[i * 6 + c] + share, 0.0, 2e-5));
    }
  // One channel more: the key's is 1, the query's is the constant.
  AttentionData<float> wide = random_attention<float>({.name = "", .heads = 1}, 140, 42);
  for (std::size_t j = 0; j < 140; ++j) wide.key[j * 8 + 7] = 1.0f;
  const Run low = run(wide.problem(0));
  for (std::size_t i = 0; i < 140; ++i) wide.query[i * 8 + 7] += 64.0f;
  const Run high = run(wide.problem(0));
  const double added = 64.0 / std::sqrt(8.0);
  for (std::size_t i = 0; i < 140; ++i) {
    CATCH_CHECK(high.statistics.maps[0].lse[i] == near(low.statistics.maps[0].lse[i] + added, 0.0, 2e-5));
    CATCH_CHECK(high.statistics.maps[0].entropy[i] == near(low.statistics.maps[0].entropy[i], 0.0, 1e-4));
  }
  CATCH_CHECK(array_mismatch("context", high.context, low.context, 2e-5) == "");
}

CATCH_TEST_CASE("cpu laws: grouped key heads are the same as repeated ones") {
  const auto grouped = random_attention<float>({.name = "GQA", .heads = 6, .kv_heads = 2}, 70, 17);
  auto repeated = grouped;
  repeated.shape.kv_heads = 6;
  repeated.key.clear();
  repeated.value.clear();
  for (std::size_t i = 0; i < 70; ++i)
    for (std::size_t head = 0; head < 6; ++head) {
      const std::size_t block = i * 2 + head / 3;
      for (std::size_t c = 0; c < 8; ++c) repeated.key.push_back(grouped.key[block * 8 + c]);
      for (std::size_t c = 0; c < 6; ++c) repeated.value.push_back(grouped.value[block * 6 + c]);
    }
  for (std::int64_t head = 0; head < 6; ++head) {
    const Run a = run(grouped.problem(head)), b = run(repeated.problem(head));
    CATCH_INFO("head " << head);
    CATCH_CHECK(different_bits(a.statistics, b.statistics) == "");
    CATCH_CHECK(a.context == b.context);
  }
}

CATCH_TEST_CASE("cpu laws: the goldens") {
  const auto narrow = [](Pairing pairing) {
    const AttentionData<double> wide = golden_attention(pairing);
    AttentionData<float> data;
    data.shape = wide.shape, data.length = wide.length;
    data.query.assign(wide.query.begin(), wide.query.end());
    data.key.assign(wide.key.begin(), wide.key.end());
    data.value.assign(wide.value.begin(), wide.value.end());
    data.lambda = wide.lambda, data.induction_key = wide.induction_key;
    return data;
  };
  const auto mean = [](const std::vector<double>& rows, auto value) {
    double total = 0.0;
    for (const double row : rows) total += value(row);
    return total / static_cast<double>(rows.size());
  };
  const auto same = [](double value) { return value; };
  const auto root = [](double value) { return std::sqrt(value); };
  const auto mean_rms = [&](const Run& result) {
    double total = 0.0;
    for (auto row = result.context.begin(); row != result.context.end(); row += kGoldenDim) {
      double squares = 0.0;
      for (auto c = row; c != row + kGoldenDim; ++c) squares += *c * *c;
      total += std::sqrt(squares / static_cast<double>(kGoldenDim));
    }
    return total / static_cast<double>(kGoldenLength);
  };
  const AttentionData<float> single = narrow(Pairing::Single), pair = narrow(Pairing::V2);
  const Run softmax = run(single.problem(0)), differential = run(pair.problem(0));
  const SoftmaxGoldens first;
  const DifferentialGoldens second;
  constexpr double kInputs = 1e-6;  // the inputs themselves are rounded to float
  const MapStatistics& map = softmax.statistics.maps[0];
  CATCH_CHECK(mean(map.first_key_weight, same) == near(first.first_column_mean, kInputs));
  CATCH_CHECK(map.column_sum[0] / 64.0 == near(first.first_column_mean, kInputs));
  CATCH_CHECK(map.column_sum[5] / 59.0 == near(first.column_5_mean, kInputs));
  CATCH_CHECK(mean(map.lse, same) == near(first.mean_lse, kInputs));
  CATCH_CHECK(mean(map.entropy, same) == near(first.mean_entropy, kInputs));
  CATCH_CHECK(mean(map.weight_l2_squared, root) == near(first.mean_l2, kInputs));
  CATCH_CHECK(*std::max_element(map.logit_max.begin(), map.logit_max.end()) == near(first.logit_max, kInputs));
  CATCH_CHECK(-*std::min_element(map.logit_min.begin(), map.logit_min.end()) == near(first.logit_abs_max, kInputs));
  CATCH_CHECK(map.logit_max_raw == near(first.logit_max, kInputs));
  CATCH_CHECK(mean_rms(softmax) == near(first.mean_rms, kInputs));
  const HeadStatistics& net = differential.statistics;
  CATCH_CHECK(mean(net.weight_l2_squared, root) == near(second.mean_l2, kInputs));
  CATCH_CHECK(mean(net.weight_l1, same) == near(second.mean_l1, kInputs));
  CATCH_CHECK(mean(net.weight_sum, same) == near(second.mean_sum, kInputs));
  CATCH_CHECK(mean_rms(differential) == near(second.mean_rms, kInputs));
  CATCH_CHECK((sum(net.weight_l1) - sum(net.weight_sum)) / 128.0 == near(second.mean_negative_mass, kInputs));
}

}  // namespace headroom::test
