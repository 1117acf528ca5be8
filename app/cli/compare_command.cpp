#include "app/cli/compare_command.h"

#include <cstdio>
#include <memory>
#include <string>

#include "app/process/report_error.h"
#include "core/base/result.h"
#include "core/io/compare.h"
#include "core/io/run_file.h"

namespace headroom {
namespace {

constexpr int kNotEqual = 1;

Result<FileComparison> compare_paths(const CompareArguments& arguments) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> a, RunFile::open(arguments.a));
  HEADROOM_TRY(const std::unique_ptr<RunFile> b, RunFile::open(arguments.b));
  HEADROOM_TRY(FileComparison comparison, compare_run_files(*a, *b, {arguments.rtol, arguments.atol}));
  comparison.path_a = arguments.a.string();
  comparison.path_b = arguments.b.string();
  return comparison;
}

}  // namespace

int run_compare(const CompareArguments& arguments) {
  const Result<FileComparison> comparison = compare_paths(arguments);
  if (!comparison) return report_error(comparison.error(), arguments.json);
  const std::string text = arguments.json ? comparison_json(*comparison) : comparison_table(*comparison);
  std::fputs(text.c_str(), stdout);
  return comparison->equal() ? 0 : kNotEqual;
}

}  // namespace headroom
