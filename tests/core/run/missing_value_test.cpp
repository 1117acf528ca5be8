#include "core/run/missing_value.h"

#include <string>

#include "tests/support/catch.h"
#include "tests/support/snapshots.h"

using namespace headroom;

CATCH_TEST_CASE("a head without a value says why") {
  test::SnapshotOptions options;
  options.finished = 3;
  const auto run = test::make_snapshot(options);
  CATCH_CHECK(missing_reason(*run, parse_quantity("lambda_mean").value(), 0) == "A softmax head has one map and no λ.");
  CATCH_CHECK(missing_reason(*run, parse_quantity("sink_score[1]").value(), 0).find("second") != std::string::npos);
  CATCH_CHECK(missing_reason(*run, parse_quantity("top_key_mass[8]").value(), 3) == "The layer is not computed yet.");
}
