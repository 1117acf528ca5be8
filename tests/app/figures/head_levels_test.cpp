// Levels of quantities, quantiles by layer, the points at the ends of a plot, λ by layer: by hand.
#include "app/figures/head_levels.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "app/figures/layer_lambdas.h"
#include "core/base/numbers.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"
#include "tests/support/snapshots.h"

namespace headroom::test {

CATCH_TEST_CASE("a sink score has ε and uniform attention, a copying score its own threshold, a drain its reference") {
  const auto run = make_snapshot({});
  const auto levels = [&](const char* name) {
    const QuantityInfo* info = find_quantity_info(name);
    return head_levels(*run, {info, info->default_index}, 0.25);
  };
  const HeadLevels sink = levels("sink_score");
  CATCH_CHECK((sink.threshold == 0.25 && !sink.own && sink.uniform == run->sink_null && !sink.reference));
  const HeadLevels copying = levels("copying_score");
  CATCH_CHECK((copying.threshold == 0.9 && copying.own && !copying.uniform));
  const HeadLevels drain = levels("value_drain");
  CATCH_CHECK((!drain.threshold && drain.reference == 1.0));
  const HeadLevels none = head_levels(*run, {}, 0.25);
  CATCH_CHECK((!none.threshold && !none.uniform && !none.reference));
}

CATCH_TEST_CASE("quantiles by layer are of the finite heads of each") {
  const std::vector<double> values = {4.0, 1.0, 3.0, kNaN, kNaN, kNaN, kNaN, 7.0, 5.0};
  const auto found = layer_quantiles(values, 3, std::array{0.0, 0.5, 1.0});
  CATCH_REQUIRE(found.size() == 3);
  CATCH_CHECK((found[0][0] == 1.0 && found[1][0] == 3.0 && found[2][0] == 4.0));
  CATCH_CHECK((std::isnan(found[0][1]) && std::isnan(found[1][1])));
  CATCH_CHECK((found[0][2] == 5.0 && found[1][2] == 6.0 && found[2][2] == 7.0));
  CATCH_CHECK(layer_quantiles({}, 0, std::array{0.5}).front().empty());
}

CATCH_TEST_CASE("the ends of a plot are the largest and the smallest of both axes, in turn") {
  const std::vector<double> x = {0, 1, 2, 3, 4, 4}, y = {5, 0, 9, 2, 3, 9};
  // x: 4, 5, 3 from above, 0, 1 from below; y: 2, 5, 0 from above, 1, 3 from below; of equal ones the first is larger.
  CATCH_CHECK(points_at_ends(x, y) == std::vector<std::size_t>{4, 2, 1, 0, 5, 3});
  CATCH_CHECK(points_at_ends(std::vector<double>{1.0}, std::vector<double>{2.0}) == std::vector<std::size_t>{0});
  CATCH_CHECK(points_at_ends({}, {}).empty());
}

CATCH_TEST_CASE("outer bins are bars only where nothing lies beyond them") {
  CATCH_CHECK((is_whole_bin(0, 4, false, true) && is_whole_bin(1, 4, true, true)));
  CATCH_CHECK_FALSE(is_whole_bin(0, 4, true, false));
  CATCH_CHECK_FALSE(is_whole_bin(3, 4, false, true));
}

CATCH_TEST_CASE("a layer has one λ, and more where its heads differ") {
  SnapshotOptions options;
  options.kind = "diff_v1", options.layers = 2, options.heads = 3;
  auto run = std::make_shared<RunSnapshot>(*make_snapshot(options));
  for (auto& data : run->data) {
    auto layer = std::make_shared<LayerSnapshot>(*data);
    layer->summary["lambda_mean"] = layer->layer == 0 ? std::vector{0.4, 0.4, 0.4} : std::vector{0.5, kNaN, 0.7};
    layer->lambda_init = 0.2;
    data = std::move(layer);
  }
  std::vector<HeadRef> heads;
  for (const std::int64_t layer : run->layers)
    for (const std::int64_t head : run->heads) heads.push_back({layer, head});
  const std::vector<LayerLambda> found = layer_lambdas(*run, heads);
  CATCH_REQUIRE(found.size() == 3);
  CATCH_CHECK((found[0].head == HeadRef{run->layers[0], 0} && found[0].value == 0.4 && found[0].first == 0.2));
  CATCH_CHECK((found[1].value == 0.5 && found[2].value == 0.7));
}

}  // namespace headroom::test
