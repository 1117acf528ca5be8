#include "app/session/settings_file.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/session/enum_words.h"
#include "app/session/figure_screen.h"
#include "app/session/json_values.h"
#include "app/session/prompt_entry.h"
#include "app/session/saving.h"
#include "core/io/atomic_file.h"

namespace headroom {
namespace {

using nlohmann::json;

constexpr int kSettingsVersion = 1;
constexpr std::uintmax_t kLargestSettings = 4 << 20;
constexpr std::size_t kRecentFiles = 20, kLongestOption = 400;

// visit(group, name, field) for each: what writes them and what reads them go through these lists.
template <typename Kept, typename Visit>
void visit_kept(Kept& kept, const Visit& visit) {
  visit("settings", "dark", kept.settings.dark);
  visit("settings", "colours", kept.settings.colours);
  visit("settings", "signed_colours", kept.settings.signed_colours);
  visit("settings", "scale", kept.settings.scale);
  visit("settings", "picture_size", kept.settings.picture.size);
  visit("settings", "picture_theme", kept.settings.picture.theme);
  visit("settings", "device", kept.settings.device);
  visit("settings", "dtype", kept.settings.dtype);
  visit("settings", "backend", kept.settings.backend);
  visit("settings", "memory_gb", kept.settings.memory_gb);
  visit("settings", "tile_mb", kept.settings.tile_mb);
  visit("settings", "keys", kept.settings.keys);
  visit("layout", "heads_width", kept.layout.heads_width);
  visit("layout", "head_width", kept.layout.head_width);
  visit("layout", "tokens_height", kept.layout.tokens_height);
  visit("layout", "heads_folded", kept.layout.heads_folded);
  visit("layout", "head_folded", kept.layout.head_folded);
  visit("layout", "tokens_folded", kept.layout.tokens_folded);
  visit("window", "width", kept.window_width);
  visit("window", "height", kept.window_height);
  visit("heads", "quantity", kept.heads.quantity);
  visit("heads", "threshold", kept.heads.threshold);
  visit("heads", "x", kept.heads.x);
  visit("heads", "y", kept.heads.y);
  visit("heads", "columns", kept.heads.columns);
  visit("figure", "latex", kept.figure.latex);
  visit("figure", "data", kept.figure.data);
  visit("figure", "caption", kept.figure.caption);
  visit("figure", "run", kept.figure.run);
}

template <typename File, typename Visit>
void visit_recent(File& file, const Visit& visit) {
  visit("path", file.path);
  visit("name", file.name);
  visit("detail", file.detail);
  visit("opened", file.opened_unix);
  visit("bytes", file.size_bytes);
}

// By kind: its options as the command line names them, the ending of its file, what of the screen is left out.
json looks_json(const FigureChoices& figure) {
  json looks = json::object();
  for (const auto& [kind, look] : figure.looks) {
    json one = {{"ending", look.ending}, {"left_out", look.left_out}, {"options", json::object()}};
    for (const ScreenPart& option : chosen_options(look))
      if (!names_place(option.name)) one["options"][option.name] = option.value;
    looks[kind] = std::move(one);
  }
  return looks;
}

// What the program would not take from a person it does not take from the file either.
std::map<std::string, FigureLook, std::less<>> looks_of_json(const json& looks) {
  std::map<std::string, FigureLook, std::less<>> read;
  for (const auto& [kind, one] : looks.items()) {
    if (!one.is_object() || !find_figure_kind(kind)) continue;
    FigureLook look;
    std::string ending;
    read_value(one, "ending", ending);
    const auto endings = save_endings(SaveKind::Figure);
    if (std::ranges::find(endings, ending) != endings.end()) look.ending = ending;
    std::vector<std::string> left_out;
    read_value(one, "left_out", left_out);
    for (const std::string& name : left_out)
      if (std::ranges::find(kScreenPartNames, name) != kScreenPartNames.end()) look.left_out.insert(name);
    const json options = object_in(one, "options");
    for (const auto& [name, value] : options.items())
      if (value.is_string() && value.get_ref<const std::string&>().size() <= kLongestOption && !names_place(name))
        (void)set_figure_option(look, kind, name, value.get<std::string>());
    read[kind] = std::move(look);
  }
  return read;
}

json to_json(const KeptState& kept) {
  json root = {{"version", kSettingsVersion},
               {"save_folders", kept.save_folders},
               {"recent", json::array()},
               {"prompts", json::array()}};
  visit_kept(kept,
             [&](const char* group, const char* name, const auto& field) { root[group][name] = field_json(field); });
  root["figure"]["kinds"] = looks_json(kept.figure);
  for (const RecentFile& file : kept.recent) {
    json& entry = root["recent"].emplace_back();
    visit_recent(file, [&](const char* name, const auto& field) { entry[name] = field; });
  }
  for (const PromptEntry& prompt : kept.recent_prompts) root["prompts"].push_back(prompt_json(prompt));
  return root;
}

KeptState from_json(const json& root) {
  KeptState kept;
  visit_kept(
      kept, [&](const char* group, const char* name, auto& field) { read_field(object_in(root, group), name, field); });
  kept.settings.picture.size = std::clamp<std::int64_t>(kept.settings.picture.size, 1, kLargestPicture);
  if (kept.settings.scale != 0.0) kept.settings.scale = std::clamp(kept.settings.scale, 0.5, 3.0);
  kept.settings.tile_mb = std::clamp(kept.settings.tile_mb, 8.0, 4096.0);
  kept.settings.memory_gb = std::clamp(kept.settings.memory_gb, 0.0, 4096.0);
  kept.figure.looks = looks_of_json(object_in(object_in(root, "figure"), "kinds"));
  const json folders = object_in(root, "save_folders");
  for (const auto& [kind, folder] : folders.items())
    if (folder.is_string() && parse_word<SaveKind>(kind)) kept.save_folders[kind] = folder.get<std::string>();
  if (root.contains("recent") && root["recent"].is_array())
    for (const json& entry : root["recent"]) {
      if (!entry.is_object() || kept.recent.size() == kRecentFiles) continue;
      RecentFile file;
      visit_recent(file, [&](const char* name, auto& field) { read_value(entry, name, field); });
      if (!file.path.empty()) kept.recent.push_back(std::move(file));
    }
  if (root.contains("prompts") && root["prompts"].is_array())
    for (auto entry = root["prompts"].rbegin(); entry != root["prompts"].rend(); ++entry)
      if (entry->is_object()) remember_prompt(kept.recent_prompts, prompt_of_json(*entry));
  return kept;
}

}  // namespace

std::filesystem::path settings_path(const std::filesystem::path& folder) { return folder / "headroom.json"; }

LoadedState load_settings(const std::filesystem::path& folder) {
  LoadedState loaded;
  const std::filesystem::path path = settings_path(folder);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return loaded;
  const auto damaged = [&](const std::string& what) {
    const std::filesystem::path backup = path.string() + ".damaged";
    std::filesystem::rename(path, backup, error);
    loaded.note = "the settings file " + what + "; the defaults are used" +
                  (error ? "" : ", the file is kept as " + backup.filename().string());
    loaded.may_save = !error;
    return loaded;
  };
  if (std::filesystem::file_size(path, error) > kLargestSettings || error) return damaged("is larger than 4 MiB");
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    loaded.note = "the settings file cannot be read; the defaults are used";
    loaded.may_save = false;
    return loaded;
  }
  const json root = json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return damaged("is damaged");
  const auto version = root.find("version");
  if (version == root.end() || !version->is_number_integer()) return damaged("has no version");
  if (version->get<std::int64_t>() > kSettingsVersion) {
    loaded.note =
        "the settings file is of a newer version of the program; the defaults are used and it is left as it is";
    loaded.may_save = false;
    return loaded;
  }
  loaded.kept = from_json(root);
  return loaded;
}

Result<void> save_settings(const std::filesystem::path& folder, const KeptState& given) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  KeptState kept = given;
  const std::filesystem::path path = settings_path(folder);
  // What another instance opened meanwhile stays in the list.
  if (std::filesystem::is_regular_file(path, error)) {
    const LoadedState other = load_settings(folder);
    if (!other.may_save) return {};
    for (const RecentFile& file : other.kept.recent)
      if (std::ranges::none_of(kept.recent, [&](const RecentFile& own) { return own.path == file.path; }) &&
          !kept.recent.empty())
        kept.recent.push_back(file);
    std::ranges::stable_sort(kept.recent, std::greater(), &RecentFile::opened_unix);
    if (kept.recent.size() > kRecentFiles) kept.recent.resize(kRecentFiles);
  }
  const std::string text = to_json(kept).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  return write_whole_file(path, text, /*force=*/true);
}

}  // namespace headroom
