// Rows, keys and intervals of a head: visible keys, eligible rows, the intervals of core/measure/QUANTITIES.md, and
// quantiles as numpy has them.
#include "core/measure/head_view.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/core/measure/dense_head.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

// A head of `length` rows with values of RMS 1 and the given context RMS; nothing else is filled in.
HeadRecord plain_record(std::vector<double> context_rms) {
  HeadRecord record;
  record.program.first = {0, 0, {0}};
  record.value_mean_square.assign(context_rms.size(), 1.0);
  record.statistics.maps[0].weight_sum.assign(context_rms.size(), 1.0);
  record.context_rms = std::move(context_rms);
  return record;
}

LayerRecord plain_layer(std::int64_t length) {
  LayerRecord layer;
  layer.length = length;
  layer.context_dim = 1;
  return layer;
}

void add_second_map(HeadRecord& record, double lambda) {
  record.program.second = {1, 0, {0}};
  record.lambda.assign(record.context_rms.size(), lambda);
  record.statistics.maps[1].weight_sum.assign(record.context_rms.size(), 1.0);
}

bool near(double found, double wanted) { return std::abs(found - wanted) < 1e-12 * (1.0 + std::abs(wanted)); }

}  // namespace

CATCH_TEST_CASE("head view: visible keys under causal masks, windows and hidden keys") {
  struct Mask {
    bool causal;
    std::int64_t window;
    std::vector<std::int64_t> hidden, visible, rows_seeing;
  };
  for (const Mask& mask :
       {Mask{true, 0, {}, {1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}}, Mask{true, 2, {}, {1, 2, 2, 2, 2}, {2, 2, 2, 2, 1}},
        Mask{false, 0, {}, {5, 5, 5, 5, 5}, {5, 5, 5, 5, 5}},
        // Row 0 would see nothing without key 0 and keeps it; that does not count for the hidden key.
        Mask{true, 0, {0, 3}, {1, 1, 2, 2, 3}, {0, 4, 3, 0, 1}},
        Mask{true, 2, {2}, {1, 2, 1, 1, 2}, {2, 2, 0, 2, 1}}}) {
    LayerRecord layer = plain_layer(5);
    layer.causal = mask.causal;
    layer.window = mask.window;
    HeadRecord record = plain_record({1, 1, 1, 1, 1});
    record.program.hidden_keys = mask.hidden;
    const HeadView view(layer, record, 1);
    CATCH_CHECK(view.visible == mask.visible);
    CATCH_CHECK(view.rows_seeing == mask.rows_seeing);
  }
}

CATCH_TEST_CASE("head view: r̄ is the mean square over visible values, ρ the ratio") {
  const LayerRecord layer = plain_layer(3);
  HeadRecord record = plain_record({1.0, 2.0, 3.0});
  record.value_mean_square = {4.0, 0.0, 5.0};
  const HeadView view(layer, record, 1);
  CATCH_CHECK(near(view.value_rms_mean[0], 2.0));
  CATCH_CHECK(near(view.value_rms_mean[1], std::sqrt(2.0)));
  CATCH_CHECK(near(view.value_rms_mean[2], std::sqrt(3.0)));
  CATCH_CHECK(near(view.rho[0], 0.5));
  CATCH_CHECK(near(view.rho[2], std::sqrt(3.0)));
}

CATCH_TEST_CASE("head view: eligible rows see at least min(min_row, max n_i) keys") {
  struct Case {
    std::int64_t min_row, window;
    std::vector<std::uint8_t> eligible;
  };
  for (const Case& example :
       {Case{1, 0, {1, 1, 1, 1}}, Case{3, 0, {0, 0, 1, 1}}, Case{64, 0, {0, 0, 0, 1}}, Case{64, 2, {0, 1, 1, 1}}}) {
    LayerRecord layer = plain_layer(4);
    layer.window = example.window;
    const HeadRecord record = plain_record({1.0, 2.0, 4.0, 8.0});
    const HeadView view(layer, record, example.min_row);
    CATCH_CHECK(view.eligible == example.eligible);
  }
  const LayerRecord layer = plain_layer(4);
  const HeadRecord record = plain_record({1.0, 2.0, 4.0, 8.0});
  const HeadView view(layer, record, 3);
  const HeadView::RowValue rms = [&](std::int64_t i) { return record.context_rms[static_cast<std::size_t>(i)]; };
  CATCH_CHECK(near(view.mean(rms), 6.0));
  CATCH_CHECK(view.eligible_values(rms) == std::vector<double>{4.0, 8.0});
  CATCH_CHECK(near(view.mean_if(rms, [](std::int64_t i) { return i == 3; }), 8.0));
  CATCH_CHECK(std::isnan(view.mean_if(rms, [](std::int64_t) { return false; })));
}

CATCH_TEST_CASE("head view: the intervals (core/measure/QUANTITIES.md#intervals) at n_i = 1 and n_i = 4") {
  const LayerRecord layer = plain_layer(4);
  struct Case {
    const char* name;
    double lambda;         // NaN: one map
    double first, second;  // what a sink leaves of each map
    bool sink, first_enabled;
    double low_1, high_1, low_4, high_4;
    bool closed_4;
  };
  const double nan = std::nan("");
  const Case cases[] = {
      {"softmax", nan, 1.0, 1.0, false, true, 1.0, 1.0, 0.5, 1.0, false},
      {"off-by-one, s = 0.8", nan, 0.8, 1.0, true, true, 0.8, 0.8, 0.4, 0.8, true},
      {"V2, lambda = 0.25", 0.25, 1.0, 1.0, false, true, 0.75, std::sqrt(1.0625), 0.375, std::sqrt(1.0625), false},
      {"V1, lambda = 2", 2.0, 1.0, 1.0, false, true, 1.0, std::sqrt(5.0), 0.5, std::sqrt(5.0), false},
      {"V1, lambda = -0.5", -0.5, 1.0, 1.0, false, true, 1.5, 1.5, 0.75, 1.5, true},
      {"V2 with sinks", 0.5, 0.8, 0.4, true, true, 0.6, std::sqrt(0.68), 0.3, std::sqrt(0.68), false},
      {"only the second map", 0.5, 1.0, 1.0, false, false, 0.5, 0.5, 0.25, 0.5, true},
  };
  for (const Case& example : cases) {
    CATCH_INFO(example.name);
    HeadRecord record = plain_record({1.0, 1.0, 1.0, 1.0});
    if (!std::isnan(example.lambda)) add_second_map(record, example.lambda);
    record.statistics.maps[0].weight_sum.assign(4, example.first);
    if (!std::isnan(example.lambda)) record.statistics.maps[1].weight_sum.assign(4, example.second);
    record.program.sink = example.sink ? SinkSource::Zero : SinkSource::None;
    record.program.first_enabled = example.first_enabled;
    const HeadView view(layer, record, 1);
    const RowBounds single = view.bounds(0, BoundKind::Variant);
    CATCH_CHECK(near(single.low, example.low_1));
    CATCH_CHECK(near(single.high, example.high_1));
    CATCH_CHECK(single.high_closed);
    const RowBounds four = view.bounds(3, BoundKind::Variant);
    CATCH_CHECK(near(four.low, example.low_4));
    CATCH_CHECK(near(four.high, example.high_4));
    CATCH_CHECK(four.high_closed == example.closed_4);
    // The two intervals that every head is held against.
    CATCH_CHECK(near(view.bounds(3, BoundKind::Softmax).low, 0.5));
    CATCH_CHECK(near(view.bounds(3, BoundKind::Softmax).high, 1.0));
    CATCH_CHECK_FALSE(view.bounds(3, BoundKind::Softmax).high_closed);
    CATCH_CHECK(near(view.bounds(3, BoundKind::DiffV2).low, 0.0));
    CATCH_CHECK(near(view.bounds(3, BoundKind::DiffV2).high, std::sqrt(2.0)));
  }
}

CATCH_TEST_CASE("head view: quantiles are numpy's") {
  // numpy.quantile(v, [0, .01, .05, .1, .25, .5, .75, .9, .95, .99, 1]), numpy 2.4.6.
  const std::vector<double> seven = {3.5, -1.25, 8.0, 0.5, 2.0, 2.0, -7.75};
  const std::vector<double> seven_quantiles = {-7.75,
                                               -7.36,
                                               -5.8,
                                               -3.8499999999999996,
                                               -0.375,
                                               2.0,
                                               2.75,
                                               5.300000000000002,
                                               6.649999999999997,
                                               7.729999999999998,
                                               8.0};
  const std::vector<double> four_quantiles = {// of 1e6, 1, −3, 0.25
                                              -3.0,
                                              -2.9025,
                                              -2.5125,
                                              -2.025,
                                              -0.5625,
                                              0.625,
                                              250000.75,
                                              700000.3000000002,
                                              850000.1499999997,
                                              970000.0299999998,
                                              1000000.0};
  const auto check = [](const std::vector<double>& values, const std::vector<double>& wanted) {
    const std::vector<double> found = quantiles(values, quantile_points());
    CATCH_REQUIRE(found.size() == wanted.size());
    for (std::size_t q = 0; q < found.size(); ++q) {
      CATCH_INFO("q = " << quantile_points()[q]);
      CATCH_CHECK(near(found[q], wanted[q]));
    }
  };
  check(seven, seven_quantiles);
  check({1e6, 1.0, -3.0, 0.25}, four_quantiles);
  check({4.5}, std::vector<double>(quantile_points().size(), 4.5));
  CATCH_CHECK(quantile_points() == std::vector<double>{0, .01, .05, .1, .25, .5, .75, .9, .95, .99, 1});
  for (const double q : quantiles({}, quantile_points())) CATCH_CHECK(std::isnan(q));
  for (const double q : quantiles({1.0, std::nan(""), 2.0}, quantile_points())) CATCH_CHECK(std::isnan(q));
}

}  // namespace headroom::test
