#include "app/cli/compare_command.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/cli/compare_summary.h"
#include "app/process/report_error.h"
#include "core/base/result.h"
#include "core/io/compare.h"
#include "core/io/run_file.h"
#include "core/run/run_overview.h"

namespace headroom {
namespace {

constexpr int kNotEqual = 1;

struct Compared {
  FileComparison files;
  RunOverview a, b;
};

Result<Compared> compare_paths(const CompareArguments& arguments) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> a, RunFile::open(arguments.a));
  HEADROOM_TRY(const std::unique_ptr<RunFile> b, RunFile::open(arguments.b));
  Compared compared;
  HEADROOM_TRY(compared.files, compare_run_files(*a, *b, {arguments.rtol, arguments.atol}));
  compared.files.path_a = arguments.a.string();
  compared.files.path_b = arguments.b.string();
  HEADROOM_TRY(compared.a, read_overview(*a));
  HEADROOM_TRY(compared.b, read_overview(*b));
  return compared;
}

std::string json_of(const Compared& compared) {
  auto json = nlohmann::ordered_json::parse(comparison_json(compared.files));
  json["changes"] = change_json(compared.a, compared.b);
  return json.dump(2) + "\n";
}

}  // namespace

int run_compare(const CompareArguments& arguments) {
  const Result<Compared> compared = compare_paths(arguments);
  if (!compared) return report_error(compared.error(), arguments.json);
  const bool equal = compared->files.equal();
  const std::string text =
      arguments.json ? json_of(*compared)
                     : (equal ? "" : change_lines(compared->a, compared->b)) + comparison_table(compared->files);
  std::fputs(text.c_str(), stdout);
  return equal ? 0 : kNotEqual;
}

}  // namespace headroom
