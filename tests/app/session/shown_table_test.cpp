#include "app/session/shown_table.h"

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/snapshots.h"

using namespace headroom;

CATCH_TEST_CASE("what a view shows is copied, the lasso's heads whatever the filter says") {
  test::SnapshotOptions options;
  options.layers = 2, options.heads = 2, options.series = false;
  const auto run = test::make_snapshot(options);
  HeadsState view;
  view.columns = {"sink_score", "no_such_quantity"};
  view.sort = "head", view.descending = false;
  CATCH_CHECK(table_columns(*run, view) == std::vector<std::string>{"sink_score"});
  view.filter = "layer == 1";
  const std::string shown = copy_heads(*run, view, TableFormat::Csv).value();
  CATCH_CHECK(shown == head_table_text(*run, std::vector<std::size_t>{2, 3}, view.columns, TableFormat::Csv));
  view.lasso = {{0, 1}};
  CATCH_CHECK(copy_lasso(*run, view, TableFormat::Csv) ==
              head_table_text(*run, std::vector<std::size_t>{1}, view.columns, TableFormat::Csv));
  view.filter = "oh no";
  CATCH_CHECK(copy_heads(*run, view, TableFormat::Csv).error().code == ErrorCode::InvalidArgument);
}
