#include "app/panels/chrome/path_entry.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

#include "app/panels/chrome/bars.h"
#include "app/panels/chrome/file_rows.h"

namespace headroom {
namespace {

std::string path_of(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace

PathEntry::PathEntry(PanelContext& context, std::string& folder, double& selected)
    : context_(context),
      folder_(folder),
      selected_(selected),
      text_(context.ui.kept_text("path")),
      ahead_(context.ui.kept_text("ahead")),
      beginning_(context.ui.kept_text("beginning")),
      completed_(context.ui.kept_text("completed")) {}

void PathEntry::forget() {
  at_folder();
  for (std::string* of_typing : {&ahead_, &beginning_, &completed_}) of_typing->clear();
}

void PathEntry::at_folder() { text_ = short_path(folder_); }

// Where the text leads: its folder, and what a name in it begins with. Without a folder it is of the one that is
// listed.
PathEntry::Place PathEntry::place() const {
  std::string full = expand_home(text_);
  if (!full.starts_with('/')) full = path_of(folder_, full);
  const std::size_t slash = full.rfind('/');
  std::string folder =
      std::filesystem::path(full.substr(0, std::max<std::size_t>(slash, 1))).lexically_normal().string();
  if (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return {std::move(folder), full.substr(slash + 1)};
}

void PathEntry::draw(Rect bar, bool hidden) {
  Ui& ui = context_.ui;
  TextFieldOptions options;
  options.mono = true;
  options.hint = "a path";
  // A path that is typed goes to its field at once; other letters find names in the list.
  options.focus =
      !ui.wants_text() && !ui.input.text.empty() && (ui.input.text.front() == '/' || ui.input.text.front() == '~');
  if (options.focus) text_.clear();
  options.keeps_tab = !completed_.empty();
  entered_ = ui.text_field("path", bar, text_, options);
  bool led = entered_.changed;
  if (typing() && !completed_.empty() && ui.key(Key::Tab)) text_ = completed_, led = true;
  if (led) {
    Place to = place();
    if (to.name.empty()) selected_ = 0.0;
    ahead_ = std::move(to.folder), beginning_ = std::move(to.name);
  }
  if (ahead_ == folder_) ahead_.clear();
  if (ahead_.empty()) return;
  if (const auto there = listing_of(context_, ahead_, hidden)) {
    follows_ = !there->error;
    if (follows_) folder_ = ahead_, selected_ = 0.0;
    ahead_.clear();
  }
}

void PathEntry::select(const std::vector<FileItem>& items) {
  if (beginning_.empty() || !ahead_.empty()) return;
  selected_ = std::max(0, find_typed(items, beginning_, 0));
  beginning_.clear();
}

void PathEntry::say(const FileItem& item) { text_ = short_path(path_of(folder_, item.name)); }

const FileItem* PathEntry::selected_of(const std::vector<FileItem>& items) const {
  const auto at = static_cast<std::size_t>(selected_);
  return at < items.size() ? &items[at] : nullptr;
}

bool PathEntry::is_stray(const std::vector<FileItem>& items) {
  completed_.clear();
  if (text_ == short_path(folder_)) return false;
  const Place to = place();
  const FileItem* const item = selected_of(items);
  if (to.folder != folder_ || !(item ? begins_with(item->name, to.name) : to.name.empty())) return true;
  if (typing() && item) {
    std::string whole = short_path(path_of(folder_, item->name)) + (item->folder() ? "/" : "");
    if (whole != text_) completed_ = std::move(whole);
  }
  return false;
}

bool PathEntry::means_selected(const std::vector<FileItem>& items) const {
  const std::string name = place().name;
  return !items.empty() && !name.empty() && text_ != short_path(folder_) &&
         std::ranges::find(items, name, &FileItem::name) == items.end();
}

std::string PathEntry::take() {
  if (text_.empty()) return {};
  const Place to = place();
  follows_ = false;
  ahead_.clear(), beginning_.clear();
  return to.name.empty() ? to.folder : std::filesystem::path(path_of(to.folder, to.name)).lexically_normal().string();
}

}  // namespace headroom
