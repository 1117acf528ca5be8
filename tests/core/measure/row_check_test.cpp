// The self-check of rows of weights that are heard whole: true ones of every kind pass, one wrong weight does not.
#include "core/measure/row_check.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/measure/dense_head.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr std::int64_t kRows = 24, kFirstRow = 16;
constexpr double kTolerance = 1e-10;

struct Kind {
  const char* name;
  bool pair = false, sink = false, first_enabled = true;
  double lambda = NAN;  // NaN: V2's
};

const Kind kKinds[] = {
    {"softmax"},
    {"sink", false, true},
    {"V2", true},
    {"V2 with a sink", true, true},
    {"V1, lambda above 1", true, false, true, 1.75},
    {"V1, negative lambda", true, false, true, -0.5},
    {"second map alone", true, false, false, 0.75},
};

// What a forward pass sends of the last rows of a head: [component][rows, keys]; −1, the net map, last.
struct Rows {
  HeadProgram program;
  std::vector<int> components;
  std::vector<std::vector<double>> weights;
  std::vector<double>& of(int component) {
    for (std::size_t i = 0; i < components.size(); ++i)
      if (components[i] == component) return weights[i];
    CATCH_FAIL("no such component");
    return weights.front();
  }
};

Rows rows_of(const Kind& kind) {
  DenseHead dense = golden_head(kind.pair, kRows);
  dense.has_sink = kind.sink;
  dense.sink = 1.5;
  if (kind.pair && !std::isnan(kind.lambda)) dense.lambda.assign(kRows, kind.lambda);
  Rows rows;
  rows.program = dense_program(dense);
  rows.program.first_enabled = kind.first_enabled;
  std::vector<double> net(static_cast<std::size_t>((kRows - kFirstRow) * kRows), 0.0);
  for (std::size_t m = kind.first_enabled ? 0 : 1; m < dense.maps.size(); ++m) {
    std::vector<double> weights(net.size(), 0.0);
    for (std::int64_t i = kFirstRow; i < kRows; ++i) {
      std::vector<std::int64_t> keys(static_cast<std::size_t>(i + 1));
      std::iota(keys.begin(), keys.end(), 0);
      const DenseRow row = dense_row(dense, m, i, keys);
      for (std::size_t j = 0; j < row.weight.size(); ++j) {
        const std::size_t at = static_cast<std::size_t>((i - kFirstRow) * kRows) + j;
        weights[at] = row.weight[j];
        net[at] += (m == 0 ? 1.0 : -dense.lambda[static_cast<std::size_t>(i)]) * row.weight[j];
      }
    }
    rows.components.push_back(static_cast<int>(m));
    rows.weights.push_back(std::move(weights));
  }
  rows.components.push_back(-1);
  rows.weights.push_back(std::move(net));
  return rows;
}

SelfCheck checked(const Rows& rows) {
  RowCheck check(kTolerance);
  for (std::size_t i = 0; i < rows.components.size(); ++i)
    check.add(rows.program, 3, 5, rows.components[i], kFirstRow, kRows - kFirstRow, rows.weights[i]);
  return check.found();
}

CATCH_TEST_CASE("row check: rows of every kind of head pass", "[self-check]") {
  for (const Kind& kind : kKinds) {
    CATCH_INFO(kind.name);
    const SelfCheck found = checked(rows_of(kind));
    CATCH_CHECK(found.violations.empty());
    CATCH_CHECK(found.rows == kRows - kFirstRow);
    CATCH_CHECK(found.rows_not_finite == 0);
    CATCH_CHECK(found.worst_row_sum < kTolerance);
  }
}

CATCH_TEST_CASE("row check: a wrong weight is found in the map that it is in", "[self-check]") {
  const std::size_t at = 4 * kRows + 2;  // row 20
  for (const Kind& kind : kKinds) {
    const Rows right = rows_of(kind);
    for (const int component : right.components) {
      CATCH_INFO(kind.name << ", component " << component);
      Rows rows = right;
      rows.of(component)[at] += 1e-6;
      const SelfCheck found = checked(rows);
      CATCH_REQUIRE_FALSE(found.violations.empty());
      // With a sink nothing says what a row sums to: the net map is what differs.
      const char* map = component < 0 || kind.sink ? "net" : component == 0 ? "first" : "second";
      CATCH_CHECK(found.violations.front().starts_with(std::string("L3.H5 row 20: the row sum of the ") + map));
      CATCH_CHECK(found.worst_row_sum > kTolerance);
    }
  }
}

CATCH_TEST_CASE("row check: softmax gives no negative weight", "[self-check]") {
  Rows rows = rows_of(kKinds[0]);
  rows.of(0)[7 * kRows + 1] -= 1.0;
  rows.of(0)[7 * kRows + 2] += 1.0;  // the sum stays
  rows.of(-1) = rows.of(0);
  const SelfCheck found = checked(rows);
  CATCH_REQUIRE(found.violations.size() == 1);
  CATCH_CHECK(found.violations.front().starts_with("L3.H5 row 23: a weight of the first map is -"));
}

CATCH_TEST_CASE("row check: rows that are not finite are counted, the others are checked", "[self-check]") {
  Rows rows = rows_of(kKinds[2]);
  rows.of(0)[2 * kRows] = std::numeric_limits<double>::quiet_NaN();
  rows.of(-1)[2 * kRows] = std::numeric_limits<double>::quiet_NaN();
  SelfCheck found = checked(rows);
  CATCH_CHECK(found.violations.empty());
  CATCH_CHECK(found.rows_not_finite == 1);
  CATCH_CHECK(found.rows == kRows - kFirstRow - 1);
  rows.of(1)[3 * kRows] += 1e-6;
  found = checked(rows);
  CATCH_REQUIRE_FALSE(found.violations.empty());
  CATCH_CHECK(found.violations.front().starts_with("L3.H5 row 19: the row sum of the second map"));
}

}  // namespace
}  // namespace headroom::test
