// The check that every run makes of itself: true heads of every kind pass, one wrong number in one row does not.
#include "core/measure/self_check.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/core/measure/dense_head.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr double kSingle = 1e-5, kDouble = 1e-10;

struct Head {
  const char* name;
  bool pair = false, sink = false;
  double lambda = NAN;  // V1's scalar; NaN: V2's
  std::int64_t window = 0;
  std::vector<std::int64_t> hidden_keys = {};
};

const Head kHeads[] = {
    {"softmax"},
    {"softmax with a window", false, false, NAN, 5, {}},
    {"softmax with hidden keys", false, false, NAN, 0, {0, 7}},
    {"sink", false, true},
    {"V2", true},
    {"V2 with a sink", true, true},
    {"V1", true, false, 0.75},
    {"V1, lambda above 1", true, false, 1.75},
    {"V1, negative lambda", true, false, -0.5},
};

struct Built {
  LayerRecord layer;
  HeadRecord record;
};

Built build(const Head& head) {
  DenseHead dense = golden_head(head.pair, 24);
  dense.has_sink = head.sink;
  dense.sink = 1.5;
  if (head.pair && !std::isnan(head.lambda)) dense.lambda.assign(24, head.lambda);
  Built built{dense_layer(dense), {}};
  built.layer.layer = 3;
  built.layer.window = head.window;
  HeadProgram program = dense_program(dense);
  program.hidden_keys = head.hidden_keys;
  built.record = dense_record(dense, built.layer, program);
  built.record.head = 5;
  return built;
}

SelfCheck checked(const Built& built, double tolerance) {
  SelfCheck check;
  check_head(HeadView(built.layer, built.record, 1), tolerance, check);
  return check;
}

}  // namespace

CATCH_TEST_CASE("self-check: true heads of every kind pass, also at float64's tolerance") {
  for (const Head& head : kHeads) {
    CATCH_INFO(head.name);
    const SelfCheck check = checked(build(head), kDouble);
    for (const std::string& violation : check.violations) CATCH_CHECK(violation == "");
    CATCH_CHECK(check.rows == 24);
    CATCH_CHECK(check.worst_row_sum < 1e-14);
    CATCH_CHECK(check.worst_bound < 1e-14);
  }
}

CATCH_TEST_CASE("self-check: a wrong row sum is a violation that names layer, head and row") {
  for (const Head& head : kHeads) {
    CATCH_INFO(head.name);
    Built built = build(head);
    built.record.statistics.weight_sum[9] += 1e-3;
    const SelfCheck check = checked(built, kSingle);
    CATCH_REQUIRE(check.violations.size() == 1);
    CATCH_CHECK(check.violations[0].find("L3.H5 row 9: the row sum is ") == 0);
    CATCH_CHECK(check.violations[0].find("a bug") != std::string::npos);
    CATCH_CHECK(check.worst_row_sum > 1e-4);
  }
}

CATCH_TEST_CASE("self-check: weights outside their bounds are a violation") {
  for (const Head& head : kHeads) {
    CATCH_INFO(head.name);
    for (const double factor : {1e-4, 1e4}) {
      Built built = build(head);
      built.record.statistics.weight_l2_squared[20] *= factor;
      // A differential row may be as small as it likes only down to abs(1 − λ)/√n.
      const SelfCheck check = checked(built, kSingle);
      CATCH_REQUIRE(check.violations.size() == 1);
      CATCH_CHECK(check.violations[0].find("L3.H5 row 20: ‖w‖₂ is ") == 0);
      CATCH_CHECK(check.worst_bound > kSingle);
    }
  }
}

CATCH_TEST_CASE("self-check: a λ other than the one that made the weights is found") {
  Built built = build({"V2", true});
  built.record.lambda[11] += 0.01;
  const SelfCheck check = checked(built, kSingle);
  CATCH_REQUIRE_FALSE(check.violations.empty());
  CATCH_CHECK(check.violations[0].find("row 11") != std::string::npos);
}

CATCH_TEST_CASE("self-check: without a sink a map's weights add to 1, whatever the statistics say of themselves") {
  for (const Head& head : {Head{"softmax"}, Head{"V2", true}}) {
    CATCH_INFO(head.name);
    Built built = build(head);
    kernels::HeadStatistics& statistics = built.record.statistics;
    // A normaliser that loses a tenth of every weight of row 12.
    for (kernels::MapStatistics& map : statistics.maps)
      if (!map.weight_sum.empty()) map.weight_sum[12] *= 0.9;
    statistics.weight_sum[12] *= 0.9;
    statistics.weight_l2_squared[12] *= 0.81;
    const SelfCheck check = checked(built, kSingle);
    CATCH_REQUIRE(check.violations.size() == 1);
    CATCH_CHECK(check.violations[0].find("L3.H5 row 12: the row sum") == 0);
  }
}

CATCH_TEST_CASE("self-check: NaN is a violation") {
  Built built = build({"softmax"});
  built.record.statistics.weight_sum[4] = std::nan("");
  CATCH_CHECK_FALSE(checked(built, kSingle).violations.empty());
  built = build({"softmax"});
  built.record.statistics.weight_l2_squared[4] = std::nan("");
  CATCH_CHECK_FALSE(checked(built, kSingle).violations.empty());
}

CATCH_TEST_CASE("self-check: NaN is none where the head is made of what is not finite or overflows") {
  const double nan = std::nan(""), infinity = HUGE_VAL;
  for (const double odd : {nan, infinity, 1e35}) {
    CATCH_INFO(odd);
    Built built = build({"V2", true, true});
    built.record.query_norm_max[1] = 1.0;
    built.record.key_norm_max[1] = odd;
    for (const std::size_t row : {std::size_t{4}, std::size_t{9}}) built.record.statistics.weight_sum[row] = nan;
    built.record.statistics.weight_l2_squared[9] = nan;
    const SelfCheck check = checked(built, kSingle);
    CATCH_CHECK(check.violations.empty());
    CATCH_CHECK(check.rows == 22);
    CATCH_CHECK(check.rows_not_finite == 2);
    // A finite row of such a head is held to its sum.
    built.record.statistics.weight_sum[5] += 1e-3;
    CATCH_CHECK(checked(built, kSingle).violations.size() == 1);
  }
  Built lambda = build({"V2", true});
  lambda.record.statistics.weight_sum[4] = lambda.record.statistics.weight_sum[7] = lambda.record.lambda[4] = nan;
  const SelfCheck check = checked(lambda, kSingle);
  CATCH_CHECK(check.rows_not_finite == 1);
  CATCH_REQUIRE(check.violations.size() == 1);
  CATCH_CHECK(check.violations[0].find("L3.H5 row 7: the row sum") == 0);
}

CATCH_TEST_CASE("self-check: the tolerance is the dtype's, and heads add up with a few sentences") {
  Built built = build({"softmax"});
  built.record.statistics.weight_sum[2] += 1e-7;
  CATCH_CHECK(checked(built, kSingle).violations.empty());
  CATCH_CHECK(checked(built, kDouble).violations.size() == 1);
  SelfCheck check;
  for (double& sum : built.record.statistics.weight_sum) sum = 0.0;
  for (int head = 0; head < 3; ++head) check_head(HeadView(built.layer, built.record, 1), kSingle, check);
  CATCH_CHECK(check.rows == 72);
  CATCH_CHECK(check.violations.size() == 5);
}

}  // namespace headroom::test
