// `headroom report`: runs as one page of HTML, or as a PDF, with figures, tables and maps. Main thread only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/report/report.h"

namespace headroom {

struct ReportArguments {
  std::vector<std::string> runs;
  std::filesystem::path output;  // ends in .html or .pdf
  ReportOptions options;
  bool force = false, json = false;
};

// The exit code; errors go to standard error, with --json as JSON to standard output.
[[nodiscard]] int run_report(ReportArguments arguments);

}  // namespace headroom
