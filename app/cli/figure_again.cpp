#include "app/cli/figure_again.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
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
#include "core/io/run_file.h"

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

bool is_figure_file(const std::string& place) { return place.ends_with(".json"); }

std::string key_of(const FileKeys& keys, std::string_view name) {
  for (const auto& [key, value] : keys)
    if (key == name) return value;
  return {};
}

// The files that a figure names, by their contents.
class RunFinder {
 public:
  RunFinder(std::span<const fs::path> folders, std::vector<fs::path> named)
      : folders_(folders), named_(std::move(named)) {}

  // One of the files that were named, else by its name where the content is right, else whatever file has the content:
  // a run file may have any ending.
  Result<fs::path> find(const std::string& name, const std::string& hash) {
    for (const fs::path& file : named_)
      if (hash_of(file) == hash) return used_.insert(file), file;
    for (const fs::path& folder : folders_)
      if (hash_of(folder / name) == hash) return folder / name;
    for (const fs::path& folder : folders_) {
      std::error_code error;
      std::vector<fs::path> files;
      for (const auto& entry : fs::directory_iterator(folder, error))
        if (std::error_code ignored; entry.is_regular_file(ignored) && is_hdf5_file(entry.path()))
          files.push_back(entry.path());
      std::ranges::sort(files);
      for (const fs::path& file : files)
        if (hash_of(file) == hash) return file;
    }
    Error error(ErrorCode::NotFound, "the run file " + name + " of the figure is neither " +
                                         (named_.empty() ? "" : "among the files that are named, nor ") +
                                         "beside it nor in the current folder");
    return error.wanted("a file with SHA-256 " + hash, "none");
  }

  // A file that was named for nothing is not what somebody thinks it is.
  [[nodiscard]] Result<void> check_all_used() const {
    for (const fs::path& file : named_)
      if (!used_.contains(file)) {
        std::error_code error;
        if (!fs::exists(file, error)) return Error(ErrorCode::NotFound, file.string() + " is not there");
        return Error(ErrorCode::InvalidArgument,
                     file.filename().string() + ": not of the files that the figure is drawn from");
      }
    return {};
  }

 private:
  // Empty where it cannot be read.
  const std::string& hash_of(const fs::path& file) {
    const auto known = hashes_.find(file);
    if (known != hashes_.end()) return known->second;
    const Result<std::string> found = sha256_of_file(file);
    return hashes_.emplace(file, found ? *found : std::string()).first->second;
  }

  std::span<const fs::path> folders_;
  std::vector<fs::path> named_;
  std::set<fs::path> used_;
  std::map<fs::path, std::string> hashes_;
};

// What a figure is of it says itself: options beside --from would be another figure.
Result<void> check_beside_from(const FigureArguments& given, const std::string& command) {
  for (std::size_t i = 1; i < given.words.size(); ++i) {
    const std::string& word = given.words[i];
    if (const OutputWord said = output_word(word); said.here) {
      i += said.with_next ? 1 : 0;
      continue;
    }
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-') continue;
    Error error(ErrorCode::InvalidArgument,
                word.substr(0, word.find('=')) + " beside --from: a figure is drawn again as it was asked for");
    return error.advise("the command that the figure names takes other options: headroom " + command);
  }
  for (const std::string& place : given.places)
    if (find_figure_kind(place))
      return Error(ErrorCode::InvalidArgument,
                   place + " beside --from: a figure is drawn again as the kind that it is");
  return {};
}

// A figure file that was named, beside the figure, in the current folder.
Result<fs::path> find_figure_file(const std::string& name, std::span<const fs::path> folders,
                                  const std::vector<std::string>& named) {
  std::error_code error;
  for (const fs::path place : named) {
    if (place.filename() != name)
      return Error(ErrorCode::InvalidArgument, place.filename().string() + " beside --from: the figure is of " + name +
                                                   ", whose runs are those that it names");
    if (!fs::exists(place, error)) return Error(ErrorCode::NotFound, place.string() + " is not there");
    return place;
  }
  for (const fs::path& folder : folders)
    if (fs::exists(folder / name, error)) return folder / name;
  return Error(ErrorCode::NotFound,
               "the figure file " + name + " is neither beside the figure nor in the current folder");
}

}  // namespace

Result<FigureArguments> arguments_again(const FigureArguments& given) {
  HEADROOM_TRY(const FileKeys keys, read_page_keys(given.from));
  HEADROOM_TRY_VOID(check_beside_from(given, key_of(keys, "command")));
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
  const bool composed = std::ranges::any_of(again.places, is_figure_file);
  RunFinder finder(
      folders, composed ? std::vector<fs::path>() : std::vector<fs::path>(given.places.begin(), given.places.end()));
  std::size_t run = 0;
  const auto find = [&](std::string& place) -> Result<void> {
    if (run >= hashes.size()) return {};
    HEADROOM_TRY(const fs::path found, finder.find(place, hashes[run++]));
    place = found.string();
    return {};
  };
  for (std::string& place : again.places) {
    if (find_figure_kind(place)) continue;
    if (is_figure_file(place)) {
      HEADROOM_TRY(const fs::path found, find_figure_file(place, folders, given.places));
      place = found.string();  // its runs follow from it
    } else {
      HEADROOM_TRY_VOID(find(place));
    }
  }
  for (std::string& place : again.options.against) HEADROOM_TRY_VOID(find(place));
  HEADROOM_TRY_VOID(finder.check_all_used());
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
