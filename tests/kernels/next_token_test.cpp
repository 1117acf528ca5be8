// Rows of logits against the formulas in long double, on every instruction set of this processor.
#include "kernels/cpu/next_token.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/target.h"
#include "tests/support/catch.h"

namespace headroom::kernels::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Real>
void check_row(const std::vector<Real>& z, std::int32_t came) {
  const NextToken found = next_token(z, came);
  const auto most = static_cast<long double>(*std::ranges::max_element(z));
  long double sum = 0.0L, weighted = 0.0L;
  for (const Real value : z)
    if (std::isfinite(value)) {
      const long double e = std::exp(static_cast<long double>(value) - most);
      sum += e;
      weighted += e * static_cast<long double>(value);
    }
  const long double lse = most + std::log(sum);
  CATCH_CHECK(std::abs(found.log_sum_exp - static_cast<double>(lse)) <= 1e-14 * (1.0 + std::abs(found.log_sum_exp)));
  CATCH_CHECK(std::abs(found.entropy - static_cast<double>(lse - weighted / sum)) <= 1e-12);
  std::vector<std::int32_t> order(z.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::int32_t id) { return z[static_cast<std::size_t>(id)]; });
  for (std::size_t k = 0; k < static_cast<std::size_t>(kLikeliest); ++k) {
    const bool there = k < z.size() && z[static_cast<std::size_t>(order[k])] > -kInfinity;
    CATCH_CHECK(found.token[k] == (there ? order[k] : -1));
    if (there)
      CATCH_CHECK(std::abs(found.log_probability[k] -
                           static_cast<double>(static_cast<long double>(z[static_cast<std::size_t>(order[k])]) -
                                               lse)) <= 1e-13 * (1.0 + std::abs(found.log_probability[k])));
    else
      CATCH_CHECK(std::isnan(found.log_probability[k]));
  }
  if (came < 0) {
    CATCH_CHECK(std::isnan(found.loss));
    CATCH_CHECK(found.rank == -1);
    return;
  }
  const Real own = z[static_cast<std::size_t>(came)];
  CATCH_CHECK(found.rank == 1 + std::ranges::count_if(z, [&](Real value) { return value > own; }));
  if (own > -kInfinity)
    CATCH_CHECK(std::abs(found.loss - static_cast<double>(lse - static_cast<long double>(own))) <=
                1e-13 * (1.0 + found.loss));
  else
    CATCH_CHECK(found.loss == kInfinity);
}

// Runs `body` with each instruction set.
template <typename Body>
void on_every_target(const Body& body) {
  for (const std::string& target : cpu_targets()) {
    CATCH_INFO(target);
    CATCH_REQUIRE(choose_cpu_target(target));
    body();
  }
  CATCH_REQUIRE(choose_cpu_target(""));
}

}  // namespace

CATCH_TEST_CASE("next token: log-sum-exp, entropy, likeliest tokens, loss and rank of random rows of every length") {
  on_every_target([] {
    std::mt19937 random(7);
    for (const std::size_t size : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 100, 1000, 4097}) {
      std::normal_distribution<double> normal(0.0, 6.0);
      std::vector<double> z(size);
      for (double& value : z) value = normal(random);
      const std::vector<float> narrow(z.begin(), z.end());
      CATCH_INFO(size << " tokens");
      for (const std::int32_t came :
           {-1, 0, static_cast<std::int32_t>(size / 2), static_cast<std::int32_t>(size - 1)}) {
        check_row(z, came);
        check_row(narrow, came);
      }
    }
  });
}

CATCH_TEST_CASE("next token: equal logits by id, sorted ones, huge ones, ones of −∞") {
  on_every_target([] {
    check_row(std::vector<float>(50, 3.0f), 20);  // entropy ln 50, all of rank 1
    std::vector<float> rising(200);
    std::iota(rising.begin(), rising.end(), -100.0f);
    const std::vector<float> falling(rising.rbegin(), rising.rend());
    check_row(rising, 3);
    check_row(falling, 3);
    check_row(std::vector<float>{3e4f, -3e4f, 3e4f, 0.0f}, 1);
    const auto none = static_cast<float>(-kInfinity);
    check_row(std::vector<float>{none, 2.0f, none, 1.0f, none, none, none, none, none, none, 0.5f}, 0);
  });
}

CATCH_TEST_CASE("next token: a row that is not a distribution has no numbers") {
  on_every_target([] {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const std::size_t at : {0, 3, 18, 36})
      for (const double bad : {nan, kInfinity}) {
        std::vector<float> z(37, 1.0f);
        z[at] = static_cast<float>(bad);
        const NextToken found = next_token(z, 5);
        CATCH_CHECK(std::isnan(found.log_sum_exp));
        CATCH_CHECK(std::isnan(found.entropy));
        CATCH_CHECK(std::isnan(found.loss));
        CATCH_CHECK(found.rank == -1);
        CATCH_CHECK(found.token[0] == -1);
      }
    CATCH_CHECK(std::isnan(next_token(std::vector<double>(9, -kInfinity), 0).log_sum_exp));
  });
}

}  // namespace headroom::kernels::test
