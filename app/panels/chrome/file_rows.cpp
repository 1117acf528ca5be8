#include "app/panels/chrome/file_rows.h"

#include <algorithm>
#include <any>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "app/panels/chrome/bars.h"
#include "app/ui/file_list.h"
#include "core/base/environment.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

void add_place(std::vector<FilePlace>& places, std::string title, std::string path) {
  if (path.empty() || std::ranges::find(places, path, &FilePlace::path) != places.end()) return;
  places.push_back({std::move(title), std::move(path)});
}

// Places without a title have their folder's name.
void name_places(std::vector<FilePlace>& places) {
  for (FilePlace& place : places) {
    if (place.title.empty()) place.title = std::filesystem::path(place.path).filename().string();
    if (place.title.empty()) place.title = place.path;
  }
}

}  // namespace

std::string parent_of(const std::string& folder) {
  const std::filesystem::path path(folder);
  return path.has_parent_path() ? path.parent_path().string() : folder;
}

std::vector<FilePlace> open_places(const State& state) {
  std::vector<FilePlace> out;
  const auto add = [&](std::string title, std::string path) { add_place(out, std::move(title), std::move(path)); };
  add("Home", environment_text("HOME"));
  for (const DemoEntry& demo : state.demos) {
    if (!demo.variants.empty()) add("Demos", parent_of(demo.variants));
  }
  add("File system", "/");
  const std::size_t fixed = out.size();
  for (const RecentFile& file : state.recent) {
    if (out.size() < fixed + 8) add("", parent_of(file.path));
  }
  name_places(out);
  return out;
}

std::vector<FilePlace> save_places(const State& state) {
  std::vector<FilePlace> out;
  const std::string home = environment_text("HOME");
  for (const auto& [kind, folder] : state.save_folders) add_place(out, folder == home ? "Home" : "", folder);
  add_place(out, "Home", home);
  add_place(out, "File system", "/");
  for (const RecentFile& file : state.recent)
    if (out.size() < 10) add_place(out, "", parent_of(file.path));
  name_places(out);
  return out;
}

// Null while the folder is being read.
std::shared_ptr<const FolderListing> listing_of(PanelContext& context, const std::string& folder, bool hidden) {
  if (context.folders) return context.folders->listing(folder, hidden);
  using Kept = std::shared_ptr<const FolderListing>;
  std::any& kept = context.ui.kept_value("listing");
  const Kept* last = std::any_cast<Kept>(&kept);
  if (!last || (*last)->folder != folder || (*last)->hidden != hidden)
    kept = read_listing(
        [](const std::filesystem::path& path, const FileListOptions& options) { return list_folder(path, options); },
        folder, hidden);
  return *std::any_cast<Kept>(&kept);
}

void draw_places(PanelContext& context, Rect area, const std::vector<FilePlace>& places, std::string& folder) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  ui.push_id("places");
  for (const FilePlace& place : places) {
    if (area.height() < kFileRow) break;
    const Rect row = area.cut_top(kFileRow);
    ui.push_id(place.path);
    const Interaction hit = ui.interact("place", row, Cursor::Hand);
    const bool here = place.path == folder;
    if (here || hit.hovered) ui.painter.fill_rect(row, here ? theme.accent_soft : theme.raised, measure::kRadius);
    ui.icon(Icon::Folder, {row.x0 + 14.0f, row.centre_y()}, 11.0f, theme.text3);
    ui.label_at(row.x0 + 28.0f, row.centre_y(), place.title, theme.body(theme.text), row.width() - 36.0f);
    ui.tooltip(row, short_path(place.path));
    if (hit.clicked) folder = place.path;
    ui.pop_id();
  }
  ui.pop_id();
}

void draw_file_row(Ui& ui, Rect row, const FileItem& item, bool selected, bool hovered, bool taken, std::int64_t now) {
  const Theme& theme = ui.theme;
  if (selected || hovered) ui.painter.fill_rect(row, selected ? theme.accent_soft : theme.raised);
  if (selected) ui.painter.fill_rect(Rect::sized(row.x0, row.y0, 3.0f, row.height()), theme.accent);
  const float y = row.centre_y();
  const bool opens = (item.opens() || item.kind == FileKind::Text) && taken, folder = item.folder();
  if (folder) {
    ui.icon(Icon::Folder, {row.x0 + 18.0f, y}, 12.0f, item.opens() ? theme.accent : theme.text3);
  } else if (opens) {
    ui.painter.fill_rect(Rect::sized(row.x0 + 14.0f, std::round(y) - 4.0f, 8.0f, 8.0f), theme.accent, 2.0f);
  }
  float right = row.x1 - 8.0f;
  const float name_x = row.x0 + 34.0f, room = right - name_x;
  if (room > 420.0f) {
    ui.label_at(right, y, when_text(item.modified_unix, now), theme.hint(), 84.0f, Painter::Align::Right);
    right -= 96.0f;
  }
  if (room > 260.0f) {
    const std::string size = folder ? "" : size_text(static_cast<double>(item.size_bytes));
    ui.label_at(right, y, size, {Face::Mono, 11.0f, theme.text2}, 72.0f, Painter::Align::Right);
    right -= 84.0f;
  }
  if (room > 360.0f) {
    ui.label_at(right - 110.0f, y, file_kind_text(item.kind), theme.hint(), 110.0f);
    right -= 122.0f;
  }
  ui.label_at(name_x, y, item.name, theme.body(taken ? theme.text : theme.off), right - name_x);
}

}  // namespace headroom
