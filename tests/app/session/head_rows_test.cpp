#include "app/session/head_rows.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/number_text.h"
#include "tests/support/catch.h"
#include "tests/support/snapshots.h"

using namespace headroom;

namespace {

// Cells of comma-separated values, by line; quoted ones may hold commas, quotes and line ends (RFC 4180).
std::vector<std::vector<std::string>> cells(const std::string& csv) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (quoted && c == '"' && i + 1 < csv.size() && csv[i + 1] == '"')
      lines.back().back() += csv[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == ',')
      lines.back().emplace_back();
    else if (!quoted && c == '\n')
      lines.push_back({""});
    else
      lines.back().back() += c;
  }
  lines.pop_back();  // behind the last line's end
  return lines;
}

}  // namespace

CATCH_TEST_CASE("what a head does in every row is a line for each position, with every digit, components apart") {
  test::SnapshotOptions options;
  options.kind = "diff_v2", options.length = 7;
  const auto run = test::make_snapshot(options);
  const LayerSnapshot& layer = *run->layer(1);
  const std::vector<std::vector<std::string>> lines = cells(head_rows_csv(*run, layer, 1));
  CATCH_REQUIRE(lines.size() == 8);
  const std::vector<std::string>& names = lines[0];
  CATCH_REQUIRE(names.size() > 5);
  CATCH_CHECK(std::vector(names.begin(), names.begin() + 3) == std::vector<std::string>{"position", "id", "text"});
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  const std::size_t lse0 = column("rows/lse[0]"), lse1 = column("rows/lse[1]"), lambda = column("rows/lambda");
  CATCH_REQUIRE(lse1 < names.size());
  CATCH_REQUIRE(lambda < names.size());
  for (std::size_t row = 0; row < 7; ++row) {
    const std::vector<std::string>& values = lines[1 + row];
    CATCH_REQUIRE(values.size() == names.size());
    CATCH_CHECK(values[0] == std::to_string(row));
    CATCH_CHECK(values[2] == run->prompt->texts[row]);
    CATCH_CHECK(values[lse0] == full_text(static_cast<double>(layer.row_values("rows/lse", 1)[row])));
    CATCH_CHECK(values[lse1] == full_text(static_cast<double>(layer.row_values("rows/lse", 1)[7 + row])));
    CATCH_CHECK(values[lambda] == full_text(static_cast<double>(layer.row_values("rows/lambda", 1)[row])));
  }
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
