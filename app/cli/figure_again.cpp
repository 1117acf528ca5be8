#include "app/cli/figure_again.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/paper/page_keys.h"
#include "app/text/font_files.h"
#include "core/checkpoint/sha256.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

// The words of a line that shell_word() made.
std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  bool quoted = false, open = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!open && c != ' ') words.emplace_back(), open = true;
    if (c == '\'')
      quoted = !quoted;
    else if (c == ' ' && !quoted)
      open = false;
    else if (c == '\\' && !quoted && i + 1 < line.size())
      words.back() += line[++i];
    else
      words.back() += c;
  }
  return words;
}

std::string key_of(const FileKeys& keys, std::string_view name) {
  for (const auto& [key, value] : keys)
    if (key == name) return value;
  return {};
}

// Of the named ones the one with the content; else by its name where the content is right, else whatever file has it.
Result<fs::path> find_run_file(const std::string& name, const std::string& hash, std::span<const fs::path> folders,
                               std::span<const std::string> named) {
  for (const std::string& file : named)
    if (const auto found = sha256_of_file(file); found && *found == hash) return fs::path(file);
  for (const fs::path& folder : folders)
    if (const auto found = sha256_of_file(folder / name); found && *found == hash) return folder / name;
  for (const fs::path& folder : folders) {
    std::error_code error;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".h5") files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files)
      if (const auto found = sha256_of_file(file); found && *found == hash) return file;
  }
  Error error(ErrorCode::NotFound, "the run file " + name +
                                       " of the figure is neither beside it nor in the current folder" +
                                       (named.empty() ? "" : ", nor is it one of those that are named"));
  return error.wanted("a file with SHA-256 " + hash, "none");
}

// What the figure says itself cannot be asked for beside it.
Result<void> check_given(const FigureArguments& given) {
  constexpr std::array<std::string_view, 7> kBeside = {"--from", "-o",      "--output", "--caption",
                                                       "--data", "--force", "--json"};
  for (const std::string& word : given.words) {
    const std::string name = word.substr(0, word.find('='));
    const bool short_output = word.starts_with("-o") && !word.starts_with("--");
    if (!word.starts_with('-') || word == "-" || short_output || std::ranges::find(kBeside, name) != kBeside.end())
      continue;
    return Error(ErrorCode::InvalidArgument, name + ": a figure that is drawn again is as it was")
        .advise("its own command is in it: draw that with other options");
  }
  for (const std::string& place : given.places)
    if (find_figure_kind(place))
      return Error(ErrorCode::InvalidArgument, place + ": a figure that is drawn again is of the kind that it was");
  return {};
}

}  // namespace

Result<FigureArguments> arguments_again(const FigureArguments& given) {
  HEADROOM_TRY_VOID(check_given(given));
  HEADROOM_TRY(const FileKeys keys, read_page_keys(given.from));
  std::vector<std::string> words = shell_words(key_of(keys, "command"));
  if (words.empty() || words.front() != "figure")
    return Error(ErrorCode::Corrupt, "the figure names a command that makes none: " + key_of(keys, "command"))
        .in_file(given.from.string());
  FigureArguments again;
  again.words = words;
  CLI::App app;
  add_figure(app, again);
  std::ranges::reverse(words);  // as CLI11 takes a list
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return Error(ErrorCode::Corrupt, std::string("the command that the figure names cannot be read: ") + error.what())
        .in_file(given.from.string());
  }
  const std::vector<std::string> hashes = shell_words(key_of(keys, "run_sha256"));
  const fs::path folders[] = {given.from.parent_path().empty() ? "." : given.from.parent_path(), "."};
  std::size_t run = 0;
  std::vector<std::string> used;
  const auto find = [&](std::string& place) -> Result<void> {
    if (run >= hashes.size()) return {};
    HEADROOM_TRY(const fs::path found, find_run_file(place, hashes[run++], folders, given.places));
    place = found.string();
    used.push_back(place);
    return {};
  };
  for (std::string& place : again.places) {
    if (find_figure_kind(place)) continue;
    if (place.ends_with(".json"))
      place =
          (fs::exists(folders[0] / place) ? folders[0] / place : fs::path(place)).string();  // its runs follow from it
    else
      HEADROOM_TRY_VOID(find(place));
  }
  for (std::string& place : again.options.against) HEADROOM_TRY_VOID(find(place));
  for (const std::string& named : given.places)
    if (std::ranges::find(used, named) == used.end())
      return Error(ErrorCode::InvalidArgument, named + " is no run of this figure").in_file(given.from.string());
  if (names_font_file(again.font))
    for (const fs::path& folder : folders)
      if (std::error_code error; fs::exists(folder / again.font, error)) {
        again.font = (folder / again.font).string();
        break;
      }
  again.expected_runs = key_of(keys, "run_sha256");
  again.output = given.output, again.data = given.data, again.caption = given.caption;
  again.force = given.force, again.json = given.json;
  return again;
}

}  // namespace headroom
