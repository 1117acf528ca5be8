#include "app/session/settings_file.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <system_error>

#include "app/session/enum_words.h"
#include "app/session/json_values.h"
#include "app/session/prompt_entry.h"
#include "app/session/saving.h"
#include "core/io/atomic_file.h"

namespace headroom {
namespace {

using nlohmann::json;

constexpr int kSettingsVersion = 1;
constexpr std::uintmax_t kLargestSettings = 4 << 20;
constexpr std::size_t kRecentFiles = 20;

json to_json(const KeptState& kept) {
  json recent = json::array();
  for (const RecentFile& file : kept.recent)
    recent.push_back({{"path", file.path},
                      {"name", file.name},
                      {"detail", file.detail},
                      {"opened", file.opened_unix},
                      {"bytes", file.size_bytes}});
  json prompts = json::array();
  for (const PromptEntry& prompt : kept.recent_prompts) prompts.push_back(prompt_json(prompt));
  const Settings& s = kept.settings;
  const Layout& l = kept.layout;
  return {{"version", kSettingsVersion},
          {"settings",
           {{"dark", s.dark},
            {"colours", word_of(s.colours)},
            {"signed_colours", word_of(s.signed_colours)},
            {"scale", s.scale},
            {"device", s.device},
            {"dtype", s.dtype},
            {"backend", s.backend},
            {"memory_gb", s.memory_gb},
            {"tile_mb", s.tile_mb},
            {"keys", s.keys}}},
          {"layout",
           {{"heads_width", l.heads_width},
            {"head_width", l.head_width},
            {"tokens_height", l.tokens_height},
            {"heads_folded", l.heads_folded},
            {"head_folded", l.head_folded},
            {"tokens_folded", l.tokens_folded}}},
          {"window", {{"width", kept.window_width}, {"height", kept.window_height}}},
          {"heads",
           {{"quantity", kept.heads.quantity},
            {"threshold", kept.heads.threshold},
            {"x", kept.heads.x},
            {"y", kept.heads.y},
            {"columns", kept.heads.columns}}},
          {"save_folders", kept.save_folders},
          {"recent", recent},
          {"prompts", prompts}};
}

KeptState from_json(const json& root) {
  KeptState kept;
  const json s = object_in(root, "settings");
  read_value(s, "dark", kept.settings.dark);
  std::string colours, signed_colours;
  read_value(s, "colours", colours);
  read_value(s, "signed_colours", signed_colours);
  kept.settings.colours = parse_word<Colours>(colours).value_or(Colours::Headroom);
  kept.settings.signed_colours = parse_word<SignedColours>(signed_colours).value_or(SignedColours::Headroom);
  read_value(s, "scale", kept.settings.scale);
  read_value(s, "device", kept.settings.device);
  read_value(s, "dtype", kept.settings.dtype);
  read_value(s, "backend", kept.settings.backend);
  read_value(s, "memory_gb", kept.settings.memory_gb);
  read_value(s, "tile_mb", kept.settings.tile_mb);
  if (kept.settings.scale != 0.0) kept.settings.scale = std::clamp(kept.settings.scale, 0.5, 3.0);
  kept.settings.tile_mb = std::clamp(kept.settings.tile_mb, 8.0, 4096.0);
  kept.settings.memory_gb = std::clamp(kept.settings.memory_gb, 0.0, 4096.0);
  if (s.contains("keys") && s["keys"].is_object())
    for (const auto& [line, key] : s["keys"].items())
      if (key.is_string()) kept.settings.keys[line] = key.get<std::string>();
  const json l = object_in(root, "layout");
  read_value(l, "heads_width", kept.layout.heads_width);
  read_value(l, "head_width", kept.layout.head_width);
  read_value(l, "tokens_height", kept.layout.tokens_height);
  read_value(l, "heads_folded", kept.layout.heads_folded);
  read_value(l, "head_folded", kept.layout.head_folded);
  read_value(l, "tokens_folded", kept.layout.tokens_folded);
  const json w = object_in(root, "window");
  read_value(w, "width", kept.window_width);
  read_value(w, "height", kept.window_height);
  const json h = object_in(root, "heads");
  read_value(h, "quantity", kept.heads.quantity);
  read_value(h, "threshold", kept.heads.threshold);
  read_value(h, "x", kept.heads.x);
  read_value(h, "y", kept.heads.y);
  read_value(h, "columns", kept.heads.columns);
  const json folders = object_in(root, "save_folders");
  for (const auto& [kind, folder] : folders.items())
    if (folder.is_string() && parse_word<SaveKind>(kind)) kept.save_folders[kind] = folder.get<std::string>();
  if (root.contains("recent") && root["recent"].is_array())
    for (const json& entry : root["recent"]) {
      if (!entry.is_object() || kept.recent.size() == kRecentFiles) continue;
      RecentFile file;
      read_value(entry, "path", file.path);
      read_value(entry, "name", file.name);
      read_value(entry, "detail", file.detail);
      read_value(entry, "opened", file.opened_unix);
      read_value(entry, "bytes", file.size_bytes);
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
  HEADROOM_TRY(AtomicFile file, AtomicFile::create(path, /*force=*/true, {}));
  HEADROOM_TRY_VOID(write_all(file.descriptor(), std::as_bytes(std::span(text)), path));
  return file.commit();
}

}  // namespace headroom
