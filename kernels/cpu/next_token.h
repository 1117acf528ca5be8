// What a row of logits says of the next token, in one visit of the row: log-sum-exp and entropy in double, the
// likeliest tokens, and loss and rank of the one that came. Safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace headroom::kernels {

// How many tokens are kept.
inline constexpr std::int64_t kLikeliest = 8;

// Of a row that holds NaN or +∞, or nothing but −∞, all numbers are NaN, the rank is −1 and no token is likely.
struct NextToken {
  double log_sum_exp = 0.0;                          // ln Σ e^z, nats
  double entropy = 0.0;                              // of softmax(z), nats
  double loss = 0.0;                                 // log_sum_exp − z of the token that came; NaN where none did
  std::int32_t rank = -1;                            // 1 + number of tokens whose logit is larger; −1 where none came
  std::array<std::int32_t, kLikeliest> token{};      // by descending logit, equal ones by id; −1: no more above −∞
  std::array<double, kLikeliest> log_probability{};  // z − log_sum_exp; NaN where there is no token
};

// `came`: the token that came, −1 where none did.
[[nodiscard]] NextToken next_token(std::span<const float> logits, std::int32_t came);
[[nodiscard]] NextToken next_token(std::span<const double> logits, std::int32_t came);

}  // namespace headroom::kernels
