// `headroom table RUN`: the heads of a run file as a table, filtered and sorted as in the window. Main thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace headroom {

struct TableArguments {
  std::filesystem::path run;
  std::string filter;                // "sink_score > 0.3 and layer >= 4"; empty: all heads
  std::string sort = "head";         // "head", "kind" or a quantity
  std::vector<std::string> columns;  // empty: those that the window shows
  std::string format = "csv";        // csv, tsv, latex, markdown
  std::filesystem::path output;      // empty: standard output
  std::int64_t first = 0;            // of the rows; 0: all
  bool ascending = false, force = false, json = false;
};

// 0, or the code of the error that it reported.
[[nodiscard]] int run_table(const TableArguments& arguments);

}  // namespace headroom
