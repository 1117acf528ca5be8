// As many digits as an uncertainty leaves.
#include "core/run/number_digits.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

namespace headroom {

CATCH_TEST_CASE("digits of a number follow what it is uncertain by") {
  const QuantityInfo* const score = find_quantity_info("sink_score");
  CATCH_REQUIRE(score != nullptr);
  CATCH_REQUIRE(score->decimals == 3);
  CATCH_CHECK(decimals_by(*score, 0.00015) == 5);
  CATCH_CHECK(decimals_by(*score, 0.00099) == 5);
  CATCH_CHECK(decimals_by(*score, 0.001) == 4);
  CATCH_CHECK(decimals_by(*score, 0.03) == 3);
  CATCH_CHECK(decimals_by(*score, 0.4) == 3);
  CATCH_CHECK(decimals_by(*score, 1e-30) == 8);
  for (const double nothing : {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CATCH_CHECK(decimals_by(*score, nothing) == 3);
  CATCH_CHECK(number_text(*score, 0.037283, decimals_by(*score, 0.00015)) == "0.03728");
  CATCH_CHECK(number_text(*score, 0.037283, score->decimals) == number_text(*score, 0.037283));
  // A share in percent: its uncertainty is in percent too.
  QuantityInfo share = *score;
  share.percent = true, share.decimals = 1;
  CATCH_CHECK(decimals_by(share, 0.0004) == 3);
  CATCH_CHECK(number_text(share, 0.0123456, decimals_by(share, 0.0004)) == "1.235");
}

}  // namespace headroom
