#include "app/cli/figure_command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/cli/figure_again.h"
#include "app/figures/caption_text.h"
#include "app/figures/composed.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/figure_options.h"
#include "app/figures/figure_runs.h"
#include "app/paper/figure_page.h"
#include "app/paper/page_file.h"
#include "app/process/report_error.h"
#include "app/process/version.h"
#include "app/text/font_files.h"
#include "app/text/font_library.h"
#include "core/base/error.h"
#include "core/base/shell_word.h"
#include "core/checkpoint/sha256.h"
#include "core/io/atomic_file.h"

namespace headroom {
namespace {

// Every message of this command begins with it.
Error in_figure(Error error) {
  if (!error.message.starts_with("[figure] ")) error.message = "[figure] " + error.message;
  return error;
}

// The kind is the first place that is a kind's name; a file of that name is written ./map.
struct Places {
  std::vector<FigureRun> runs;
  std::string kind;
  std::filesystem::path file;  // of a composed figure, in place of both
};

Result<Places> read_places(const FigureArguments& arguments) {
  Places places;
  std::vector<std::filesystem::path> files;
  for (const std::string& place : arguments.places) {
    const bool kind = places.kind.empty() && find_figure_kind(place);
    if (kind)
      places.kind = place;
    else
      files.emplace_back(place);
  }
  if (places.kind.empty() && files.size() == 1 && files.front().extension() == ".json") {
    places.file = files.front();
    return places;
  }
  if (places.kind.empty() && !arguments.list) {
    // A word that is no file was meant as a kind.
    for (const auto& file : files)
      if (!std::filesystem::exists(file) && !file.has_extension()) return find_figure_kind(file.string()).error();
    Error error(ErrorCode::InvalidArgument, "no kind of figure is named");
    return error.advise("headroom figure RUN --list names the kinds");
  }
  if (files.empty()) return Error(ErrorCode::InvalidArgument, "no run file is named");
  for (const auto& file : files) {
    HEADROOM_TRY(FigureRun run, read_figure_run(file));
    places.runs.push_back(std::move(run));
  }
  return places;
}

int list_kinds(const FigureArguments& arguments, const std::vector<FigureRun>& runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FigureKind& kind : figure_kinds()) {
    FigureChoice choice;
    choice.kind = kind.name;
    const Result<void> can = check_figure(kind, runs.front(), choice);
    nlohmann::ordered_json one = {{"kind", kind.name}, {"summary", kind.summary}, {"several_runs", kind.several}};
    one["missing"] = nullptr;
    if (!can) one["missing"] = describe(can.error());
    list.push_back(one);
    if (!arguments.json)
      std::printf("%-14s %s%s\n", kind.name, kind.summary,
                  can ? "" : ("\n               – " + describe(can.error())).c_str());
  }
  if (arguments.json) std::printf("%s\n", list.dump(1).c_str());
  return 0;
}

// The words of the command line without folders and without where it is written to.
std::string said_words(const FigureArguments& arguments) {
  std::string text;
  for (std::size_t i = 0; i < arguments.words.size(); ++i) {
    std::string word = arguments.words[i];
    if (const OutputWord said = output_word(word); said.here) {
      i += said.with_next ? 1 : 0;
      continue;
    }
    const auto named = [](const std::vector<std::string>& files, std::string_view name) {
      return std::ranges::find(files, name) != files.end();
    };
    std::size_t from = 0;
    for (const std::string_view option : {"--against=", "--font="})
      if (word.starts_with(option)) from = option.size();
    const std::string file = word.substr(from);
    if (named(arguments.places, file) || named(arguments.options.against, file) ||
        (file == arguments.font && names_font_file(file)))
      word = word.substr(0, from) + std::filesystem::path(file).filename().string();
    text += (text.empty() ? "" : " ") + shell_word(std::move(word));
  }
  return text;
}

// A figure that is drawn again is of the very files that it names: those of a composed figure are found by name alone.
Result<void> check_runs(const FigureArguments& arguments, const FileKeys& keys) {
  for (const auto& [key, value] : keys)
    if (key == "run_sha256" && !arguments.expected_runs.empty() && value != arguments.expected_runs) {
      Error error(ErrorCode::Corrupt, "the run files are not those that the figure was drawn from");
      return error.wanted("SHA-256 " + arguments.expected_runs, value);
    }
  return {};
}

// What is drawn, before it is laid out.
struct Asked {
  Figure figure;
  std::vector<FigureRun> runs;
  std::string name, theme;  // of the kind or the figure file
};

// A figure file says itself what its panels are asked for.
void note_not_of_file(Figure& figure, const FigureOptions& options, const std::string& file) {
  constexpr std::array<std::string_view, 3> kOfThePage = {"--width", "--height", "--title"};
  for (const std::string& word : option_words(options))
    if (word.starts_with("--") && std::ranges::find(kOfThePage, word) == kOfThePage.end())
      figure.notes.push_back(word + " changes nothing of " + file + ", which has options of its own");
}

Result<Asked> make_asked(const FigureArguments& arguments, const Places& places) {
  if (!places.file.empty()) {
    HEADROOM_TRY(ComposedFigure composed,
                 read_composed(places.file, arguments.options.width, arguments.options.height));
    if (!arguments.options.title.empty()) composed.figure.title = arguments.options.title;
    note_not_of_file(composed.figure, arguments.options, places.file.filename().string());
    set_letters(composed.figure, arguments.letters == "a" ? composed.letters : arguments.letters);
    return Asked{std::move(composed.figure), std::move(composed.runs), places.file.filename().string(), composed.theme};
  }
  std::vector<FigureRun> against;
  for (const std::string& file : arguments.options.against) {
    HEADROOM_TRY(FigureRun run, read_figure_run(file));
    against.push_back(std::move(run));
  }
  HEADROOM_TRY(Figure figure, figure_of(places.kind, places.runs, against, arguments.options, arguments.letters));
  std::vector<FigureRun> files = places.runs;
  files.insert(files.end(), against.begin(), against.end());
  return Asked{std::move(figure), std::move(files), places.kind, arguments.options.theme};
}

struct FigureReport {
  std::size_t bytes = 0, marks = 0;
  std::vector<std::string> warnings;
  std::string caption;  // empty: not asked for
};

void print_report(const FigureArguments& arguments, const FigurePage& page, const FigureReport& report,
                  const FileKeys& keys, const FontLibrary& fonts) {
  nlohmann::ordered_json json = {
      {"path", arguments.output.string()},  {"bytes", report.bytes},      {"width_mm", page.figure.width_mm},
      {"height_mm", page.figure.height_mm}, {"kind", page.name},          {"marks", report.marks},
      {"warnings", report.warnings},        {"notes", page.figure.notes}, {"fonts", fonts.describe()}};
  if (!report.caption.empty()) json["caption"] = report.caption;
  json["font_files"] = nlohmann::ordered_json::array();
  for (const std::string& path : fonts.paths())
    if (const Result<std::string> hash = sha256_of_file(path))
      json["font_files"].push_back({{"path", path}, {"sha256", *hash}});
  json["panels"] = nlohmann::ordered_json::array();
  for (const auto& panel : page.figure.panels)
    json["panels"].push_back(
        {{"id", panel->id}, {"letter", panel->letter}, {"kind", panel->kind}, {"name", panel->name}});
  json["keys"] = nlohmann::ordered_json::object();
  for (const auto& [key, value] : keys) json["keys"][key] = value;
  std::printf("%s\n", json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

Result<void> print_figure(const FigureArguments& arguments) {
  const std::optional<PageFormat> format = page_format(arguments.output.string());
  if (!arguments.output.empty() && !format)
    return Error(ErrorCode::InvalidArgument, "the figure's file has no ending of a known format")
        .wanted("a name that ends in .pdf, .svg or .png", arguments.output.string());
  // A range of the command line lets them pass: they are neither below nor above it.
  if (std::isnan(arguments.text_size) || std::isnan(arguments.dots_per_inch))
    return Error(ErrorCode::InvalidArgument, "--text-size and --dpi take numbers").wanted("a number", "nan");
  HEADROOM_TRY(const Places places, read_places(arguments));
  if (arguments.list) return list_kinds(arguments, places.runs), Result<void>();
  if (arguments.output.empty() && arguments.caption.empty() && arguments.data.empty()) {
    Error error(ErrorCode::InvalidArgument, "nothing is asked for");
    return error.advise("-o FILE writes the figure, --caption text and --data FILE what belongs to it");
  }
  if (arguments.json && arguments.data == "-")
    return Error(ErrorCode::InvalidArgument, "--data - and --json both write to standard output");
  HEADROOM_TRY(Asked asked, make_asked(arguments, places));
  HEADROOM_TRY(const auto fonts, FontLibrary::create(arguments.font));
  HEADROOM_TRY(const FigurePage page, lay_out_page(std::move(asked.figure), std::move(asked.runs), asked.name,
                                                   page_style(asked.theme, arguments.text_size), *fonts));
  HEADROOM_TRY(const FileKeys keys,
               page_keys(page.runs, said_words(arguments), std::string("headroom ") + kVersion, kGitCommit));
  HEADROOM_TRY_VOID(check_runs(arguments, keys));
  FigureReport report;
  report.warnings = page.warnings;
  std::vector<std::filesystem::path> inputs{places.file};
  if (places.file.empty()) inputs.clear();
  for (const FigureRun& run : page.runs) inputs.push_back(run.path);
  if (format) {
    HEADROOM_TRY(PageBytes made, page_bytes(page, *format, arguments.dots_per_inch, keys, *fonts,
                                            arguments.svg_text == "fonts" ? SvgText::Fonts : SvgText::Outlines));
    for (std::string& warning : made.warnings) report.warnings.push_back(std::move(warning));
    HEADROOM_TRY_VOID(write_whole_file(arguments.output, made.bytes, arguments.force, inputs));
    report.bytes = made.bytes.size();
  }
  if (arguments.json) report.marks = page_marks(page).marks().size();
  if (!arguments.data.empty()) {
    const std::string text = page_marks_csv(page, keys);
    if (arguments.data == "-")
      std::fputs(text.c_str(), stdout);
    else
      HEADROOM_TRY_VOID(write_whole_file(arguments.data, text, arguments.force, inputs));
  }
  if (!arguments.caption.empty())
    report.caption = arguments.caption == "latex" ? latex_caption(page.caption, keys) : plain_caption(page.caption);
  if (!arguments.caption.empty() && !arguments.json) std::printf("%s\n", report.caption.c_str());
  for (const std::string& note : page.figure.notes) std::fprintf(stderr, "headroom: [figure] %s\n", note.c_str());
  for (const std::string& warning : report.warnings)
    std::fprintf(stderr, "headroom: [figure] warning: %s\n", warning.c_str());
  if (arguments.json) print_report(arguments, page, report, keys, *fonts);
  return {};
}

}  // namespace

OutputWord output_word(std::string_view word) {
  for (const std::string_view name : {"--output", "--data", "--caption", "--from"}) {
    if (word == name) return {true, true};
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) return {true, false};
  }
  if (word == "-o") return {true, true};
  return {word == "--force" || word == "--json" || (word.starts_with("-o") && !word.starts_with("--")), false};
}

int run_figure(const FigureArguments& arguments) {
  Result<void> printed;
  if (arguments.from.empty()) {
    printed = print_figure(arguments);
  } else {
    const Result<FigureArguments> again = arguments_again(arguments);
    printed = again ? print_figure(*again) : Result<void>(again.error());
  }
  return printed ? 0 : report_error(in_figure(printed.error()), arguments.json);
}

}  // namespace headroom
