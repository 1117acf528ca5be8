// What a model says at every row of the token that comes next: the likeliest ones, log-sum-exp and entropy, and loss
// and rank of the one that came; never tokens × vocabulary. Immutable once handed over; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace headroom {

struct Predictions {
  static constexpr std::int64_t kLikeliest = 8;

  std::int64_t vocabulary = 0;
  // By row i, of the token at i + 1; as in kernels::NextToken.
  std::vector<std::int32_t> token;      // [rows, kLikeliest]
  std::vector<double> log_probability;  // [rows, kLikeliest]
  std::vector<double> log_sum_exp, entropy;
  // By row i without the last one, of the token at i + 1, which came.
  std::vector<double> loss;
  std::vector<std::int32_t> rank;
  std::map<std::int32_t, std::string> texts;  // bytes of the tokens above; empty without a tokenizer

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(log_sum_exp.size()); }
  [[nodiscard]] bool present() const { return !log_sum_exp.empty(); }
};

}  // namespace headroom
