#include "app/cli/compare_command.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/cli/compare_corpora.h"
#include "app/cli/compare_summary.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "core/base/result.h"
#include "core/corpus/paired.h"
#include "core/io/compare.h"
#include "core/io/corpus_schema.h"
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

bool is_corpus(const RunFile& file) {
  const auto schema = file.root_attribute("schema_name");
  return schema && *schema == kCorpusSchemaName;
}

// Nothing where the files are not both corpora, or one cannot be opened, which the comparison of values says.
std::optional<Result<PairedCorpora>> paired_paths(const CompareArguments& arguments) {
  if (arguments.by_value) return {};
  const auto a = RunFile::open(arguments.a), b = RunFile::open(arguments.b);
  if (!a || !b || !is_corpus(**a) || !is_corpus(**b)) return {};
  const GracefulStop graceful;
  auto paired = compare_corpora(**a, **b, [] { return signal_received(); });
  if (!paired && paired.error().file.empty()) return paired.error().in_file(arguments.b.string());
  return paired;
}

std::string json_of(const Compared& compared) {
  auto json = nlohmann::ordered_json::parse(comparison_json(compared.files));
  json["changes"] = change_json(compared.a, compared.b);
  return json.dump(2) + "\n";
}

}  // namespace

int run_compare(const CompareArguments& arguments) {
  if (const auto paired = paired_paths(arguments)) {
    if (!*paired) {
      const int code = report_error(paired->error(), arguments.json);
      return paired->error().code == ErrorCode::Cancelled ? signal_exit_code() : code;
    }
    const std::string text =
        arguments.json ? paired_json(**paired).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                       : paired_text(**paired);
    std::fputs(text.c_str(), stdout);
    return (*paired)->equal() ? 0 : kNotEqual;
  }
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
