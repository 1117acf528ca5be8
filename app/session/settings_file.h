// What is kept between starts: settings, layout, recent files, in one JSON file that is replaced whole. A damaged one
// is kept beside as a backup and the defaults are used; one of a newer version is left alone. Main or I/O thread.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/session/state.h"

namespace headroom {

struct KeptState {
  Settings settings;
  Layout layout;
  std::vector<RecentFile> recent;
  std::vector<PromptEntry> recent_prompts;
  HeadsState heads;
  std::map<std::string, std::string, std::less<>> save_folders;  // as in State
  FigureChoices figure;                                          // but for options that name places of one run
  float window_width = 0, window_height = 0;  // in units of the desktop, whatever `scale` is; 0: the default
};

struct LoadedState {
  KeptState kept;
  std::string note;      // what was wrong with the file; empty: nothing
  bool may_save = true;  // false: the file is of a newer version
};

[[nodiscard]] std::filesystem::path settings_path(const std::filesystem::path& folder);
[[nodiscard]] LoadedState load_settings(const std::filesystem::path& folder);
// Another instance's recent files are kept: the two lists are merged.
[[nodiscard]] Result<void> save_settings(const std::filesystem::path& folder, const KeptState& kept);

}  // namespace headroom
