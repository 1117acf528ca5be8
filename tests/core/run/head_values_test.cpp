#include "core/run/head_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/snapshots.h"

using namespace headroom;
using test::make_snapshot;

CATCH_TEST_CASE("values of heads are those of the run file, with no value where a map or layer is absent") {
  test::SnapshotOptions options;
  options.finished = 3;
  options.nan_quantity = "value_drain";
  const auto run = make_snapshot(options);
  const QuantityRef top = parse_quantity("top_key_mass[8]").value();
  const std::vector<double> values = head_values(*run, top);
  CATCH_REQUIRE(values.size() == 12);
  CATCH_CHECK(values[1 * 3 + 2] == run->layer(1)->summary.at("top_key_mass")[2 * 10 + 3]);
  CATCH_CHECK(head_value(*run, top, 1, 2) == values[5]);
  CATCH_CHECK(std::isnan(values[9]));
  CATCH_CHECK(std::isnan(head_value(*run, top, 3, 0)));
  CATCH_CHECK(std::isnan(head_value(*run, parse_quantity("kv_head[second]").value(), 0, 0)));  // −1 in the file
  CATCH_CHECK(std::isnan(head_value(*run, parse_quantity("value_drain").value(), 0, 0)));
  CATCH_CHECK(head_value(*run, parse_quantity("kv_head").value(), 0, 2) == 1.0);

  CATCH_CHECK(null_level(*run, parse_quantity("sink_score").value()) == run->sink_null);
  CATCH_CHECK(std::isnan(null_level(*run, top)));
}

CATCH_TEST_CASE("the usual columns have values in this run") {
  test::SnapshotOptions options;
  const auto has = [](const std::vector<std::string>& names, const char* name) {
    return std::ranges::count(names, name) == 1;
  };
  const auto softmax = usual_columns(*make_snapshot(options));
  CATCH_CHECK(has(softmax, "sink_score"));
  CATCH_CHECK_FALSE(has(softmax, "lambda_mean"));
  options.kind = "diff_v2";
  CATCH_CHECK(has(usual_columns(*make_snapshot(options)), "lambda_mean"));
  options.kind = "diff_v1";
  CATCH_CHECK(has(usual_columns(*make_snapshot(options)), "norm_gain_median"));
}
