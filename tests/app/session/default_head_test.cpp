#include "app/session/default_head.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/snapshots.h"

namespace headroom::test {
namespace {

// A run of four layers of three heads with this quantity set head by head, for both maps.
RunSnapshot run_with(const std::string& name, const std::vector<double>& values, RunSnapshot run) {
  for (std::size_t l = 0; l < run.data.size(); ++l) {
    if (!run.data[l]) continue;
    auto layer = std::make_shared<LayerSnapshot>(*run.data[l]);
    std::vector<double>& all = layer->summary[name];
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t map = 0; map < 2; ++map)
        all[2 * h + map] = map == 0 || layer->programs[h].has_second() ? values[3 * l + h] : std::nan("");
    run.data[l] = layer;
  }
  return run;
}

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

CATCH_TEST_CASE("The head that is seen first is the strongest induction head, else a sink that looks elsewhere too",
                "[session]") {
  const RunSnapshot plain = *make_snapshot();
  const std::vector<double> induction = {.1, .2, .05, .1, .1, .1, .1, .1, .61, .2, .3, .1};
  CATCH_CHECK(default_head(run_with("induction_score", induction, plain)) == HeadRef{2, 2});
  // A prompt that repeats nothing has no induction scores.
  const std::vector<double> none(12, kNone);
  const std::vector<double> sinks = {.1, .2, .3, .95, .4, 1.0, .1, .85, .2, .99, .1, .2};
  const RunSnapshot without = run_with("induction_score", none, plain);
  CATCH_CHECK(default_head(run_with("sink_score", sinks, without)) == HeadRef{2, 1});
  CATCH_CHECK(default_head(run_with("sink_score", std::vector<double>(12, 0.97), without)) == HeadRef{0, 0});
  CATCH_CHECK(default_head(run_with("sink_score", none, without)) == HeadRef{0, 0});
  // Scores that are not finite are none.
  std::vector<double> broken = induction;
  broken[4] = std::numeric_limits<double>::infinity(), broken[5] = kNone;
  CATCH_CHECK(default_head(run_with("induction_score", broken, plain)) == HeadRef{2, 2});
}

CATCH_TEST_CASE("The head that is seen first may be one for its second map, and is of a layer that is there",
                "[session]") {
  SnapshotOptions options;
  options.kind = "diff_v2";
  RunSnapshot run = run_with("induction_score", std::vector<double>(12, 0.1), *make_snapshot(options));
  auto layer = std::make_shared<LayerSnapshot>(*run.data[1]);
  layer->summary["induction_score"][2 * 1 + 1] = 0.7;  // the second map of head 1
  run.data[1] = layer;
  CATCH_CHECK(default_head(run) == HeadRef{1, 1});
  run.data[1] = nullptr;
  CATCH_CHECK(default_head(run)->layer != 1);
  for (auto& one : run.data) one = nullptr;
  CATCH_CHECK_FALSE(default_head(run).has_value());
}

}  // namespace
}  // namespace headroom::test
