#include "app/session/shown_table.h"

#include <cstddef>
#include <set>

#include "core/run/head_values.h"

namespace headroom {

std::vector<std::string> table_columns(const RunSnapshot& run, const HeadsState& view) {
  std::vector<std::string> columns;
  for (const std::string& name : view.columns)
    if (parse_quantity(name)) columns.push_back(name);
  return columns.empty() ? usual_columns(run) : columns;
}

Result<std::string> copy_heads(const RunSnapshot& run, const HeadsState& view, TableFormat format) {
  const HeadTable table = make_head_table(run, view.filter, view.sort, view.descending);
  if (table.error) return *table.error;
  return head_table_text(run, table.rows, table_columns(run, view), format);
}

std::string copy_lasso(const RunSnapshot& run, const HeadsState& view, TableFormat format) {
  std::vector<std::size_t> rows = make_head_table(run, "", view.sort, view.descending).rows;
  const std::set<HeadRef> lasso(view.lasso.begin(), view.lasso.end());
  std::erase_if(rows, [&](std::size_t row) { return !lasso.contains(head_of_row(run, row)); });
  return head_table_text(run, rows, table_columns(run, view), format);
}

}  // namespace headroom
