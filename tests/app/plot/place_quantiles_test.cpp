// How numbers of many heads lie at each place.
#include "app/plot/place_quantiles.h"

#include <cmath>
#include <span>
#include <vector>

#include "core/base/numbers.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {

CATCH_TEST_CASE("place quantiles: type 7 of the finite numbers at each place, up to the last that has one") {
  // Heads of ranks 3 and 2, one that was refused, and eighteen more.
  std::vector<std::vector<double>> heads = {{9.0, 4.0, 1.0}, {8.0, 5.0}, {kNaN, kNaN, kNaN, kNaN}};
  for (int i = 0; i < 18; ++i) heads.push_back({10.0 + i, kNaN, kInfinity});
  const std::vector<std::span<const double>> rows(heads.begin(), heads.end());
  const PlaceQuantiles all = place_quantiles(rows, 4);
  CATCH_REQUIRE((all.median.size() == 3 && all.low.size() == 3 && all.high.size() == 3));
  // 8, 9, 10 … 27: NumPy's quantiles of twenty numbers.
  CATCH_CHECK(all.low[0] == near(8.95, 1e-12));
  CATCH_CHECK(all.median[0] == near(17.5, 1e-12));
  CATCH_CHECK(all.high[0] == near(26.05, 1e-12));
  CATCH_CHECK(all.low[1] == near(4.05, 1e-12));
  CATCH_CHECK(all.median[1] == near(4.5, 1e-12));
  CATCH_CHECK((all.low[2] == 1.0 && all.median[2] == 1.0 && all.high[2] == 1.0));
  CATCH_CHECK(place_quantiles(rows, 1).median.size() == 1);
  CATCH_CHECK(place_quantiles({}, 5).median.empty());
}

}  // namespace headroom::test
