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

#include "app/cli/shell_word.h"
#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/figure_layout.h"
#include "app/figures/page_length.h"
#include "app/paper/page_file.h"
#include "app/plot/recording_painter.h"
#include "app/process/report_error.h"
#include "app/process/version.h"
#include "app/text/font_library.h"
#include "core/base/error.h"
#include "core/base/input_file.h"
#include "core/checkpoint/sha256.h"
#include "core/io/atomic_file.h"

namespace headroom {
namespace {

// Every message of this command begins with it.
Error in_figure(Error error) {
  if (!error.message.starts_with("[figure] ")) error.message = "[figure] " + error.message;
  return error;
}

Error bad_option(const std::string& option, const std::string& expected, const std::string& found) {
  Error error(ErrorCode::InvalidArgument, option + " \"" + found + "\" cannot be read");
  return error.wanted(expected, found);
}

std::optional<double> number_of(std::string_view text) {
  double value = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<std::int64_t> index(std::string_view text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0) return {};
  return value;
}

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> result;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(separator, from), text.size());
    result.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return result;
}

// "0,3-9"; nothing of an empty text.
Result<std::vector<std::int64_t>> index_list(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> result;
  if (text.empty()) return result;
  for (const std::string_view part : parts(text, ',')) {
    const auto ends = parts(part, '-');
    const auto first = index(ends.front()), last = index(ends.back());
    if (!first || !last || *last < *first || *last - *first > 100000 || ends.size() > 2)
      return bad_option(option, "indices and ranges, e.g. 0,3-9", text);
    for (std::int64_t i = *first; i <= *last; ++i) result.push_back(i);
  }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

using Pair = std::optional<std::array<std::int64_t, 2>>;

Result<Pair> index_pair(const std::string& option, const std::string& text, char separator, bool ascending) {
  if (text.empty()) return Pair{};
  const auto ends = parts(text, separator);
  const auto first = index(ends.front()), last = index(ends.back());
  if (ends.size() != 2 || !first || !last || (ascending && *last <= *first))
    return bad_option(option, std::string("A") + separator + "B" + (ascending ? ", A below B" : ""), text);
  return Pair{{*first, *last}};
}

Result<void> read_range(const std::string& text, FigureChoice& choice) {
  if (text.empty()) return {};
  const auto ends = parts(text, ',');
  const auto end_of = [&](std::string_view end) { return end == "auto" ? std::optional<double>() : number_of(end); };
  choice.low = end_of(ends.front()), choice.high = end_of(ends.back());
  const bool known =
      ends.size() == 2 && (choice.low || ends.front() == "auto") && (choice.high || ends.back() == "auto");
  if (!known || (choice.low && choice.high && !(*choice.high > *choice.low)))
    return bad_option("--range", "LO,HI, LO below HI, or auto for one end", text);
  return {};
}

Result<void> read_colours(const std::string& name, FigureChoice& choice) {
  static constexpr std::array<std::pair<std::string_view, Colours>, 5> kSequential = {{{"headroom", Colours::Headroom},
                                                                                       {"viridis", Colours::Viridis},
                                                                                       {"cividis", Colours::Cividis},
                                                                                       {"magma", Colours::Magma},
                                                                                       {"grey", Colours::Grey}}};
  if (name.empty()) return {};
  for (const auto& [known, colours] : kSequential)
    if (name == known) choice.colours = colours;
  if (name == "puor") choice.signed_colours = SignedColours::PuOr;
  if (name == "vik") choice.signed_colours = SignedColours::Vik;
  const bool known = name == "puor" || name == "vik" ||
                     std::ranges::any_of(kSequential, [&](const auto& one) { return one.first == name; });
  if (known) return {};
  Error error(ErrorCode::InvalidArgument, "colour map \"" + name + "\": not known");
  error.wanted("headroom, viridis, cividis, magma, grey; signed: headroom, puor, vik", name);
  return error.advise(
      "maps whose lightness goes up and down, such as jet and rainbow, show edges that are not in the data");
}

Result<FigureChoice> read_choice(const FigureArguments& arguments, const std::string& kind) {
  FigureChoice choice;
  choice.kind = kind;
  if (!arguments.heads.empty()) {
    HEADROOM_TRY(choice.heads, parse_heads(arguments.heads, ',', "--head"));
  }
  HEADROOM_TRY(choice.layers, index_list("--layers", arguments.layers));
  HEADROOM_TRY(choice.only_heads, index_list("--heads", arguments.only_heads));
  const auto found = find_figure_kind(kind);
  if (found && (*found)->by_token) choice.row_quantities = arguments.quantities;
  for (const std::string& quantity : arguments.quantities) {
    if (!choice.row_quantities.empty()) break;
    HEADROOM_TRY(const QuantityRef ref, parse_quantity(quantity));
    choice.quantities.push_back(ref);
  }
  HEADROOM_TRY(choice.rows, index_pair("--rows", arguments.rows, ':', true));
  HEADROOM_TRY(choice.keys, index_pair("--keys", arguments.keys, ':', true));
  HEADROOM_TRY(choice.cell, index_pair("--cell", arguments.cell, ',', false));
  HEADROOM_TRY_VOID(read_range(arguments.range, choice));
  HEADROOM_TRY_VOID(read_colours(arguments.colour_map, choice));
  if (arguments.scale == "linear") choice.scale = ScaleKind::Linear;
  if (arguments.scale == "log") choice.scale = ScaleKind::Log10;
  if (arguments.scale == "symlog") choice.scale = ScaleKind::Symlog;
  if (!arguments.width.empty()) {
    HEADROOM_TRY(choice.width_mm, page_length(arguments.width));
  }
  if (!arguments.height.empty()) {
    HEADROOM_TRY(choice.height_mm, page_length(arguments.height));
  }
  if (arguments.theme == "slides" && !choice.width_mm) choice.width_mm = 240.0;
  choice.epsilon = arguments.epsilon, choice.top = arguments.top, choice.names = arguments.names;
  return choice;
}

Result<std::string> hash_of(const std::filesystem::path& path) {
  HEADROOM_TRY(const InputFile file, InputFile::open(path));
  Sha256 hash;
  std::vector<std::byte> piece(std::size_t{1} << 20);
  for (std::uint64_t at = 0; at < file.size_bytes(); at += piece.size()) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), file.size_bytes() - at));
    const std::span<std::byte> part(piece.data(), size);
    HEADROOM_TRY_VOID(file.read_at(at, part));
    hash.update(part);
  }
  return hash.finish_hex();
}

// The kind is the first place that is a kind's name; a file of that name is written ./map.
struct Places {
  std::vector<FigureRun> runs;
  std::string kind;
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
  if (places.kind.empty() && !arguments.list) {
    // A word that is no file was meant as a kind.
    for (const auto& file : files)
      if (!std::filesystem::exists(file) && !file.has_extension()) return find_figure_kind(file.string()).error();
    Error error(ErrorCode::InvalidArgument, "no kind of figure is named");
    return error.advise("headroom figure RUN --list names the kinds");
  }
  if (files.empty()) return Error(ErrorCode::InvalidArgument, "no run file is named");
  for (const auto& file : files) {
    HEADROOM_TRY(auto run, read_run(file));
    places.runs.push_back({file, std::move(run)});
  }
  return places;
}

int list_kinds(const FigureArguments& arguments, const std::vector<FigureRun>& runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FigureKind& kind : figure_kinds()) {
    FigureChoice choice;
    choice.kind = kind.name;
    const Result<void> can = kind.check(runs.front(), choice);
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
    if (word == "-o" || word == "--output" || word == "--data" || word == "--caption") {
      ++i;
      continue;
    }
    if (word == "--force" || word == "--json") continue;
    if (std::ranges::find(arguments.places, word) != arguments.places.end() && word.find('/') != std::string::npos)
      word = std::filesystem::path(word).filename().string();
    text += (text.empty() ? "" : " ") + shell_word(std::move(word));
  }
  return text;
}

std::string attribute(const RunSnapshot& run, std::string_view name) {
  const auto found = run.attributes.find(name);
  return found == run.attributes.end() ? std::string() : found->second;
}

Result<FileKeys> file_keys(const FigureArguments& arguments, const std::vector<FigureRun>& runs) {
  std::string hashes, models, checkpoints, prompts, changes;
  const auto join = [](std::string& to, const std::string& text) {
    to += (to.empty() || text.empty() ? "" : " ") + text;
  };
  for (const FigureRun& run : runs) {
    HEADROOM_TRY(const std::string hash, hash_of(run.path));
    join(hashes, hash);
    join(models, attribute(*run.run, "model_id"));
    std::string checkpoint = attribute(*run.run, "checkpoint_sha256");
    std::ranges::replace(checkpoint, '\n', ' ');
    join(checkpoints, checkpoint);
    join(prompts, attribute(*run.run, "prompt_sha256"));
    for (const std::string& what_if : run.run->what_ifs) join(changes, what_if);
  }
  return FileKeys{{"command", said_words(arguments)},
                  {"program", std::string("headroom ") + kVersion},
                  {"program_git_commit", kGitCommit},
                  {"run_sha256", hashes},
                  {"model_id", models},
                  {"checkpoint_sha256", checkpoints},
                  {"prompt_sha256", prompts},
                  {"overrides", changes}};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes, bool force,
                        std::span<const std::filesystem::path> inputs) {
  HEADROOM_TRY(AtomicFile file, AtomicFile::create(path, force, inputs));
  HEADROOM_TRY_VOID(write_all(file.descriptor(), std::as_bytes(std::span(bytes)), path));
  return file.commit();
}

// Texts that are cut, leave their panel or touch: a figure with such is still written, with a warning for each.
std::vector<std::string> layout_warnings(const Figure& figure, std::span<const PanelFrame> frames, const Page& page,
                                         Rect ground) {
  RecordingPainter record(page.measure, ground);
  draw_figure(record, figure, frames, page);
  std::vector<std::string> warnings = record.texts_outside();
  for (std::string& line : record.texts_overlapping()) warnings.push_back(std::move(line));
  return warnings;
}

std::string data_head(const FileKeys& keys) {
  std::string text;
  for (const auto& [key, value] : keys)
    if (!value.empty()) text += "# " + key + ": " + value + "\n";
  return text;
}

Result<void> print_figure(const FigureArguments& arguments) {
  HEADROOM_TRY(const Places places, read_places(arguments));
  if (arguments.list) return list_kinds(arguments, places.runs), Result<void>();
  const std::optional<PageFormat> format = page_format(arguments.output.string());
  if (!arguments.output.empty() && !format)
    return bad_option("--output", "a name that ends in .pdf, .svg or .png", arguments.output.string());
  if (arguments.output.empty() && arguments.caption.empty() && arguments.data.empty()) {
    Error error(ErrorCode::InvalidArgument, "nothing is asked for");
    return error.advise("-o FILE writes the figure, --caption text and --data FILE what belongs to it");
  }
  HEADROOM_TRY(const FigureKind* const kind, find_figure_kind(places.kind));
  if (places.runs.size() > 1 && !kind->several)
    return Error(ErrorCode::InvalidArgument, std::string(kind->name) + " is drawn of one run file");
  HEADROOM_TRY(const FigureChoice choice, read_choice(arguments, places.kind));
  HEADROOM_TRY(Figure figure, kind->make(places.runs, choice));
  set_letters(figure, arguments.letters);
  HEADROOM_TRY(const auto fonts, FontLibrary::create());
  Page page{*fonts, {}};
  page.style.times = arguments.theme == "slides" ? 2.0f : 1.0f;
  page.style.text_size = static_cast<float>(arguments.text_size);
  HEADROOM_TRY_VOID(settle_height(figure, page));
  HEADROOM_TRY(const std::vector<PanelFrame> frames, lay_out_figure(figure, figure.width_mm, figure.height_mm, page));
  const std::string caption = figure_caption(figure);
  HEADROOM_TRY(const FileKeys keys, file_keys(arguments, places.runs));
  PageInfo info;
  info.width = figure.width_mm * kPointsPerMillimetre, info.height = figure.height_mm * kPointsPerMillimetre;
  info.dots_per_inch = arguments.dots_per_inch > 0.0 ? arguments.dots_per_inch
                       : format == PageFormat::Png   ? 300.0
                                                     : 600.0;
  info.title = std::string("headroom figure ") + kind->name + ": " + places.runs.front().name();
  info.description = plain_caption(caption);
  info.created_utc = attribute(*places.runs.front().run, "created_utc");
  info.keys = keys;
  std::vector<std::string> warnings = layout_warnings(
      figure, frames, page, {0.0f, 0.0f, static_cast<float>(info.width), static_cast<float>(info.height)});
  if (arguments.text_size < 6.0)
    warnings.push_back("text of " + std::to_string(static_cast<int>(arguments.text_size)) +
                       " pt is below the 6 pt that journals ask for");
  std::vector<std::filesystem::path> inputs;
  for (const FigureRun& run : places.runs) inputs.push_back(run.path);
  std::size_t size = 0;
  if (format) {
    HEADROOM_TRY(PageBytes made, make_page(*format, info, *fonts,
                                           [&](Painter& painter) { draw_figure(painter, figure, frames, page); }));
    for (std::string& warning : made.warnings) warnings.push_back(std::move(warning));
    HEADROOM_TRY_VOID(write_file(arguments.output, made.bytes, arguments.force, inputs));
    size = made.bytes.size();
  }
  FigureData data;
  for (const auto& panel : figure.panels) panel->add_data(data);
  if (!arguments.data.empty()) {
    const std::string text = data_head(keys) + data.csv();
    if (arguments.data == "-")
      std::fputs(text.c_str(), stdout);
    else
      HEADROOM_TRY_VOID(write_file(arguments.data, text, arguments.force, inputs));
  }
  if (!arguments.caption.empty())
    std::printf("%s\n", (arguments.caption == "latex" ? latex_caption(caption, keys) : plain_caption(caption)).c_str());
  for (const std::string& note : figure.notes) std::fprintf(stderr, "headroom: [figure] %s\n", note.c_str());
  for (const std::string& warning : warnings) std::fprintf(stderr, "headroom: [figure] warning: %s\n", warning.c_str());
  if (arguments.json) {
    nlohmann::ordered_json report = {{"path", arguments.output.string()},
                                     {"bytes", size},
                                     {"width_mm", figure.width_mm},
                                     {"height_mm", figure.height_mm},
                                     {"kind", kind->name},
                                     {"marks", data.marks().size()},
                                     {"warnings", warnings},
                                     {"notes", figure.notes},
                                     {"fonts", fonts->describe()}};
    report["panels"] = nlohmann::ordered_json::array();
    for (const auto& panel : figure.panels)
      report["panels"].push_back({{"letter", panel->letter}, {"name", panel->name}});
    report["keys"] = nlohmann::ordered_json::object();
    for (const auto& [key, value] : keys) report["keys"][key] = value;
    std::printf("%s\n", report.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  }
  return {};
}

}  // namespace

int run_figure(const FigureArguments& arguments) {
  const Result<void> printed = print_figure(arguments);
  return printed ? 0 : report_error(in_figure(printed.error()), arguments.json);
}

}  // namespace headroom
