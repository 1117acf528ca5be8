// A number over seeds: mean, deviation of the sample, and how both are written.
#include "core/reproduce/spread.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

CATCH_TEST_CASE("spread: mean, deviation of the sample, least and most") {
  // Squares of the distances from 5: 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, over 7.
  const Spread numbers{{2, 4, 4, 4, 5, 5, 7, 9}};
  CATCH_CHECK(numbers.mean() == 5.0);
  CATCH_CHECK(numbers.deviation() == near(std::sqrt(32.0 / 7.0), 1e-15));
  CATCH_CHECK(numbers.least() == 2.0);
  CATCH_CHECK(numbers.most() == 9.0);
  // Large numbers close together: 1, 2, 3 above 1e9.
  CATCH_CHECK(Spread{{1e9 + 1, 1e9 + 2, 1e9 + 3}}.deviation() == near(1.0, 1e-12));
}

CATCH_TEST_CASE("spread: seeds without a number are left out") {
  const Spread some{{kNaN, -3.0, kNaN, -1.0}};
  CATCH_CHECK(some.mean() == -2.0);
  CATCH_CHECK(some.deviation() == near(std::sqrt(2.0), 1e-15));
  CATCH_CHECK(some.least() == -3.0);
  CATCH_CHECK(some.most() == -1.0);
  const Spread one{{kNaN, 0.25}};
  CATCH_CHECK(one.mean() == 0.25);
  CATCH_CHECK(std::isnan(one.deviation()));
  for (const Spread& none : {Spread{}, Spread{{kNaN, kNaN}}}) {
    CATCH_CHECK(std::isnan(none.mean()));
    CATCH_CHECK(std::isnan(none.deviation()));
    CATCH_CHECK(std::isnan(none.least()));
    CATCH_CHECK(std::isnan(none.most()));
    CATCH_CHECK(none.text() == "–");
  }
}

CATCH_TEST_CASE("spread: three digits of the mean, more where the deviation needs them, the deviation as long as it") {
  struct Case {
    std::vector<double> values;
    const char* text;
  };
  // Three values m − s, m, m + s have the deviation s.
  const auto around = [](double m, double s) { return std::vector<double>{m - s, m, m + s}; };
  for (const Case& example : {
           Case{around(0.372, 0.014), "0.372 ± 0.014"},
           Case{around(0.0123, 0.0004), "0.0123 ± 0.0004"},
           Case{around(0.00123, 0.00021), "0.00123 ± 0.00021"},
           Case{around(1.234, 0.5), "1.23 ± 0.50"},
           Case{around(-45.67, 3.21), "-45.7 ± 3.2"},
           Case{around(456.7, 12.0), "457 ± 12"},
           Case{around(45678.0, 9.0), "45678 ± 9"},
           Case{around(456789.0, 1234.0), "4.57e+05 ± 1.2e+03"},
           Case{around(0.000456, 0.000021), "4.56e-04 ± 2.1e-05"},
           Case{around(0.0, 0.25), "0.00 ± 0.25"},
           Case{{0.000456}, "4.56e-04"},
           Case{{0.001}, "0.00100"},
           Case{{99999.0}, "99999"},
           Case{{100000.0}, "1.00e+05"},
           Case{{0.25, kNaN}, "0.250"},
           Case{around(1.7008, 0.0014), "1.701 ± 0.001"},
           Case{around(1.70081, 0.00041), "1.7008 ± 0.0004"},
           Case{around(0.93716, 0.000011), "0.9372 ± 0"},
           Case{{0.5, 0.5}, "0.500 ± 0"},
       }) {
    CATCH_CHECK(Spread{example.values}.text() == example.text);
  }
}

}  // namespace headroom::test
