// An input that formulas give, and what was computed from it once: in double, by a program of its own with dense maps,
// apart from everything here. tests/oracle/test_goldens.py holds the oracle to the same values. Plain data; safe from
// any thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/attention_cases.h"

namespace headroom::test {

inline constexpr std::int64_t kGoldenLength = 64;
inline constexpr std::int64_t kGoldenDim = 16;

// X(i, c) = s · sin(A (i + 1)(c + 1) + B (i + 1) + C (c + 1)), row-major.
[[nodiscard]] inline std::vector<double> golden_wave(double a, double b, double c, double s) {
  std::vector<double> rows;
  for (int i = 1; i <= kGoldenLength; ++i)
    for (int channel = 1; channel <= kGoldenDim; ++channel)
      rows.push_back(s * std::sin(a * i * channel + b * i + c * channel));
  return rows;
}

[[nodiscard]] inline std::vector<double> golden_query(int map) {
  return map == 0 ? golden_wave(0.37, 0.11, 0.23, 1.5) : golden_wave(0.29, 0.17, 0.31, 1.5);
}
[[nodiscard]] inline std::vector<double> golden_key() { return golden_wave(0.41, 0.07, 0.19, 1.5); }
[[nodiscard]] inline std::vector<double> golden_value() { return golden_wave(0.53, 0.13, 0.05, 1.0); }

// σ(sin 0.9 (i + 1)).
[[nodiscard]] inline std::vector<double> golden_lambda() {
  std::vector<double> lambda;
  for (int i = 1; i <= kGoldenLength; ++i) lambda.push_back(1.0 / (1.0 + std::exp(-std::sin(0.9 * i))));
  return lambda;
}

// One head: softmax with Q1 (Pairing::Single) or the differential pair of Q1 and Q2 (Pairing::V2).
[[nodiscard]] inline AttentionData<double> golden_attention(Pairing pairing) {
  AttentionData<double> data;
  data.shape = {.name = "goldens", .pairing = pairing, .heads = 1, .head_dim = kGoldenDim, .value_dim = kGoldenDim};
  data.length = kGoldenLength;
  data.key = golden_key();
  data.value = golden_value();
  data.lambda = golden_lambda();
  data.induction_key.assign(static_cast<std::size_t>(kGoldenLength), -1);
  const std::vector<double> first = golden_query(0), second = golden_query(1);
  for (std::size_t row = 0; row < static_cast<std::size_t>(kGoldenLength); ++row)
    for (const std::vector<double>* query : {&first, &second}) {
      if (pairing == Pairing::Single && query == &second) continue;
      const auto begin = query->begin() + static_cast<std::ptrdiff_t>(row) * kGoldenDim;
      data.query.insert(data.query.end(), begin, begin + kGoldenDim);
    }
  return data;
}

// As printed, ten significant digits each.
struct SoftmaxGoldens {
  double first_column_mean = 0.05741787484, column_5_mean = 0.03917211268;
  double mean_lse = 4.048097068, mean_entropy = 2.457590683, mean_l2 = 0.4098266601;
  double logit_max = 5.206552199, logit_abs_max = 7.257406548;
  double mean_rms = 0.2659052276, coherence = 0.9191340180;
  double value_mean_share = 0.0007207720761;
};
struct DifferentialGoldens {
  double mean_l2 = 0.3835799988, mean_rms = 0.2699874775, coherence = 1.017887568;
  double mean_l1 = 0.9587514015, mean_negative_mass = 0.2311418217, mean_sum = 0.4964677582;
  double mean_output_cancellation = 0.9091961792;
};

// Half a unit of the tenth significant digit, with a little room for the golden's own rounding.
[[nodiscard]] inline bool same_digits(double found, double golden) {
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(golden))) - 9.0);
  return std::abs(found - golden) <= 0.51 * unit;
}

}  // namespace headroom::test
