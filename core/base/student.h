// Distributions that decisions over seeds rest on: Student's t, central and not, and the binomial. Pure functions; safe
// from any thread. Relative errors are below 1e-9 for degrees from 1 to 10⁴ (compared with SciPy in a test).
#pragma once

#include <cstdint>

namespace headroom {

// The regularised incomplete beta function I_x(a, b), a, b > 0, 0 ≤ x ≤ 1 (DLMF 8.17).
[[nodiscard]] double incomplete_beta(double a, double b, double x);

// P(|T| ≥ |t|) of Student's t with `degrees` ≥ 1, which need not be whole.
[[nodiscard]] double student_two_sided(double t, double degrees);
// The t with P(|T| ≥ t) = level.
[[nodiscard]] double student_point(double level, double degrees);

// P(|T′| ≥ student_point(level, degrees)) of the non-central t: the power of a two-sided t test at `level` when the
// true difference is `effect` standard errors.
[[nodiscard]] double student_power(double effect, double degrees, double level);
// The difference, in standard errors, that such a test sees with probability `power`: the minimal detectable effect.
[[nodiscard]] double student_detectable(double degrees, double level, double power);

// P(K ≥ successes) of `trials` with probability `share` each.
[[nodiscard]] double binomial_at_least(std::int64_t successes, std::int64_t trials, double share);
// The exact two-sided p of `successes` in `trials` where `share` of them is expected: twice the smaller tail. With one
// half it is the sign test.
[[nodiscard]] double binomial_test(std::int64_t successes, std::int64_t trials, double share);
// The exact interval of the share (Clopper and Pearson 1934) that misses it with probability `level` at most.
struct ShareInterval {
  double low = 0.0, high = 1.0;
};
[[nodiscard]] ShareInterval share_interval(std::int64_t successes, std::int64_t trials, double level);
// The least share above `share` that the test at `level` tells from it with probability `power`; NaN where even all of
// `trials` would not decide.
[[nodiscard]] double binomial_detectable(std::int64_t trials, double share, double level, double power);

}  // namespace headroom
