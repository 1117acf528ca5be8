#include "app/cli/table_command.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "app/process/report_error.h"
#include "core/base/result.h"
#include "core/io/atomic_file.h"
#include "core/run/head_table.h"
#include "core/run/head_values.h"
#include "core/run/quantity_info.h"
#include "core/run/run_snapshot.h"

namespace headroom {
namespace {

struct Table {
  std::shared_ptr<const RunSnapshot> run;
  HeadTable heads;
  std::vector<std::string> columns;
};

Result<Table> read_table(const TableArguments& arguments) {
  // What is asked for is checked before a large file is read.
  HEADROOM_TRY_VOID(HeadFilter::parse(arguments.filter));
  if (arguments.sort != "head" && arguments.sort != "kind") HEADROOM_TRY_VOID(parse_quantity(arguments.sort));
  for (const std::string& column : arguments.columns) HEADROOM_TRY_VOID(parse_quantity(column));
  Table table;
  HEADROOM_TRY(table.run, read_run(arguments.run));
  table.heads = make_head_table(*table.run, arguments.filter, arguments.sort,
                                arguments.sort != "head" && arguments.sort != "kind" && !arguments.ascending);
  if (arguments.first > 0 && static_cast<std::size_t>(arguments.first) < table.heads.rows.size())
    table.heads.rows.resize(static_cast<std::size_t>(arguments.first));
  table.columns = arguments.columns.empty() ? usual_columns(*table.run) : arguments.columns;
  return table;
}

// {"run", "heads" (measured), "shown", "columns", "rows": [{"layer", "head", "kind", COLUMN: number or null …}]}
std::string table_json(const TableArguments& arguments, const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::vector<std::vector<double>> values;
  for (const std::string& column : table.columns) values.push_back(head_values(*table.run, *parse_quantity(column)));
  for (const std::size_t row : table.heads.rows) {
    const HeadRef head = head_of_row(*table.run, row);
    const LayerSnapshot* layer = table.run->layer(head.layer);
    nlohmann::ordered_json one = {
        {"layer", head.layer}, {"head", head.head}, {"kind", layer != nullptr ? layer->kind : std::string()}};
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (std::isfinite(values[c][row]))
        one[table.columns[c]] = values[c][row];
      else
        one[table.columns[c]] = nullptr;
    rows.push_back(std::move(one));
  }
  return nlohmann::ordered_json{{"run", arguments.run.string()},
                                {"heads", table.heads.computed},
                                {"shown", table.heads.rows.size()},
                                {"columns", table.columns},
                                {"rows", std::move(rows)}}
             .dump(1) +
         "\n";
}

Result<void> print_table(const TableArguments& arguments) {
  HEADROOM_TRY(const Table table, read_table(arguments));
  const std::string text = arguments.json ? table_json(arguments, table)
                                          : head_table_text(*table.run, table.heads.rows, table.columns,
                                                            *parse_table_format(arguments.format));
  if (arguments.output.empty()) {
    std::fputs(text.c_str(), stdout);
    return {};
  }
  return write_whole_file(arguments.output, text, arguments.force, std::span(&arguments.run, 1));
}

}  // namespace

int run_table(const TableArguments& arguments) {
  const Result<void> printed = print_table(arguments);
  return printed ? 0 : report_error(printed.error(), arguments.json);
}

}  // namespace headroom
