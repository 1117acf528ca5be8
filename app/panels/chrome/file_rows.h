// What the panels that open and save share: places to go to, folders as they are read, rows of files. Main thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/session/folder_reader.h"

namespace headroom {

inline constexpr float kFileRow = 24.0f;

struct FilePlace {
  std::string title, path;
};
// Where files were opened, the demos, the home folder.
[[nodiscard]] std::vector<FilePlace> open_places(const State& state);
// Where things were saved, the home folder.
[[nodiscard]] std::vector<FilePlace> save_places(const State& state);
// A click on one makes it the folder.
void draw_places(PanelContext& context, Rect area, const std::vector<FilePlace>& places, std::string& folder);

[[nodiscard]] std::string parent_of(const std::string& folder);
// Null while the folder is being read.
[[nodiscard]] std::shared_ptr<const FolderListing> listing_of(PanelContext& context, const std::string& folder,
                                                              bool hidden);
// Name, kind, size and time of a file; dimmed where it cannot be `taken`.
void draw_file_row(Ui& ui, Rect row, const FileItem& item, bool selected, bool hovered, bool taken, std::int64_t now);

}  // namespace headroom
