#include "app/session/head_rows.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "app/plot/number_text.h"
#include "tests/support/catch.h"
#include "tests/support/snapshots.h"

using namespace headroom;

namespace {

// Cells of a line without quotes.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) all.push_back(cell);
  return all;
}

}  // namespace

CATCH_TEST_CASE("what a head does in every row is a line for each position, with every digit, components apart") {
  test::SnapshotOptions options;
  options.kind = "diff_v2", options.length = 7;
  const auto run = test::make_snapshot(options);
  const LayerSnapshot& layer = *run->layer(1);
  const std::string csv = head_rows_csv(*run, layer, 1);
  std::istringstream lines(csv);
  std::string line;
  CATCH_REQUIRE(std::getline(lines, line));
  const std::vector<std::string> names = cells(line);
  CATCH_REQUIRE(names.size() > 5);
  CATCH_CHECK(std::vector(names.begin(), names.begin() + 3) == std::vector<std::string>{"position", "id", "text"});
  const auto column = [&](const std::string& name) { return std::ranges::find(names, name) - names.begin(); };
  const auto lse0 = column("rows/lse[0]"), lse1 = column("rows/lse[1]"), lambda = column("rows/lambda");
  CATCH_REQUIRE(lse1 < static_cast<std::ptrdiff_t>(names.size()));
  CATCH_REQUIRE(lambda < static_cast<std::ptrdiff_t>(names.size()));
  std::size_t rows = 0;
  for (; std::getline(lines, line); ++rows) {
    // Texts of these tokens may hold commas: count from the end.
    const std::vector<std::string> values = cells(line);
    const auto at = [&](std::ptrdiff_t i) {
      return values[values.size() - names.size() + static_cast<std::size_t>(i)];
    };
    CATCH_CHECK(values[0] == std::to_string(rows));
    CATCH_CHECK(at(lse0) == full_text(static_cast<double>(layer.row_values("rows/lse", 1)[rows])));
    CATCH_CHECK(at(lse1) == full_text(static_cast<double>(layer.row_values("rows/lse", 1)[7 + rows])));
    CATCH_CHECK(at(lambda) == full_text(static_cast<double>(layer.row_values("rows/lambda", 1)[rows])));
  }
  CATCH_CHECK(rows == 7);
}

CATCH_TEST_CASE("tokens as CSV are their positions, ids and texts") {
  test::SnapshotOptions options;
  options.length = 3;
  const auto run = test::make_snapshot(options);
  std::string expected = "position,id,text\n";
  for (std::size_t i = 0; i < 3; ++i) {
    std::string text = run->prompt->texts[i];
    if (text.find_first_of(",\"\r\n") != std::string::npos) text = "\"" + text + "\"";
    expected += std::to_string(i) + "," + std::to_string(run->prompt->ids[i]) + "," + text + "\n";
  }
  CATCH_CHECK(tokens_csv(*run) == expected);
}
