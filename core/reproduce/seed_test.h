// Tests of what models trained from several seeds show, and Holm's correction of several tests together. Pure; safe
// from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/reproduce/spread.h"

namespace headroom {

inline constexpr double kFamilyError = 0.05;  // the probability that any sentence of a claim is decided wrongly
inline constexpr double kPower = 0.8;

enum class SeedTestKind {
  Paired,    // Student's t on the differences of each seed
  Welch,     // t on the means of two independent sides, degrees by Welch and Satterthwaite
  Inside,    // t on one mean against the nearer end of an interval
  Binomial,  // the exact test of a share
};

[[nodiscard]] const char* kind_text(SeedTestKind kind);

// What is tested, and what came of it. Two sides are compared in both ways: `kind` is the one that the models'
// beginnings justify, `other` the remaining one.
struct SeedTest {
  SeedTestKind kind = SeedTestKind::Welch;
  std::int64_t count = 0, other_count = 0;  // seeds, or trials; of the second side, 0 without one
  double effect = 0.0;                      // above 0 for the sentence, below 0 against it
  double error = 0.0, degrees = 0.0;        // t: standard error of the effect, and its degrees of freedom
  std::int64_t successes = 0;               // binomial
  double expected = 0.5;                    // binomial: the share under the null
  double shown = 0.0;                       // what the interval is of: the difference, the mean, the share
  double p = 1.0;                           // two-sided, not corrected
  struct OtherWay {
    SeedTestKind kind = SeedTestKind::Paired;
    double effect = 0.0, p = 1.0;
  };
  std::optional<OtherWay> other;

  // Of `shown`, missing the truth with probability `level`; NaN where the numbers have no spread to make it of.
  struct Interval {
    double low = 0.0, high = 0.0;
  };
  [[nodiscard]] Interval interval(double level) const;
  // The effect that the test at `level` would have seen with probability kPower, with the errors that were found; NaN
  // where there is none.
  [[nodiscard]] double detectable(double level) const;
};

// How two groups of models began.
struct Start {
  bool data = false;     // the same batches in the same order
  bool weights = false;  // the same initial value of every weight
  [[nodiscard]] bool paired() const { return data && weights; }
};

// Is `left` smaller than `right`? The effect is right − left. Paired by seed where they began alike, else Welch's; the
// other way beside it where there are pairs. A seed that one side lacks (NaN) is left out of pairs. Nothing where a
// side has fewer than two seeds: one seed decides nothing. Where the numbers have no spread at all, as counts may, p is
// that of the permutation test: 2/2ⁿ of n pairs, 2 over the ways to choose n of n + m otherwise.
[[nodiscard]] std::optional<SeedTest> test_smaller(const Spread& left, const Spread& right, const Start& start);

// Does the mean lie in (low, high)? The effect is its distance from the nearer end, negative outside.
[[nodiscard]] std::optional<SeedTest> test_inside(const Spread& numbers, double low, double high);

// Are more of the trials successes than `expected`? Nothing for fewer than two trials.
[[nodiscard]] std::optional<SeedTest> test_share(std::int64_t successes, std::int64_t trials, double expected = 0.5);

// Holm (1979): p ascending, the k-th of m is held against error/(m − k + 1), and the first that is not below ends it.
struct HolmStep {
  bool rejected = false;
  double level = 0.0;     // what its p was held against; behind the end, what ended it was held against
  double adjusted = 1.0;  // the p corrected: the family error at which it would just be rejected
};
[[nodiscard]] std::vector<HolmStep> holm(const std::vector<double>& p, double error = kFamilyError);

}  // namespace headroom
