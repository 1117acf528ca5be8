#include "core/run/head_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/number_text.h"
#include "tests/support/catch.h"
#include "tests/support/snapshots.h"

using namespace headroom;

namespace {

struct View {
  std::vector<std::string> columns;
  std::string filter, sort = "sink_score";
  bool descending = true;
};

std::string written(const RunSnapshot& run, const View& view, TableFormat format) {
  const HeadTable table = make_head_table(run, view.filter, view.sort, view.descending);
  return head_table_text(run, table.rows, view.columns, format);
}

}  // namespace

CATCH_TEST_CASE("rows are sorted both ways, heads without a value last, equal ones in order") {
  test::SnapshotOptions options;
  options.layers = 5, options.heads = 4, options.series = false, options.nan_quantity = "value_drain";
  const auto run = test::make_snapshot(options);
  for (const bool descending : {false, true}) {
    const HeadTable table = make_head_table(*run, "", "value_drain", descending);
    CATCH_REQUIRE(table.rows.size() == 20);
    double before = descending ? 1e9 : -1e9;
    for (std::size_t i = 0; i < 15; ++i) {
      const HeadRef head = head_of_row(*run, table.rows[i]);
      const double value = run->at("value_drain", head.layer, head.head);
      CATCH_REQUIRE_FALSE(std::isnan(value));
      CATCH_CHECK((descending ? value <= before : value >= before));
      before = value;
    }
    for (std::size_t i = 15; i < 20; ++i)
      CATCH_CHECK(head_of_row(*run, table.rows[i]) == HeadRef{static_cast<std::int64_t>(i) - 15, 0});
  }
  const HeadTable keys = make_head_table(*run, "layer == 0", "kv_head", true);
  CATCH_CHECK(keys.rows == std::vector<std::size_t>{2, 3, 0, 1});
  CATCH_CHECK(make_head_table(*run, "layer == 1", "head", true).rows == std::vector<std::size_t>{7, 6, 5, 4});
}

CATCH_TEST_CASE("heads of unfinished layers have no row, and a wrong filter shows all and says why") {
  test::SnapshotOptions options;
  options.finished = 2, options.series = false;
  const auto run = test::make_snapshot(options);
  const HeadTable table = make_head_table(*run, "sink_score > ", "sink_score", true);
  CATCH_CHECK(table.rows.size() == 6);
  CATCH_CHECK(table.computed == 6);
  CATCH_REQUIRE(table.error.has_value());
  CATCH_CHECK(make_head_table(*run, "head == 1", "sink_score", true).rows.size() == 2);
}

CATCH_TEST_CASE("CSV and TSV hold every digit of the run's values") {
  test::SnapshotOptions options;
  options.layers = 2, options.heads = 2, options.series = false;
  const auto run = test::make_snapshot(options);
  View view;
  view.columns = {"sink_score", "top_key_mass[second,8]", "lambda_mean", "rows_inside_bound[softmax]",
                  "no_such_quantity"};
  view.sort = "head", view.descending = false;
  const std::string csv = written(*run, view, TableFormat::Csv);
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  CATCH_CHECK(line == "layer,head,kind,sink_score,\"top_key_mass[second,8]\",lambda_mean,rows_inside_bound[softmax]");
  for (std::int64_t l = 0; l < 2; ++l)
    for (std::int64_t h = 0; h < 2; ++h) {
      std::getline(lines, line);
      const std::string expected = std::to_string(l) + "," + std::to_string(h) + ",softmax," +
                                   full_text(run->at("sink_score", l, h)) + ",nan,nan," +
                                   full_text(run->at("rows_inside_bound", l, h, 0));
      CATCH_CHECK(line == expected);
      CATCH_CHECK(std::stod(line.substr(12)) == run->at("sink_score", l, h));
    }
  CATCH_CHECK_FALSE(std::getline(lines, line));
  const std::string tsv = written(*run, view, TableFormat::Tsv);
  CATCH_CHECK(tsv.starts_with("layer\thead\tkind\tsink_score\ttop_key_mass[second,8]\tlambda_mean\t"));
  CATCH_CHECK(std::count(tsv.begin(), tsv.end(), '\n') == 5);
}

CATCH_TEST_CASE("LaTeX is a booktabs table with the window's digits and nothing that TeX would trip over") {
  test::SnapshotOptions options;
  options.kind = "diff_v2", options.layers = 1, options.heads = 1, options.series = false;
  const auto run = test::make_snapshot(options);
  View view;
  view.columns = {"sink_score", "logit_min", "rows_inside_bound", "norm_gain_max"};
  view.filter = "layer == 0";
  const std::string text = written(*run, view, TableFormat::Latex);
  const auto value = [&](const char* name) {
    return run->at(name, 0, 0, name == std::string("rows_inside_bound") ? 2 : 0);
  };
  std::string smallest = number_text(*find_quantity_info("logit_min"), value("logit_min"));
  smallest.replace(0, 3, "$-$");  // the minus sign
  CATCH_CHECK(text ==
              "\\begin{tabular}{llrrrr}\n\\toprule\n"
              "head & kind & sink $\\alpha_0$ & min logit & inside, \\% & max gain \\\\\n\\midrule\n"
              "L0.H0 & diff\\_v2 & " +
                  number_text(*find_quantity_info("sink_score"), value("sink_score")) + " & " + smallest + " & " +
                  fixed_text(100.0 * value("rows_inside_bound"), 1) + " & -- \\\\\n\\bottomrule\n\\end{tabular}\n");
  CATCH_CHECK(written(*run, view, TableFormat::Markdown) ==
              "| head | kind | sink α₀ | min logit | inside, % | max gain |\n|---|---|---:|---:|---:|---:|\n"
              "| L0.H0 | diff_v2 | " +
                  number_text(*find_quantity_info("sink_score"), value("sink_score")) + " | " +
                  number_text(*find_quantity_info("logit_min"), value("logit_min")) + " | " +
                  fixed_text(100.0 * value("rows_inside_bound"), 1) + " | – |\n");
}
