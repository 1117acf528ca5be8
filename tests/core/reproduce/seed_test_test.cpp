// Tests over seeds against SciPy's, Holm's correction against statsmodels' (seed_table.h), and which of two ways of
// comparing is taken.
#include "core/reproduce/seed_test.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/student.h"
#include "tests/core/reproduce/seed_table.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Start kAlike = {true, true}, kSameData = {true, false};

SeedTest tested(const std::vector<double>& left, const std::vector<double>& right, const Start& start) {
  const std::optional<SeedTest> test = test_smaller(Spread{left}, Spread{right}, start);
  CATCH_REQUIRE(test.has_value());
  return *test;
}

}  // namespace

CATCH_TEST_CASE("seed test: paired and Welch's t, their p, degrees and intervals are SciPy's") {
  for (const SeedsCase& known : kSeedsCases) {
    CATCH_INFO(known.left.size() << " and " << known.right.size() << " seeds, level " << known.level);
    const SeedTest paired = tested(known.left, known.right, kAlike);
    CATCH_CHECK(paired.kind == SeedTestKind::Paired);
    CATCH_CHECK(paired.p == near(known.paired_p, 1e-9));
    CATCH_CHECK(paired.interval(known.level).low == near(known.paired_low, 1e-8, 1e-8));
    CATCH_CHECK(paired.interval(known.level).high == near(known.paired_high, 1e-8, 1e-8));
    const SeedTest welch = tested(known.left, known.right, kSameData);
    CATCH_CHECK(welch.kind == SeedTestKind::Welch);
    CATCH_CHECK(welch.p == near(known.welch_p, 1e-9));
    CATCH_CHECK(welch.degrees == near(known.welch_degrees, 1e-9));
    CATCH_CHECK(welch.interval(known.level).low == near(known.welch_low, 1e-8, 1e-8));
    CATCH_CHECK(welch.interval(known.level).high == near(known.welch_high, 1e-8, 1e-8));
    // Each has the other beside it.
    CATCH_REQUIRE(paired.other.has_value());
    CATCH_REQUIRE(welch.other.has_value());
    CATCH_CHECK(paired.other->kind == SeedTestKind::Welch);
    CATCH_CHECK(paired.other->p == near(known.welch_p, 1e-9));
    CATCH_CHECK(welch.other->kind == SeedTestKind::Paired);
    CATCH_CHECK(welch.other->p == near(known.paired_p, 1e-9));
  }
}

CATCH_TEST_CASE("seed test: pairs need the same data and the same weights") {
  for (const Start& start : {Start{false, false}, Start{true, false}, Start{false, true}})
    CATCH_CHECK(tested({1, 2, 3}, {3, 5, 7}, start).kind == SeedTestKind::Welch);
  CATCH_CHECK(tested({1, 2, 3}, {3, 5, 7}, {true, true}).kind == SeedTestKind::Paired);
}

CATCH_TEST_CASE("seed test: the effect is above 0 where the left side is smaller, and turns with the sides") {
  for (const Start& start : {kAlike, kSameData}) {
    const SeedTest test = tested({1, 2, 3}, {3, 5, 7}, start), turned = tested({3, 5, 7}, {1, 2, 3}, start);
    CATCH_CHECK(test.effect == 3.0);
    CATCH_CHECK(turned.effect == -3.0);
    CATCH_CHECK(turned.p == test.p);
    CATCH_CHECK(turned.interval(0.05).low == near(-test.interval(0.05).high, 1e-14));
  }
}

CATCH_TEST_CASE("seed test: a seed that one side lacks is left out of pairs only, one seed decides nothing") {
  const SeedTest paired = tested({1, kNaN, 2, 3, 50}, {3, 70, 5, 7, kNaN}, kAlike);
  CATCH_CHECK(paired.count == 3);
  CATCH_CHECK(paired.effect == 3.0);
  const SeedTest welch = tested({1, kNaN, 2, 3, 50}, {3, 70, 5, 7, kNaN}, kSameData);
  CATCH_CHECK(welch.count == 4);
  CATCH_CHECK(welch.other_count == 4);
  CATCH_CHECK(welch.effect == 85.0 / 4.0 - 56.0 / 4.0);
  const std::vector<std::vector<double>> none = {{}, {1}, {kNaN, kNaN}, {1, kNaN}};
  for (const std::vector<double>& few : none)
    for (const Start& start : {kAlike, kSameData}) {
      CATCH_CHECK_FALSE(test_smaller(Spread{few}, Spread{{1, 2, 3}}, start).has_value());
      CATCH_CHECK_FALSE(test_smaller(Spread{{1, 2, 3}}, Spread{few}, start).has_value());
      CATCH_CHECK_FALSE(test_inside(Spread{few}, 0.0, 1.0).has_value());
    }
  // Seeds that do not meet: no pairs, but two sides.
  CATCH_CHECK_FALSE(test_smaller(Spread{{1, 2, kNaN, kNaN}}, Spread{{kNaN, kNaN, 3, 4}}, kAlike).has_value());
  const SeedTest apart = tested({1, 2, kNaN, kNaN}, {kNaN, kNaN, 3, 4}, kSameData);
  CATCH_CHECK_FALSE(apart.other.has_value());
}

CATCH_TEST_CASE("seed test: numbers without any spread are counted, not divided by nothing") {
  // Of the 20 ways to choose three of six, two are as extreme; of 2³ signs, two.
  const SeedTest welch = tested({0, 0, 0}, {1, 1, 1}, kSameData);
  CATCH_CHECK(welch.p == near(0.1, 1e-12));
  CATCH_CHECK(welch.other->p == 0.25);
  CATCH_CHECK(std::isnan(welch.interval(0.05).low));
  CATCH_CHECK(std::isnan(welch.detectable(0.05)));
  CATCH_CHECK(tested({2, 2, 2}, {2, 2, 2}, kAlike).p == 1.0);
  CATCH_CHECK(test_inside(Spread{{0.5, 0.5, 0.5, 0.5}}, 0.0, 1.0)->p == 0.125);
}

CATCH_TEST_CASE("seed test: a mean inside an interval is tested against the nearer end") {
  for (const MeanCase& known : kMeanCases) {
    const double mean = Spread{known.numbers}.mean();
    CATCH_INFO("mean " << mean << ", bound " << known.bound);
    // The other end is far away.
    const bool above = mean > known.bound;
    for (const auto& [low, high] : {std::pair{known.bound, 100.0}, std::pair{-100.0, known.bound}}) {
      const std::optional<SeedTest> test = test_inside(Spread{known.numbers}, low, high);
      CATCH_REQUIRE(test.has_value());
      CATCH_CHECK(test->p == near(known.p, 1e-9));
      CATCH_CHECK(test->shown == mean);
      CATCH_CHECK((test->effect > 0.0) == (above == (low == known.bound)));
      CATCH_CHECK(test->interval(known.level).low == near(known.low, 1e-8, 1e-8));
      CATCH_CHECK(test->interval(known.level).high == near(known.high, 1e-8, 1e-8));
    }
  }
}

CATCH_TEST_CASE("seed test: a share is tested with the exact binomial") {
  const std::optional<SeedTest> nine = test_share(9, 10);
  CATCH_REQUIRE(nine.has_value());
  CATCH_CHECK(nine->p == near(22.0 / 1024.0, 1e-12));  // 2·(10 + 1)/2¹⁰
  CATCH_CHECK(nine->effect == near(0.4, 1e-12));
  CATCH_CHECK(test_share(1, 10)->effect == near(-0.4, 1e-12));
  CATCH_CHECK(test_share(5, 10)->p == 1.0);
  CATCH_CHECK_FALSE(test_share(1, 1).has_value());
  // Against one of a hundred: 1 − 0.99³, doubled.
  CATCH_CHECK(test_share(1, 3, 0.01)->p == near(2.0 * (1.0 - 0.970299), 1e-9));
}

CATCH_TEST_CASE("seed test: an interval leaves out no effect exactly where the test decides at its level") {
  for (const double p_wanted : {0.01, 0.04, 0.06, 0.2}) {
    // Three differences 1 apart with the t whose p this is: their error is 1/√3.
    const double mean = student_point(p_wanted, 2.0) / std::sqrt(3.0);
    const SeedTest test = tested({0, 0, 0}, {mean - 1.0, mean, mean + 1.0}, kAlike);
    CATCH_CHECK(test.p == near(p_wanted, 1e-8));
    for (const double level : {0.05, 0.1, 0.02}) CATCH_CHECK((test.interval(level).low > 0.0) == (test.p < level));
  }
}

CATCH_TEST_CASE("seed test: what a test could have seen is seen with a probability of 80 %") {
  const SeedTest test = tested({0, 0, 0, 0}, {1, 2, 3, 4}, kAlike);
  for (const double level : {0.05, 0.01}) {
    const double effect = test.detectable(level);
    CATCH_CHECK(effect > test.interval(level).high - test.effect);  // more than what just decides
    CATCH_CHECK(student_power(effect / test.error, test.degrees, level) == near(kPower, 1e-7));
  }
}

CATCH_TEST_CASE("seed test: Holm's correction is that of statsmodels") {
  for (const HolmCase& known : kHolmCases) {
    const std::vector<HolmStep> steps = holm(known.p);
    CATCH_REQUIRE(steps.size() == known.p.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      CATCH_INFO("p " << known.p[i]);
      CATCH_CHECK(steps[i].adjusted == near(known.adjusted[i], 1e-12));
      CATCH_CHECK(steps[i].rejected == (known.rejected[i] != 0));
      // The level that decides, and that an interval is shown at.
      CATCH_CHECK(steps[i].rejected == (known.p[i] < steps[i].level));
    }
  }
  CATCH_CHECK(holm({}).empty());
  // Behind the first that is not rejected none is, however small beside its own level.
  const std::vector<HolmStep> steps = holm({0.03, 0.04});
  CATCH_CHECK_FALSE(steps[0].rejected);
  CATCH_CHECK_FALSE(steps[1].rejected);
  CATCH_CHECK(steps[1].level == 0.025);
}

CATCH_TEST_CASE("seed test: kinds have names") {
  CATCH_CHECK(std::string(kind_text(SeedTestKind::Paired)) == "paired t");
  CATCH_CHECK(std::string(kind_text(SeedTestKind::Welch)) == "Welch's t");
  CATCH_CHECK(std::string(kind_text(SeedTestKind::Inside)) == "t");
  CATCH_CHECK(std::string(kind_text(SeedTestKind::Binomial)) == "binomial");
}

}  // namespace headroom::test
