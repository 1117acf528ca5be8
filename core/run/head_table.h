// The table of heads: rows sorted and filtered, and its text for papers and other programs. Pure functions; safe from
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/head_address.h"
#include "core/run/head_filter.h"
#include "core/run/run_snapshot.h"

namespace headroom {

struct HeadTable {
  std::vector<std::size_t> rows;  // shown ones in order: layer position · heads + head position, of the run's axes
  std::size_t computed = 0;       // heads there are so far, those of layers that are finished
  HeadFilter filter;              // lets all pass where it has an error
  std::optional<Error> error;     // of the filter
};

// Heads of layers that are not finished have no row. Sorted by `sort` ("head", "kind" or a quantity); heads without a
// finite value come last in either direction, equal ones in order of layer and head.
[[nodiscard]] HeadTable make_head_table(const RunSnapshot& run, std::string_view filter, std::string_view sort,
                                        bool descending);
[[nodiscard]] inline HeadRef head_of_row(const RunSnapshot& run, std::size_t row) {
  return head_at(run.layers, run.heads, row);
}

enum class TableFormat : std::uint8_t { Csv, Tsv, Latex, Markdown };
// A cell of a CSV file: in quotes where it has to be (RFC 4180).
[[nodiscard]] std::string csv_text(const std::string& text);
// "csv", "tsv", "latex", "markdown".
[[nodiscard]] std::optional<TableFormat> parse_table_format(std::string_view name);

// CSV and TSV: a line of names as in the run file after layer, head and kind, then every digit, "nan" where there is no
// value. LaTeX: a booktabs table with as many digits as the window shows and "--" where there is no value; Markdown:
// the same with "–". Lines end with \n.
[[nodiscard]] std::string head_table_text(const RunSnapshot& run, std::span<const std::size_t> rows,
                                          std::span<const std::string> columns, TableFormat format);

}  // namespace headroom
