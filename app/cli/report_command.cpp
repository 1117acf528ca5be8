#include "app/cli/report_command.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>

#include "app/figures/figure_runs.h"
#include "app/process/report_error.h"
#include "app/process/version.h"
#include "app/text/font_library.h"
#include "core/base/shell_word.h"
#include "core/io/atomic_file.h"

namespace headroom {
namespace {

// As it is said in the report: without folders and without where it is written to.
std::string said(const ReportArguments& arguments) {
  std::string text = "headroom report";
  for (const std::string& run : arguments.runs)
    text += " " + shell_word(std::filesystem::path(run).filename().string());
  if (!arguments.options.head.empty()) text += " --head " + shell_word(arguments.options.head);
  if (arguments.options.epsilon != ReportOptions{}.epsilon)
    text += " --epsilon " + nlohmann::json(arguments.options.epsilon).dump();
  if (!arguments.options.title.empty()) text += " --title " + shell_word(arguments.options.title);
  return text;
}

Result<void> write_asked_report(ReportArguments& arguments) {
  const std::string ending = arguments.output.extension().string();
  const bool html = ending == ".html" || ending == ".htm";
  if (!html && ending != ".pdf")
    return Error(ErrorCode::InvalidArgument, "the report's file has no ending of a known format")
        .wanted("a name that ends in .html or .pdf", arguments.output.string());
  std::vector<FigureRun> runs;
  std::vector<std::filesystem::path> inputs;
  for (const std::string& file : arguments.runs) {
    HEADROOM_TRY(FigureRun run, read_figure_run(file));
    runs.push_back(std::move(run));
    inputs.emplace_back(file);
  }
  arguments.options.command = said(arguments);
  arguments.options.program = std::string("headroom ") + kVersion;
  arguments.options.git_commit = kGitCommit;
  arguments.options.maps = html;
  HEADROOM_TRY(const auto fonts, FontLibrary::create());
  HEADROOM_TRY(Report report, make_report(runs, arguments.options, *fonts));
  HEADROOM_TRY(const std::string bytes, html ? report_html(report, *fonts) : report_pdf(report, *fonts));
  HEADROOM_TRY_VOID(write_whole_file(arguments.output, bytes, arguments.force, inputs));
  if (html && bytes.size() > 5'000'000)
    report.warnings.emplace_back("the page is larger than 5 MB: fewer runs in one report make it smaller");
  for (const std::string& warning : report.warnings)
    std::fprintf(stderr, "headroom: [report] warning: %s\n", warning.c_str());
  if (!arguments.json) return {};
  nlohmann::ordered_json figures = nlohmann::ordered_json::array();
  for (const ReportBlock& block : report.blocks)
    if (const auto* figure = std::get_if<ReportFigure>(&block)) figures.push_back(figure->page.name);
  const nlohmann::ordered_json json = {{"path", arguments.output.string()},
                                       {"bytes", bytes.size()},
                                       {"title", report.title},
                                       {"runs", arguments.runs},
                                       {"figures", std::move(figures)},
                                       {"warnings", report.warnings}};
  std::printf("%s\n", json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  return {};
}

}  // namespace

int run_report(ReportArguments arguments) {
  const Result<void> printed = write_asked_report(arguments);
  if (printed) return 0;
  Error error = printed.error();
  if (!error.message.starts_with("[report] ")) error.message = "[report] " + error.message;
  return report_error(error, arguments.json);
}

}  // namespace headroom
