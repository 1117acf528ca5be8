#include "app/report/report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "app/figures/figure_kinds.h"
#include "app/figures/figure_options.h"
#include "app/figures/rich_text.h"
#include "app/report/report_parts.h"
#include "core/base/shell_word.h"
#include "core/model/head_address.h"

namespace headroom {
namespace {

// What a report shows of every run, in this order, and how wide.
struct Shown {
  const char* kind;
  const char* title;
  bool of_one_head;
};
constexpr std::array kShown = {Shown{"atlas", "Attention sinks, head by head", false},
                               Shown{"sinks", "Where the attention goes", false},
                               Shown{"rms-layers", "Context RMS, layer by layer", false},
                               Shown{"rms", "Context RMS of one head against its interval", true},
                               Shown{"decomposition", "What makes a context small", true},
                               Shown{"scatter", "Context RMS and sinks", false},
                               Shown{"logits", "Logits", false},
                               Shown{"lambda", "λ", false},
                               Shown{"norm-gain", "Gain of the head norm", true},
                               Shown{"grid", "Every head's map", false},
                               Shown{"map", "Attention map of one head", true},
                               Shown{"tokens", "Context RMS, token by token", true}};

class ReportMaker {
 public:
  ReportMaker(const std::vector<FigureRun>& runs, const ReportOptions& options, const FontLibrary& fonts)
      : runs_(runs), options_(options), fonts_(fonts) {}

  Result<Report> make() {
    report_.program = options_.program, report_.command = options_.command;
    report_.created_utc = runs_.front().attribute("created_utc");
    report_.title = options_.title.empty() ? usual_title() : options_.title;
    if (runs_.size() > 1) HEADROOM_TRY_VOID(add_comparison());
    for (std::size_t i = 0; i < runs_.size(); ++i) HEADROOM_TRY_VOID(add_run(runs_[i], i));
    return std::move(report_);
  }

 private:
  template <typename Block>
  void add(Block block) {
    report_.blocks.emplace_back(std::move(block));
  }
  void add_all(std::vector<ReportBlock> blocks) {
    for (ReportBlock& block : blocks) report_.blocks.push_back(std::move(block));
  }

  [[nodiscard]] std::string usual_title() const {
    std::vector<std::string> names;
    for (const FigureRun& run : runs_)
      if (const std::string name = model_of(*run.run); std::ranges::find(names, name) == names.end())
        names.push_back(name);
    std::string title;
    for (const std::string& name : names) title += (title.empty() ? "" : ", ") + name;
    return title;
  }

  Result<void> add_comparison() {
    add(ReportHeading{2, "The runs beside each other"});
    add(runs_beside(runs_));
    if (runs_.size() != 2) return {};
    FigureOptions options;
    options.quantities = {"sink_score"};
    options.epsilon = options_.epsilon;
    return add_figure("compare", "Heads of both runs", runs_.front(), {runs_.back()}, options);
  }

  Result<void> add_run(const FigureRun& run, std::size_t number) {
    add(ReportHeading{2, runs_.size() > 1 ? model_of(*run.run) + " · " + run.name() : "The run"});
    add(run_facts(run));
    add_all(run_text(*run.run));
    add(self_check(*run.run));
    add(ReportHeading{3, "The premise of the interval"});
    add_all(premise_blocks(*run.run, RunPremise(*run.run)));
    left_out_.clear();
    for (const Shown& shown : kShown) {
      FigureOptions options;
      options.epsilon = options_.epsilon;
      if (shown.of_one_head) options.heads = options_.head;
      if (std::string_view(shown.kind) == "tokens" && run.run->length > 1024) options.rows = "0:1024";
      HEADROOM_TRY_VOID(add_figure(shown.kind, shown.title, run, {}, options));
    }
    if (options_.maps) {
      add(ReportHeading{3, "Maps to look into"});
      HEADROOM_TRY(std::vector<ReportBlock> maps, map_blocks(run, options_.head, number));
      add_all(std::move(maps));
    }
    add(ReportHeading{3, "Heads"});
    std::vector<std::string> columns;
    add(head_rows(*run.run, columns));
    add(definitions(columns));
    if (!left_out_.empty()) {
      add(ReportHeading{3, "Not shown"});
      for (const std::string& line : left_out_) add(ReportText{line, false, true});
    }
    return {};
  }

  // What cannot be drawn of a run is said at its end; what fails for another reason is an error.
  Result<void> add_figure(const char* kind_name, const char* title, const FigureRun& run,
                          const std::vector<FigureRun>& against, const FigureOptions& options) {
    HEADROOM_TRY(const FigureKind* kind, find_figure_kind(kind_name));
    HEADROOM_TRY(FigureChoice choice, read_choice(options, kind_name));
    choice.against = against;
    if (const Result<void> can = check_figure(*kind, run, choice); !can) return leave_out(kind_name, can.error());
    Result<Figure> figure = figure_of(kind_name, std::span(&run, 1), against, options, "a");
    if (!figure) return leave_out(kind_name, figure.error());
    std::vector<FigureRun> files{run};
    files.insert(files.end(), against.begin(), against.end());
    Result<FigurePage> page = lay_out_page(std::move(*figure), files, kind_name, page_style("paper"), fonts_);
    if (!page) return leave_out(kind_name, page.error());
    std::string command = "figure";
    for (const FigureRun& file : std::span(files).first(1)) command += " " + shell_word(file.name());
    command += std::string(" ") + kind_name;
    FigureOptions said = options;
    for (const FigureRun& file : against) said.against.push_back(file.name());
    for (const std::string& word : option_words(said)) command += " " + shell_word(word);
    HEADROOM_TRY(FileKeys keys, page_keys(page->runs, command, options_.program, options_.git_commit));
    for (const std::string& warning : page->warnings)
      report_.warnings.push_back(std::string(kind_name) + " of " + run.name() + ": " + warning);
    add(ReportHeading{3, title});
    add(ReportFigure{std::move(*page), std::move(keys)});
    return {};
  }

  Result<void> leave_out(const char* kind, const Error& error) {
    if (error.code == ErrorCode::Corrupt || error.code == ErrorCode::OutOfMemory) return error;
    std::string line = error.message.starts_with(kind) ? error.message : std::string(kind) + ": " + error.message;
    for (char& c : line)
      if (c == '*') c = ' ';
    left_out_.push_back(line);
    return {};
  }

  const std::vector<FigureRun>& runs_;
  const ReportOptions& options_;
  const FontLibrary& fonts_;
  Report report_;
  std::vector<std::string> left_out_;
};

}  // namespace

Result<Report> make_report(const std::vector<FigureRun>& runs, const ReportOptions& options, const FontLibrary& fonts) {
  for (const FigureRun& run : runs)
    if (const std::string sort = file_sort(run); sort != "a run file")
      return Error(ErrorCode::Unsupported, run.name() + " is " + sort + "; a report is of runs")
          .wanted("a run file of headroom analyze", sort);
  if (!options.head.empty()) {
    const std::optional<HeadRef> head = parse_head(options.head);
    if (!head)
      return Error(ErrorCode::InvalidArgument, "--head takes a layer and a head").wanted("L17.H4", options.head);
    for (const FigureRun& run : runs) {
      FigureChoice choice;
      choice.heads = {*head};
      HEADROOM_TRY_VOID(chosen_heads(run, choice, {}));
    }
  }
  return ReportMaker(runs, options, fonts).make();
}

}  // namespace headroom
