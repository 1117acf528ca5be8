#include "app/panels/chrome/save_overlay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/chrome/file_rows.h"
#include "app/panels/chrome/overlay.h"
#include "app/panels/chrome/window_layout.h"
#include "app/session/commands.h"
#include "app/session/enum_words.h"
#include "app/session/folder_reader.h"
#include "app/session/saving.h"
#include "app/ui/file_list.h"
#include "app/ui/text_wrap.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr double kToastSeconds = 8.0;

std::string panel_command(std::string_view panel) {
  return panel.empty() ? "screenshot" : "export.panel " + std::string(panel);
}

// What the panel knows of the place that is chosen.
struct SaveTarget {
  std::string problem;              // why nothing can be saved so; empty: it can
  const FileItem* there = nullptr;  // a file of this name
  bool reading = false;             // whether one is there is not known yet
};

SaveTarget target_of(SaveKind kind, const FolderListing* listing, const std::string& name) {
  SaveTarget target;
  target.problem = bad_file_name(kind, name);
  if (!listing) {
    target.reading = true;
    return target;
  }
  if (listing->error) {
    target.problem = describe(*listing->error);
    return target;
  }
  for (const FileItem& item : listing->list.items)
    if (item.name == name) target.there = &item;
  if (target.there && target.there->folder()) target.problem = "a folder is called so";
  return target;
}

// The kinds and, of a picture, what of the window; returns what is left of the bar.
void draw_kinds(PanelContext& context, Rect bar, const SaveWish& wish) {
  Ui& ui = context.ui;
  std::vector<Choice> kinds;
  static constexpr const char* kTitles[] = {"Run", "Picture", "Table", "Session", "Loss changes", "Figure"};
  const RunEntry* run = context.state.shown();
  const bool swept = run && std::ranges::any_of(run->sweeps, [](const auto& sweep) { return sweep.has_value(); });
  for (const SaveKind kind : kSaveKinds)
    if (kind != SaveKind::Importance || swept || kind == wish.kind)
      kinds.push_back({kTitles[static_cast<std::size_t>(kind)], std::string("save ") + word_of(kind), kind == wish.kind,
                       not_savable(context.state, kind)});
  const float width = ui.segmented({bar.x0, bar.y0}, 24.0f, kinds);
  std::vector<Choice> parts;
  if (wish.kind == SaveKind::Picture) {
    const std::string none = context.state.data() ? "" : "no panel is shown";
    for (const char* panel : {"", "heads", "map", "head", "tokens"})
      parts.push_back({*panel ? panel : "window", panel_command(panel), wish.panel == panel, *panel ? none : ""});
  } else if (wish.kind == SaveKind::Table && !context.state.view.heads.lasso.empty()) {
    parts = {{"all heads", "heads.save", wish.panel.empty(), ""},
             {"the lasso", "lasso.export", wish.panel == "lasso", ""}};
  } else {
    return;
  }
  const float wanted = ui.segmented({0.0f, 0.0f}, 24.0f, parts, false);
  if (bar.width() - width - 24.0f >= wanted) {
    ui.push_id("part");
    ui.segmented({bar.x1 - wanted, bar.y0}, 24.0f, parts);
    ui.pop_id();
  }
}

// How a picture is saved, and how many pixels it will have.
void draw_picture_look(PanelContext& context, Rect bar, Rect window, const SaveWish& wish) {
  Ui& ui = context.ui;
  const PictureLook& look = context.state.settings.picture;
  const Theme& theme = context.theme();
  const auto title = [&](const char* text) {
    bar.cut_left(ui.label_at(bar.x0, bar.y0 + 12.0f, text, theme.body(theme.text2), bar.width()) + 8.0f);
  };
  std::vector<Choice> sizes, themes;
  for (std::int64_t size = 1; size <= kLargestPicture; ++size)
    sizes.push_back({std::to_string(size) + "×", "picture.size " + std::to_string(size), look.size == size, ""});
  for (const PictureTheme one : {PictureTheme::AsShown, PictureTheme::Light, PictureTheme::Dark})
    themes.push_back({one == PictureTheme::AsShown ? "as shown" : word_of(one),
                      std::string("picture.theme ") + word_of(one), look.theme == one, ""});
  ui.push_id("look");
  title("size");
  bar.cut_left(ui.segmented({bar.x0, bar.y0}, 24.0f, sizes) + 20.0f);
  title("theme");
  ui.push_id("theme");
  bar.cut_left(ui.segmented({bar.x0, bar.y0}, 24.0f, themes) + 20.0f);
  ui.pop_id();
  ui.pop_id();
  Rect part = window;
  const WindowLayout layout = window_layout(window, context.state);
  for (const PanelSlot* slot : layout.slots())
    if (wish.panel == slot->name && !slot->rect.empty()) part = slot->rect;
  const float pixels = context.painter().scale() * static_cast<float>(look.size);
  const std::string text = std::to_string(std::lround(part.width() * pixels)) + " × " +
                           std::to_string(std::lround(part.height() * pixels)) + " pixels";
  context.facts.set("save.pixels", text.substr(0, text.find(" pixels")));
  const TextStyle style = theme.body(theme.text3);
  if (ui.width(text, style) <= bar.width())
    ui.label_at(bar.x1 - ui.width(text, style), bar.y0 + 12.0f, text, style, bar.width());
}

// What the picture will show, without this panel.
void draw_preview(PanelContext& context, Rect area, float margin) {
  const Theme& theme = context.theme();
  Painter& painter = context.painter();
  painter.fill_rect({area.x0 - 16.0f, area.y0 - 4.0f, area.x0 - 15.0f, area.y1 + 12.0f}, theme.line);
  area.x1 += 16.0f - margin;
  const std::optional<RgbPicture>& preview = context.state.save_preview;
  if (!preview || !preview->rgb || area.empty()) return;
  const float fit = std::min({1.0f / painter.scale(), area.width() / static_cast<float>(preview->width),
                              area.height() / static_cast<float>(preview->height)});
  const Rect frame = Rect::sized(area.x0, area.y0, std::floor(fit * static_cast<float>(preview->width)),
                                 std::floor(fit * static_cast<float>(preview->height)));
  painter.picture(frame, *preview);
  painter.stroke_rect(frame.inset(-1.0f), theme.line);
}

// At the right of the name: endings of the kind, where there are several.
void choose_ending(PanelContext& context, Rect& row, SaveKind kind, std::string& name) {
  if (kind != SaveKind::Table && kind != SaveKind::Figure) return;
  Ui& ui = context.ui;
  const auto endings = save_endings(kind);
  std::vector<Choice> choices;
  const std::string now = std::filesystem::path(name).extension().string();
  for (const std::string_view ending : endings) choices.push_back({std::string(ending), "", now == ending, ""});
  const Rect area = row.cut_right(ui.segmented({0.0f, 0.0f}, row.height() - 4.0f, choices, false)).inset(0.0f, 2.0f);
  row.cut_right(12.0f);
  std::size_t chosen = endings.size();
  ui.segmented({area.x0, area.y0}, area.height(), choices, true, &chosen);
  if (chosen < endings.size())
    name = std::filesystem::path(name).replace_extension(std::string(endings[chosen])).string();
}

}  // namespace

void draw_save(PanelContext& context, Rect window) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  const SaveWish& wish = state.save;
  std::string& folder = ui.kept_text("save folder");
  std::string& typed_folder = ui.kept_text("save typed folder");
  std::string& name = ui.kept_text("save name");
  double& serial = ui.kept_number("save serial", -1.0);
  double& kind_before = ui.kept_number("save kind", -1.0);
  double& selected = ui.kept_number("save selected", -1.0);
  const bool fresh = serial != static_cast<double>(wish.serial);
  if (fresh) {
    serial = static_cast<double>(wish.serial);
    const bool same_kind = kind_before == static_cast<double>(wish.kind) && !folder.empty();
    kind_before = static_cast<double>(wish.kind);
    if (!wish.path.empty()) {
      folder = std::filesystem::path(wish.path).parent_path().string();
      name = std::filesystem::path(wish.path).filename().string();
    } else {
      if (!same_kind) folder = save_folder(state, wish.kind);
      name = suggested_name(state, wish.kind, wish.panel);
    }
    typed_folder = short_path(folder);
    selected = -1.0;
    if (context.folders) context.folders->forget();
  }
  double& made = ui.kept_number("save made");  // a folder, of which no listing knows
  if (made != 0.0 && context.folders) context.folders->forget();
  made = 0.0;
  const std::string folder_before = folder;

  const Rect box = begin_box(context, "save", window, {860.0f, 600.0f});
  Rect rest = draw_box_title(context, box, "Save", "what is on the screen, or what was measured", "");
  const float margin = box.width() < 600.0f ? 12.0f : 24.0f;
  const Rect foot = rest.cut_bottom(48.0f);
  ui.push_id("save");
  const bool low = box.height() < 320.0f;
  if (box.height() >= 240.0f) {
    const Rect bar = rest.cut_top(44.0f);
    draw_kinds(context, {bar.x0 + margin, bar.y0 + 12.0f, bar.x1 - margin, bar.y1}, wish);
    if (wish.kind == SaveKind::Picture && box.height() >= 320.0f) {
      const Rect look = rest.cut_top(36.0f);
      draw_picture_look(context, {look.x0 + margin, look.y0 + 6.0f, look.x1 - margin, look.y1}, window, wish);
    }
  }
  Rect below = rest.cut_bottom(low ? 64.0f : 92.0f);

  if (box.width() >= 560.0f) {
    Rect places = rest.cut_left(170.0f);
    painter.fill_rect({places.x1 - 1.0f, places.y0 + 8.0f, places.x1, places.y1}, theme.line);
    draw_places(context, {places.x0 + 14.0f, places.y0 + 8.0f, places.x1 - 12.0f, places.y1 - 4.0f}, save_places(state),
                folder);
  }
  if (wish.kind == SaveKind::Picture && box.width() >= 760.0f && rest.height() >= 120.0f)
    draw_preview(context, rest.cut_right(kPreviewWidth + margin + 16.0f).inset(16.0f, 12.0f), margin);
  Rect path_row = rest.cut_top(38.0f);
  path_row = {path_row.x0 + 12.0f, path_row.y0 + 8.0f, path_row.x1 - margin, path_row.y1 - 4.0f};
  TextFieldOptions path_options;
  path_options.mono = true;
  path_options.prefix = "folder";
  const TextFieldResult to_folder = ui.text_field("folder", path_row, typed_folder, path_options);
  if ((to_folder.changed && !typed_folder.empty()) || to_folder.submitted) folder = whole_path(typed_folder);

  // A folder instead of the one that is shown; what was typed as a name stays one.
  const auto enter = [&](const std::string& chosen) {
    folder = chosen;
    if (const std::size_t slash = name.rfind('/'); slash != std::string::npos) name.erase(0, slash + 1);
    if (name.empty()) name = suggested_name(state, wish.kind, wish.panel);
  };
  // Before the name is typed further: what is listed is one frame behind it.
  const std::string ending = wish.kind == SaveKind::Figure ? state.figure.look(state.figure.kind).ending : "";
  const SavePlace listed = save_place(wish.kind, folder, name, ending);
  const std::shared_ptr<const FolderListing> listing = listing_of(context, listed.folder, false);
  const Rect area{rest.x0 + 1.0f, rest.y0 + 4.0f, rest.x1 - 1.0f, rest.y1 - 4.0f};
  const std::vector<FileItem> none;
  const std::vector<FileItem>& items = listing && !listing->error ? listing->list.items : none;
  const float offset = ui.scroll("list", area, kFileRow * static_cast<float>(items.size()), kFileRow);
  const auto top = static_cast<std::size_t>(offset / kFileRow);
  const auto rows = static_cast<std::size_t>(std::max(0.0f, std::floor(area.height() / kFileRow)));
  const std::int64_t now = std::time(nullptr);
  for (std::size_t i = top; i < std::min(items.size(), top + rows); ++i) {
    const Rect row =
        Rect::sized(area.x0, area.y0 + kFileRow * static_cast<float>(i - top), area.width() - 12.0f, kFileRow);
    const FileItem& item = items[i];
    const Interaction hit = ui.interact(item.name, row);
    const bool takes = item.folder() || has_save_ending(wish.kind, item.name);
    draw_file_row(ui, row, item, item.name == listed.name || static_cast<double>(i) == selected, hit.hovered, takes,
                  now);
    if (hit.pressed) selected = static_cast<double>(i);
    if (hit.clicked && !item.folder() && takes) folder = listed.folder, name = item.name;
    if (hit.double_clicked && item.folder()) enter(SavePlace{listed.folder, item.name}.path());
  }
  if (listing && listing->error)
    ui.paragraph({area.x0 + 16.0f, area.y0 + 8.0f}, describe(*listing->error), theme.body(theme.err),
                 area.width() - 32.0f, 18.0f, true, static_cast<int>(std::max(1.0f, area.height() / 18.0f - 1.0f)));
  else if (items.empty())
    ui.label_at(area.x0 + 16.0f, area.y0 + 17.0f,
                listing ? "Nothing is in this folder yet." : "The folder is being read.", theme.body(theme.text3),
                area.width() - 32.0f);

  // The name, what is known of it, and where it will be.
  painter.fill_rect({below.x0 + 1.0f, below.y0, below.x1 - 1.0f, below.y0 + 1.0f}, theme.line);
  below = {below.x0 + margin, below.y0 + 10.0f, below.x1 - margin, below.y1};
  Rect name_row = below.cut_top(28.0f);
  choose_ending(context, name_row, wish.kind, name);
  TextFieldOptions options;
  options.mono = true;
  options.prefix = "name";
  options.focus = true;  // unless the folder is being typed
  options.select_stem = true;
  ui.push_id(std::to_string(wish.serial));
  const TextFieldResult typed = ui.text_field("name", name_row, name, options);
  ui.pop_id();
  const SavePlace place = save_place(wish.kind, folder, name, ending);
  SaveTarget target = target_of(wish.kind, listing.get(), place.name);
  target.reading |= place.folder != listed.folder;
  const bool there = target.there && target.problem.empty();
  const std::string reason = not_savable(state, wish.kind);
  const std::string problem = !reason.empty() ? reason : target.problem;
  std::string note;
  Color color = theme.text3;
  if (!problem.empty()) {
    note = problem, color = theme.warn;
  } else if (!wish.failed.empty() && place.path() == wish.path) {
    note = wish.failed, color = theme.err;
  } else if (there) {
    note = "is there: " + size_text(static_cast<double>(target.there->size_bytes)) + ", written " +
           when_text(target.there->modified_unix, now);
    color = theme.warn;
  }
  below.cut_top(4.0f);
  const std::string path = place.path();
  if (!low || !note.empty()) ui.label_at(below.x0, below.y0 + 10.0f, note, theme.body(color), below.width());
  if (!low || note.empty())
    ui.label_at(below.x0, below.y0 + (low ? 10.0f : 30.0f), "→ " + short_path(path), {Face::Mono, 11.0f, theme.text2},
                below.width());

  painter.fill_rect({foot.x0 + 1.0f, foot.y0, foot.x1 - 1.0f, foot.y0 + 1.0f}, theme.line);
  const bool can = problem.empty() && !target.reading;
  const float y = foot.centre_y();
  float right = foot.x1 - margin;
  const auto button = [&](const std::string& title, const char* key, ButtonStyle style) {
    const float width = std::max(80.0f, ui.button_width(title) + 12.0f);
    right -= width;
    const Rect frame = Rect::sized(right, y - 13.0f, width, 26.0f);
    const bool clicked = ui.button(frame, title, "", style);
    ui.tooltip(frame, can ? key : problem);
    right -= 8.0f;
    return clicked;
  };
  const auto pressed = [&](bool ctrl, bool alt) {
    return std::ranges::any_of(ui.input.keys, [&](const KeyPress& press) {
      return press.key == Key::Enter && press.modifiers.ctrl == ctrl && press.modifiers.alt == alt;
    });
  };
  const bool main = button(there ? "Replace" : "Save", there ? "Ctrl+Enter" : "Enter",
                           can ? ButtonStyle::Primary : ButtonStyle::Plain);
  std::string other = numbered_name(place.name);
  while (there && std::ranges::find(items, other, &FileItem::name) != items.end()) other = numbered_name(other);
  const bool both = there && button("Keep both", "Alt+Enter", ButtonStyle::Plain);
  const float cancel = 80.0f;
  right -= cancel;
  ui.button(Rect::sized(right, y - 13.0f, cancel, 26.0f), "Cancel", "overlay.close");
  right -= 8.0f;
  if (listing && listing->error && listing->error->code == ErrorCode::NotFound &&
      right - foot.x0 - margin > ui.button_width("Make the folder") + 12.0f) {
    if (button("Make the folder", "", ButtonStyle::Plain))
      ui.run("save.folder " + quote_word(listed.folder)), made = 1.0;
  }
  const auto save_line = [&](const std::string& as, bool replace) {
    std::string line = std::string("save ") + word_of(wish.kind) + " " + quote_word(SavePlace{place.folder, as}.path());
    if ((wish.kind == SaveKind::Picture || wish.kind == SaveKind::Table) && !wish.panel.empty())
      line += " " + wish.panel;
    return line + (replace ? " replace" : "");
  };
  if (can) {
    if (there && (main || pressed(true, false)))
      ui.run(save_line(place.name, true));
    else if (there && (both || pressed(false, true)))
      ui.run(save_line(other, false));
    else if (!there && (main || typed.submitted))
      ui.run(save_line(place.name, false));
  }
  if (typed.submitted && place.name.empty() && listing && !listing->error) enter(place.folder);
  if (folder != folder_before) {
    if (!to_folder.changed) typed_folder = short_path(folder);
    selected = -1.0;
    ui.scroll_to("list", 0.0f, kFileRow);
  }
  context.facts.set("save.kind", std::string(word_of(wish.kind)));
  context.facts.set("save.path", path);
  context.facts.set("save.note", note);
  context.facts.set("save.there", there ? 1.0 : 0.0);
  ui.pop_id();
  end_box(context);
}

void draw_toast(PanelContext& context, Rect window) {
  const State& state = context.state;
  if (!state.toast || state.taking_picture) return;
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Toast& toast = *state.toast;
  ui.push_id("toast");
  double& id = ui.kept_number("id", -1.0);
  double& until = ui.kept_number("until");
  const float most = window.width() - 24.0f;
  if (most < 180.0f || window.height() < 100.0f) return ui.pop_id();
  const bool failed = !toast.failure.empty();
  const std::string path = failed ? toast.failure : short_path(toast.path);
  const TextStyle title_style{Face::SansMedium, 12.0f, theme.text},
      path_style{failed ? Face::Sans : Face::Mono, 11.0f, theme.text2};
  const TextStyle link = theme.body(theme.accent);
  const std::string show = "Show in folder", copy = failed ? "Messages" : "Copy path";
  const bool shows = !failed && state.no_file_manager.empty() && most >= 280.0f;
  const float links = ui.width(copy, link) + (shows ? ui.width(show, link) + 16.0f : 0.0f);
  const float wanted = std::max(ui.width(toast.title, title_style) + links + 90.0f, ui.width(path, path_style) + 56.0f);
  const float width = std::round(std::clamp(wanted, std::min(280.0f, most), most));
  const Rect frame =
      Rect::sized(window.x1 - width - 12.0f, window.y1 - measure::kStatusBar - 12.0f - 52.0f, width, 52.0f);
  ui.begin_overlay("toast", frame, false);
  (void)ui.interact("frame", frame);  // nothing below takes the pointer
  if (id != static_cast<double>(toast.id) || ui.hovered(frame)) {
    id = static_cast<double>(toast.id);
    until = ui.input.time + kToastSeconds;
  }
  painter.begin_panel("toast", frame);
  painter.fill_rect(frame, theme.raised, measure::kRadius);
  painter.stroke_rect(frame, theme.line, 1.0f, measure::kRadius);
  const Color color = toast.refused ? theme.warn : failed ? theme.err : theme.ok;
  painter.fill_rect({frame.x0, frame.y0, frame.x0 + 3.0f, frame.y1}, color);
  ui.icon(toast.refused ? Icon::Warning
          : failed      ? Icon::Error
                        : Icon::Check,
          {frame.x0 + 20.0f, frame.y0 + 17.0f}, 12.0f, color);
  float right = frame.x1 - 32.0f;
  ui.icon_button(Rect::sized(frame.x1 - 26.0f, frame.y0 + 7.0f, 20.0f, 20.0f), Icon::Close, "toast.close", "Close");
  const float baseline = frame.y0 + 21.0f;
  right -= ui.width(copy, link);
  ui.link({right, baseline}, copy, failed ? "log" : "copy.path " + quote_word(toast.path), link);
  if (shows) {
    right -= ui.width(show, link) + 16.0f;
    ui.link({right, baseline}, show, "file.show " + quote_word(toast.path), link);
  }
  ui.label_at(frame.x0 + 36.0f, frame.y0 + 17.0f, toast.title, title_style, right - frame.x0 - 44.0f);
  ui.label_at(frame.x0 + 36.0f, frame.y0 + 37.0f, path, path_style, frame.width() - 48.0f);
  painter.end_panel();
  ui.end_overlay();
  if (ui.input.time >= until)
    ui.run("toast.close");
  else
    ui.wake_in(until - ui.input.time);
  context.facts.set("toast", toast.title + ": " + (failed ? toast.failure : toast.path));
  ui.pop_id();
}

}  // namespace headroom
