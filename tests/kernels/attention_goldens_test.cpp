// The goldens (tests/support/attention_goldens.h) from the reference, to their last digit.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/reference/attention.h"
#include "tests/support/attention_goldens.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

struct Golden {
  kernels::HeadStatistics statistics;
  std::vector<double> rms;  // of each row's context
};

Golden run(Pairing pairing) {
  const AttentionData<double> data = golden_attention(pairing);
  Golden golden;
  std::vector<double> context(static_cast<std::size_t>(kGoldenLength * kGoldenDim));
  kernels::reference_attention(data.problem(0), {}, golden.statistics, context);
  for (auto row = context.begin(); row != context.end(); row += kGoldenDim) {
    double squares = 0.0;
    for (auto c = row; c != row + kGoldenDim; ++c) squares += *c * *c;
    golden.rms.push_back(std::sqrt(squares / static_cast<double>(kGoldenDim)));
  }
  return golden;
}

template <typename Rows, typename Value>
double mean(const Rows& rows, const Value& value) {
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) sum += value(i);
  return sum / static_cast<double>(rows.size());
}

double mean(const std::vector<double>& rows) {
  return mean(rows, [&](std::size_t i) { return rows[i]; });
}

double mean_root(const std::vector<double>& rows) {
  return mean(rows, [&](std::size_t i) { return std::sqrt(rows[i]); });
}

// ΣRMS² / Σ Σ w² r².
double coherence(const Golden& golden) {
  return mean(golden.rms, [&](std::size_t i) { return golden.rms[i] * golden.rms[i]; }) /
         mean(golden.statistics.uncorrelated_energy);
}

}  // namespace

CATCH_TEST_CASE("goldens: softmax") {
  const Golden golden = run(Pairing::Single);
  const SoftmaxGoldens expected;
  const kernels::MapStatistics& map = golden.statistics.maps[0];
  const auto column_mean = [&](std::size_t key) {
    return map.column_sum[key] / static_cast<double>(kGoldenLength - static_cast<std::int64_t>(key));
  };
  CATCH_CHECK(same_digits(column_mean(0), expected.first_column_mean));
  CATCH_CHECK(same_digits(mean(map.first_key_weight), expected.first_column_mean));
  CATCH_CHECK(same_digits(column_mean(5), expected.column_5_mean));
  CATCH_CHECK(same_digits(mean(map.lse), expected.mean_lse));
  CATCH_CHECK(same_digits(mean(map.entropy), expected.mean_entropy));
  CATCH_CHECK(same_digits(mean_root(map.weight_l2_squared), expected.mean_l2));
  const double high = *std::max_element(map.logit_max.begin(), map.logit_max.end());
  const double low = *std::min_element(map.logit_min.begin(), map.logit_min.end());
  CATCH_CHECK(same_digits(high, expected.logit_max));
  CATCH_CHECK(same_digits(map.logit_max_raw, expected.logit_max));
  CATCH_CHECK(same_digits(std::max(high, -low), expected.logit_abs_max));
  CATCH_CHECK(same_digits(mean(golden.rms), expected.mean_rms));
  CATCH_CHECK(same_digits(coherence(golden), expected.coherence));
}

CATCH_TEST_CASE("goldens: the differential pair") {
  const Golden golden = run(Pairing::V2);
  const DifferentialGoldens expected;
  const SoftmaxGoldens first;
  const kernels::HeadStatistics& s = golden.statistics;
  CATCH_CHECK(same_digits(mean_root(s.weight_l2_squared), expected.mean_l2));
  CATCH_CHECK(same_digits(mean(golden.rms), expected.mean_rms));
  CATCH_CHECK(same_digits(coherence(golden), expected.coherence));
  CATCH_CHECK(same_digits(mean(s.weight_l1), expected.mean_l1));
  CATCH_CHECK(same_digits(mean(s.weight_sum), expected.mean_sum));
  const auto negative = [&](std::size_t i) { return (s.weight_l1[i] - s.weight_sum[i]) / 2.0; };
  CATCH_CHECK(same_digits(mean(s.weight_l1, negative), expected.mean_negative_mass));
  const std::vector<double> lambda = golden_lambda();
  const auto cancellation = [&](std::size_t i) {
    const double square = s.maps[0].context_energy[i] + lambda[i] * lambda[i] * s.maps[1].context_energy[i];
    return golden.rms[i] * std::sqrt(static_cast<double>(kGoldenDim) / square);
  };
  CATCH_CHECK(same_digits(mean(golden.rms, cancellation), expected.mean_output_cancellation));
  CATCH_CHECK(same_digits(mean(s.maps[0].lse), first.mean_lse));
  CATCH_CHECK(same_digits(mean(s.maps[0].entropy), first.mean_entropy));
}

CATCH_TEST_CASE("goldens: softmax1 of the logits 1, 0, −1, 2") {
  const std::vector<double> query(4, 1.0), key = {1.0, 0.0, -1.0, 2.0};
  kernels::HeadProblem<double> problem;
  problem.mask.length = 4;
  problem.head_dim = problem.value_dim = 1;
  problem.maps[0] = {query.data(), key.data(), key.data(), 1, 1, 1};
  problem.has_sink = true;
  kernels::HeadStatistics statistics;
  std::vector<double> context(4);
  kernels::reference_attention(problem, {}, statistics, context);
  const std::vector<double> weights = kernels::reference_weights(problem, 0, 3);
  const double printed[] = {0.2178945, 0.0801589, 0.0294888, 0.5922988};
  for (std::size_t j = 0; j < 4; ++j) CATCH_CHECK(std::abs(weights[j] - printed[j]) <= 0.51e-7);
  CATCH_CHECK(std::abs(statistics.maps[0].weight_sum[3] - 0.9198411) <= 0.51e-7);
  // 1·0.2178945 − 1·0.0294888 + 2·0.5922988, the sink's value being 0.
  CATCH_CHECK(std::abs(context[3] - 1.3730033) <= 2e-7);
}

}  // namespace headroom::test
