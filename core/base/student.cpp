#include "core/base/student.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/base/numbers.h"

namespace headroom {
namespace {

// The continued fraction of I_x(a, b) without its front factor, by Lentz's method as modified by Thompson and Barnett;
// it converges fast for x < (a + 1)/(a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 100000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), result = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double n = m;
    const double even = n * (b - n) * x / ((a + 2.0 * n - 1.0) * (a + 2.0 * n));
    d = 1.0 / away_from_zero(1.0 + even * d), c = away_from_zero(1.0 + even / c);
    result *= d * c;
    const double odd = -(a + n) * (a + b + n) * x / ((a + 2.0 * n) * (a + 2.0 * n + 1.0));
    d = 1.0 / away_from_zero(1.0 + odd * d), c = away_from_zero(1.0 + odd / c);
    const double change = d * c;
    result *= change;
    if (std::abs(change - 1.0) < 4.0 * std::numeric_limits<double>::epsilon()) break;
  }
  return result;
}

// The x in [low, high] at which an increasing function reaches `value`, to the last bits.
template <typename Function>
double solve_increasing(const Function& function, double value, double low, double high) {
  for (int step = 0; step < 200; ++step) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (function(middle) < value ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

template <typename Function>
double simpson(const Function& function, double begin, double end) {
  constexpr int kIntervals = 2000;
  const double step = (end - begin) / kIntervals;
  double sum = function(begin) + function(end);
  for (int i = 1; i < kIntervals; ++i) sum += (i % 2 == 1 ? 4.0 : 2.0) * function(begin + step * i);
  return sum * step / 3.0;
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(a, b, x) / a;
  return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double student_two_sided(double t, double degrees) {
  if (std::isnan(t)) return kNaN;
  if (std::isinf(t)) return 0.0;
  return incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + t * t));
}

double student_point(double level, double degrees) {
  double high = 1.0;
  while (student_two_sided(high, degrees) > level && high < 1e300) high *= 2.0;
  return solve_increasing([&](double t) { return -student_two_sided(t, degrees); }, -level, 0.0, high);
}

double student_power(double effect, double degrees, double level) {
  // T′ = (Z + effect)/S with S = √(χ²/degrees): the tails of Z, averaged over S by Simpson's rule.
  const double point = student_point(level, degrees);
  const double log_constant = std::log(2.0) + 0.5 * degrees * std::log(0.5 * degrees) - std::lgamma(0.5 * degrees);
  const auto integrand = [&](double s) {
    const double tails = normal_below(effect - point * s) + normal_below(-effect - point * s);
    if (s == 0.0) return degrees > 1.0 ? 0.0 : tails * std::exp(log_constant);
    return tails * std::exp(log_constant + (degrees - 1.0) * std::log(s) - 0.5 * degrees * s * s);
  };
  // Beyond the ends the density of S is below e⁻⁵⁰ of its largest; with few degrees the tails fall fast near 0.
  const double width = 10.0 / std::sqrt(degrees);
  const double begin = std::max(0.0, 1.0 - width), end = 1.0 + width;
  const double middle = std::clamp((std::abs(effect) + 12.0) / point, begin, end);
  return std::min(1.0, simpson(integrand, begin, middle) + simpson(integrand, middle, end));
}

double student_detectable(double degrees, double level, double power) {
  double high = 1.0;
  while (student_power(high, degrees, level) < power && high < 1e6) high *= 2.0;
  return solve_increasing([&](double effect) { return student_power(effect, degrees, level); }, power, 0.0, high);
}

double binomial_at_least(std::int64_t successes, std::int64_t trials, double share) {
  if (successes <= 0) return 1.0;
  if (successes > trials) return 0.0;
  const auto k = static_cast<double>(successes), n = static_cast<double>(trials);
  return incomplete_beta(k, n - k + 1.0, share);
}

double binomial_test(std::int64_t successes, std::int64_t trials, double share) {
  const double above = binomial_at_least(successes, trials, share);
  const double below = binomial_at_least(trials - successes, trials, 1.0 - share);
  return std::min(1.0, 2.0 * std::min(above, below));
}

ShareInterval share_interval(std::int64_t successes, std::int64_t trials, double level) {
  ShareInterval interval;
  const auto at_least = [&](std::int64_t k) {
    return [k, trials](double share) { return binomial_at_least(k, trials, share); };
  };
  if (successes > 0) interval.low = solve_increasing(at_least(successes), 0.5 * level, 0.0, 1.0);
  if (successes < trials) interval.high = solve_increasing(at_least(successes + 1), 1.0 - 0.5 * level, 0.0, 1.0);
  return interval;
}

double binomial_detectable(std::int64_t trials, double share, double level, double power) {
  std::int64_t enough = 0;
  while (enough <= trials && 2.0 * binomial_at_least(enough, trials, share) > level) ++enough;
  if (enough > trials) return kNaN;
  return solve_increasing([&](double truth) { return binomial_at_least(enough, trials, truth); }, power, share, 1.0);
}

}  // namespace headroom
