// Distributions against SciPy's (student_table.h), and laws that they obey.
#include "core/base/student.h"

#include <cmath>
#include <cstdint>
#include <iterator>

#include "tests/core/reproduce/student_table.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {

CATCH_TEST_CASE("student: the incomplete beta function is SciPy's, with its digits where it is small") {
  for (const BetaValue& known : kBetaValues) {
    CATCH_INFO("I_" << known.x << "(" << known.a << ", " << known.b << ")");
    CATCH_CHECK(incomplete_beta(known.a, known.b, known.x) == near(known.value, 1e-9, 1e-300));
    CATCH_CHECK(incomplete_beta(known.a, known.b, known.x) ==
                near(1.0 - incomplete_beta(known.b, known.a, 1.0 - known.x), 0.0, 1e-10));
  }
  CATCH_CHECK(incomplete_beta(2.0, 3.0, 0.0) == 0.0);
  CATCH_CHECK(incomplete_beta(2.0, 3.0, 1.0) == 1.0);
}

CATCH_TEST_CASE("student: tails and points are SciPy's at every number of degrees, whole or not") {
  for (const TwoSided& known : kTwoSideds) {
    CATCH_INFO("t " << known.t << ", " << known.degrees << " degrees");
    CATCH_CHECK(student_two_sided(known.t, known.degrees) == near(known.p, 1e-9, 1e-300));
  }
  for (const StudentPoint& known : kStudentPoints) {
    CATCH_INFO("level " << known.level << ", " << known.degrees << " degrees");
    CATCH_CHECK(student_point(known.level, known.degrees) == near(known.t, 1e-9));
  }
  CATCH_CHECK(student_two_sided(0.0, 5.0) == 1.0);
  CATCH_CHECK(student_two_sided(HUGE_VAL, 5.0) == 0.0);
  CATCH_CHECK(std::isnan(student_two_sided(std::nan(""), 5.0)));
  // Cauchy's distribution is that of one degree.
  CATCH_CHECK(student_two_sided(1.0, 1.0) == near(0.5, 1e-14));
}

CATCH_TEST_CASE("student: the power of a t test is the non-central t of SciPy, and the effect that it sees") {
  for (const StudentPower& known : kStudentPowers) {
    CATCH_INFO("effect " << known.effect << ", " << known.degrees << " degrees, level " << known.level);
    CATCH_CHECK(student_power(known.effect, known.degrees, known.level) == near(known.power, 1e-8, 1e-9));
  }
  for (const Detectable& known : kDetectables) {
    CATCH_INFO(known.degrees << " degrees, level " << known.level << ", power " << known.power);
    CATCH_CHECK(student_detectable(known.degrees, known.level, known.power) == near(known.effect, 1e-7));
  }
  // Without an effect the test errs as often as its level says.
  CATCH_CHECK(student_power(0.0, 7.0, 0.05) == near(0.05, 1e-8));
}

CATCH_TEST_CASE("student: binomial tails, the sign test and the exact interval of a share are SciPy's") {
  for (const BinomialTail& known : kBinomialTails) {
    CATCH_INFO(known.successes << " of " << known.trials << ", share " << known.share);
    CATCH_CHECK(binomial_at_least(known.successes, known.trials, known.share) == near(known.at_least, 1e-9, 1e-300));
  }
  for (const BinomialTest& known : kBinomialTests) {
    CATCH_INFO(known.successes << " of " << known.trials << " against " << known.share);
    CATCH_CHECK(binomial_test(known.successes, known.trials, known.share) == near(known.p, 1e-9));
  }
  for (const ExactShare& known : kExactShares) {
    CATCH_INFO(known.successes << " of " << known.trials << ", level " << known.level);
    const ShareInterval interval = share_interval(known.successes, known.trials, known.level);
    CATCH_CHECK(interval.low == near(known.low, 1e-8));
    CATCH_CHECK(interval.high == near(known.high, 1e-8));
  }
}

CATCH_TEST_CASE("student: what a sign test of so many can see at all") {
  // Of 10, 9 decide at 5 % (2·11/1024 = 0.021), 10 at 1 % (2/1024 = 0.002); 8 do not (2·56/1024 = 0.11).
  const double nine = binomial_detectable(10, 0.5, 0.05, 0.8), ten = binomial_detectable(10, 0.5, 0.01, 0.8);
  CATCH_CHECK(std::pow(nine, 10) + 10 * std::pow(nine, 9) * (1 - nine) == near(0.8, 1e-9));
  CATCH_CHECK(std::pow(ten, 10) == near(0.8, 1e-9));
  CATCH_CHECK(std::isnan(binomial_detectable(5, 0.5, 0.05, 0.8)));  // 2/32 at best
  CATCH_CHECK(!std::isnan(binomial_detectable(6, 0.5, 0.05, 0.8)));
  // Of 270 where 1 % is expected, 7 and more come with probability 0.020, 6 and more with 0.056.
  CATCH_CHECK(binomial_at_least(7, 270, binomial_detectable(270, 0.01, 0.05, 0.8)) == near(0.8, 1e-9));
}

}  // namespace headroom::test
