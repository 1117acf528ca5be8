// The program's own file chooser, for desktops without one and for people who like keys.
#include "app/panels/chrome/files_overlay.h"

#include <algorithm>
#include <any>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/chrome/file_rows.h"
#include "app/panels/chrome/overlay.h"
#include "app/panels/chrome/path_entry.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "app/session/folder_reader.h"
#include "app/ui/file_list.h"
#include "app/ui/text_wrap.h"
#include "core/base/environment.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr double kTypedFor = 1.0;  // seconds that letters belong together
constexpr double kSlow = 0.2;      // seconds after which a folder is told to be still being read

std::string start_folder(const State& state) {
  if (!state.overlay_text.empty()) return fs::path(expand_home(state.overlay_text)).lexically_normal().string();
  for (const RecentFile& file : state.recent) {
    if (!file.missing && !file.path.empty()) return parent_of(file.path);
  }
  const std::string home = environment_text("HOME");
  return home.empty() ? "/" : home;
}

}  // namespace

void draw_files(PanelContext& context, Rect window) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  std::string& folder = ui.kept_text("folder");
  std::string& typed = ui.kept_text("typed");
  double& typed_at = ui.kept_number("typed at", -10.0);
  double& hidden = ui.kept_number("hidden");
  double& selected = ui.kept_number("selected");
  std::string& wanted = ui.kept_text("wanted");  // the name that is selected once its folder is listed
  std::string& submitted =
      ui.kept_text("submitted");             // a typed path of which it is not known yet whether it is a folder
  std::string& left = ui.kept_text("left");  // the folder that it was typed in
  double& asked_at = ui.kept_number("asked at", -1.0);
  PathEntry path(context, folder, selected);
  if (ui.appeared("files")) {
    folder = start_folder(state);
    path.forget();
    submitted.clear();
    if (context.folders) context.folders->forget();
  }
  const std::string folder_before = folder;

  const Rect box = begin_box(context, "files", window, {860.0f, 600.0f});
  const bool prompt = state.overlay == Overlay::PromptFile;  // a text is wanted, for the editor of the prompt
  const bool corpus = state.overlay == Overlay::CorpusFile;  // texts or ids are wanted; what they are, reading tells
  const bool checkpoint = !prompt && !corpus && !state.checkpoint_wanted.empty();
  const auto takes = [prompt, corpus](const FileItem& item) {
    return prompt ? item.kind == FileKind::Text : corpus ? !item.folder() : item.opens();
  };
  const auto open_file = [&](const std::string& file) {
    ui.run((corpus       ? "corpus.data "
            : prompt     ? "prompt-file "
            : checkpoint ? "run.checkpoint "
                         : "open.run ") +
           quote_word(file));
    if (prompt) ui.run("prompt.edit");
  };
  Rect rest = draw_box_title(context, box,
                             prompt       ? "Choose a text"
                             : corpus     ? "Choose the texts"
                             : checkpoint ? "Open the checkpoint"
                                          : "Open",
                             prompt       ? std::string("that the model reads")
                             : corpus     ? std::string("a file, or a folder of them")
                             : checkpoint ? "that " + state.checkpoint_wanted + " was made from"
                                          : std::string("a checkpoint, a model folder, a run file or a training"),
                             "");
  const float margin = box.width() < 600.0f ? 12.0f : 24.0f;
  const Rect foot = rest.cut_bottom(44.0f);
  Rect bar = rest.cut_top(38.0f);
  bar = {bar.x0 + margin, bar.y0 + 8.0f, bar.x1 - margin, bar.y1 - 6.0f};
  ui.push_id("files");

  if (ui.button(bar.cut_left(32.0f), "↑", "", ButtonStyle::Plain)) {
    wanted = fs::path(folder).filename().string();
    folder = parent_of(folder);
  }
  bar.cut_left(8.0f);
  path.draw(bar, hidden != 0.0);
  const auto open_typed = [&] {
    const std::string whole = path.take();
    if (!whole.empty()) left = folder, folder = submitted = whole;
  };

  if (box.width() >= 560.0f) {
    Rect places = rest.cut_left(170.0f);
    painter.fill_rect({places.x1 - 1.0f, places.y0, places.x1, places.y1}, theme.line);
    draw_places(context, {places.x0 + 14.0f, places.y0 + 8.0f, places.x1 - 12.0f, places.y1 - 4.0f}, open_places(state),
                folder);
  }
  const Rect area{rest.x0 + 1.0f, rest.y0 + 4.0f, rest.x1 - 1.0f, rest.y1 - 4.0f};
  std::shared_ptr<const FolderListing> listing = listing_of(context, folder, hidden != 0.0);
  if (listing && folder == submitted && (listing->error || (!corpus && listing->list.model))) {
    open_file(folder);  // a file, a model, or what opening has a card for
    folder = left;
    listing = listing_of(context, folder, hidden != 0.0);
  }
  if (listing || folder != submitted) submitted.clear();
  const bool reading = !listing;
  if (reading) {
    listing = std::make_shared<FolderListing>();
    if (asked_at < 0.0) asked_at = ui.input.time;
  } else {
    asked_at = -1.0;
  }
  const std::vector<FileItem>& items = listing->list.items;
  const double before = selected;
  if (!reading) path.select(items);
  if (!wanted.empty() && !reading) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].name == wanted) selected = static_cast<double>(i);
    }
    ui.scroll_to("list", kFileRow * static_cast<float>(selected), kFileRow * (static_cast<float>(selected) + 1.0f));
    wanted.clear();
  }
  const auto last = static_cast<double>(items.empty() ? 0 : items.size() - 1);
  const bool keys = !ui.wants_text();
  const double by_arrow = !path.typing() ? 0.0 : ui.key(Key::Down) ? 1.0 : ui.key(Key::Up) ? -1.0 : 0.0;
  selected += by_arrow;
  const auto page = std::max(1.0, std::floor(static_cast<double>(area.height() / kFileRow)) - 1.0);
  bool open = false, enter = false, up = false;
  if (keys) {
    if (ui.key(Key::Down)) selected += 1.0;
    if (ui.key(Key::Up)) selected -= 1.0;
    if (ui.key(Key::PageDown)) selected += page;
    if (ui.key(Key::PageUp)) selected -= page;
    if (ui.key(Key::Home)) selected = 0.0;
    if (ui.key(Key::End)) selected = last;
    open = ui.key(Key::Enter);
    enter = ui.key(Key::Right);
    up = ui.key(Key::Backspace) || ui.key(Key::Left);
    if (!ui.input.text.empty() && ui.input.text != " ") {
      if (ui.input.time - typed_at > kTypedFor) typed.clear();
      typed += ui.input.text;
      typed_at = ui.input.time;
      const int found = find_typed(items, typed, static_cast<int>(selected) + (typed == ui.input.text ? 1 : 0));
      if (found >= 0) selected = found;
    }
  }
  selected = std::clamp(selected, 0.0, last);
  if (by_arrow != 0.0 && !items.empty()) path.say(items[static_cast<std::size_t>(selected)]);
  if (selected != before || path.follows())
    ui.scroll_to("list", kFileRow * static_cast<float>(selected), kFileRow * (static_cast<float>(selected) + 1.0f));

  const bool stray = path.is_stray(items);  // what is opened is what is typed, not what is selected
  if (path.submitted()) {
    if (!stray && path.means_selected(items))
      open = true;
    else
      open_typed();
  }

  const float offset = ui.scroll("list", area, kFileRow * static_cast<float>(items.size()), kFileRow);
  const auto top = static_cast<std::size_t>(offset / kFileRow);
  const auto rows = static_cast<std::size_t>(std::max(0.0f, std::floor(area.height() / kFileRow)));
  const std::int64_t now = std::time(nullptr);
  for (std::size_t i = top; i < std::min(items.size(), top + rows); ++i) {
    const Rect row =
        Rect::sized(area.x0, area.y0 + kFileRow * static_cast<float>(i - top), area.width() - 12.0f, kFileRow);
    const Interaction hit = ui.interact(items[i].name, row);
    draw_file_row(ui, row, items[i], static_cast<double>(i) == selected && !stray, hit.hovered,
                  takes(items[i]) || items[i].folder(), now);
    if (hit.pressed) selected = static_cast<double>(i), path.at_folder();
    if (hit.double_clicked) open = true;
  }
  if (reading) {
    const double since = ui.input.time - asked_at;
    if (since < kSlow)
      ui.wake_in(kSlow - since);
    else
      ui.label_at(area.x0 + 16.0f, area.y0 + 17.0f, "This folder is being read; another one can be chosen.",
                  theme.body(theme.text3), area.width() - 32.0f);
  } else if (listing->error) {
    ui.paragraph({area.x0 + 16.0f, area.y0 + 8.0f}, describe(*listing->error), theme.body(theme.err),
                 area.width() - 32.0f, 18.0f, true, static_cast<int>(std::max(1.0f, area.height() / 18.0f - 1.0f)));
  } else if (items.empty()) {
    ui.label_at(area.x0 + 16.0f, area.y0 + 17.0f, "Nothing is in this folder.", theme.body(theme.text3),
                area.width() - 32.0f);
  }

  painter.fill_rect({foot.x0 + 1.0f, foot.y0, foot.x1 - 1.0f, foot.y0 + 1.0f}, theme.line);
  const auto at = static_cast<std::size_t>(selected);
  const FileItem* item = at < items.size() && !stray ? &items[at] : nullptr;
  const float y = foot.centre_y();
  float right = foot.x1 - margin;
  const bool opens = stray || (item != nullptr && (takes(*item) || item->folder()));
  right -= 96.0f;
  const char* title = item != nullptr && item->kind == FileKind::Folder ? "Look inside" : "Open";
  if (ui.button(Rect::sized(right, y - 13.0f, 96.0f, 26.0f), title, "",
                opens ? ButtonStyle::Primary : ButtonStyle::Plain)) {
    if (stray)
      open_typed();
    else
      open = opens;
  }
  right -= 88.0f;
  ui.button(Rect::sized(right, y - 13.0f, 80.0f, 26.0f), "Cancel",
            prompt   ? "prompt.edit"
            : corpus ? "corpus.run"
                     : "overlay.close");
  if (corpus) {
    const std::string whole = "All of this folder";
    const float width = ui.button_width(whole) + 12.0f;
    right -= width + 8.0f;
    if (ui.button(Rect::sized(right, y - 13.0f, width, 26.0f), whole, "", ButtonStyle::Plain)) open_file(folder);
  }
  right -= 16.0f;
  const float box_width = std::min(140.0f, right - foot.x0 - margin);
  if (box_width > 100.0f &&
      ui.check_box(Rect::sized(foot.x0 + margin, y - 10.0f, box_width, 20.0f), "hidden files", hidden != 0.0, "")) {
    if (item != nullptr) wanted = item->name;
    hidden = hidden != 0.0 ? 0.0 : 1.0;
  }
  const float note_x = foot.x0 + margin + box_width + 12.0f;
  std::string note;
  if (listing->list.left_out > 0) note = std::to_string(listing->list.left_out) + " more are not listed";
  if (item != nullptr && item->folder() && takes(*item)) note = "→ looks inside";
  if (item != nullptr && !opens) note = prompt ? "not a text" : "not a format that this program opens";
  if (!note.empty() && right - note_x > 60.0f) ui.label_at(note_x, y, note, theme.hint(), right - note_x);
  if (open && item != nullptr && takes(*item)) {
    open_file((fs::path(folder) / item->name).string());
  } else if ((open || enter) && item != nullptr && item->folder()) {
    folder = (fs::path(folder) / item->name).string();
  }
  if (up) {
    wanted = fs::path(folder).filename().string();
    folder = parent_of(folder);
  }
  if (folder != folder_before && !path.follows()) {
    path.at_folder();
    selected = 0.0;
    typed.clear();
    ui.scroll_to("list", 0.0f, kFileRow);
  }
  ui.pop_id();
  end_box(context);
}

}  // namespace headroom
