#include "app/panels/chrome/figure_overlay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/chrome/overlay.h"
#include "app/session/commands.h"
#include "app/session/figure_screen.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kFigureSide = 300.0f, kLeastForSide = 620.0f, kKindRow = 22.0f, kChoiceRow = 30.0f;
constexpr float kMillimetre = 96.0f / 25.4f;  // logical pixels, as desktops count them
constexpr float kRulerHeight = 26.0f;
constexpr Color kAroundPage = Color::hex(0x3a3f47);

// What lies above a line of the left side, and how far down that is.
struct SideColumn {
  PanelContext& context;
  Rect area;
  float y;

  void title(const char* text) {
    const Theme& theme = context.theme();
    y += 8.0f;
    const Rect line = row(20.0f);
    if (shows(line))
      context.ui.label_at(line.x0, line.y0 + 8.0f, text, {Face::SansMedium, 11.0f, theme.text2}, line.width());
  }
  void line() {
    y += 8.0f;
    const Rect hair = row(2.0f);
    if (shows(hair))
      context.painter().fill_rect({hair.x0 - 12.0f, hair.y0, hair.x1 + 12.0f, hair.y0 + 1.0f}, context.theme().line);
  }
  // What is scrolled half out of sight is not drawn.
  [[nodiscard]] bool shows(const Rect& part) const { return part.y0 > area.y0 - 0.5f && part.y1 < area.y1 + 0.5f; }
  Rect row(float height) {
    const Rect rect{area.x0, y, area.x1, y + height};
    y += height;
    return rect;
  }
};

void draw_kind_rows(SideColumn& column) {
  PanelContext& context = column.context;
  const Theme& theme = context.theme();
  const FigureWish& wish = context.state.figure;
  column.title("What");
  for (const FigureKindLine& line : wish.kinds) {
    const Rect row = column.row(kKindRow);
    if (!column.shows(row)) continue;
    const Rect frame{row.x0 - 8.0f, row.y0, row.x1 + 8.0f, row.y1};
    const bool chosen = line.name == wish.kind;
    const Interaction hit = context.ui.pressable("kind " + line.name, frame);
    if (chosen || hit.hovered) context.painter().fill_rect(frame, chosen ? theme.accent_soft : theme.hover, 3.0f);
    if (chosen) context.painter().fill_rect({frame.x0, frame.y0, frame.x0 + 2.0f, frame.y1}, theme.accent);
    const bool can = line.missing.empty();
    const TextStyle name{Face::Mono, 12.0f, can ? theme.text : theme.text3};
    const float room = row.width() - context.ui.label_at(row.x0, row.centre_y(), line.name, name, 110.0f) - 12.0f;
    const TextStyle style{Face::Sans, 11.0f, can ? theme.text3 : theme.warn};
    const bool fits = context.ui.width(line.missing, style) <= room;
    context.ui.label_at(row.x1, row.centre_y(),
                        can    ? line.brief
                        : fits ? line.missing
                               : "not of this run",
                        style, room, Painter::Align::Right);
    context.ui.tooltip(frame, can ? line.summary : line.missing);
    if (hit.clicked) context.ui.run("figure " + line.name);
  }
}

// A setting of the kind: choices that are commands, and a field for any other value where `field` says so.
void draw_choice_row(SideColumn& column, const char* name, const std::string& value, std::vector<Choice> choices,
                     bool field = false) {
  PanelContext& context = column.context;
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  Rect row = column.row(kChoiceRow);
  if (!column.shows(row)) return;
  ui.push_id(name);
  ui.label_at(row.x0, row.centre_y(), name, theme.body(theme.text2), 58.0f);
  row.cut_left(60.0f);
  if (field) {
    std::string& typed = ui.kept_text("value");
    std::string& before = ui.kept_text("before");
    const std::string shown = value + "\n" + context.state.figure.kind;
    if (before != shown) before = shown, typed = value;
    const Rect box = row.cut_left(72.0f).inset(0.0f, 3.0f);
    TextFieldOptions options;
    options.mono = true;
    options.hint = "auto";
    const TextFieldResult result = ui.text_field("value", box, typed, options);
    if (result.submitted) {
      const bool bare = !typed.empty() && typed.find_first_not_of("0123456789.") == std::string::npos;
      ui.run(std::string("figure.set ") + name + " " + quote_word(typed.empty() ? "auto" : typed + (bare ? "mm" : "")));
    }
    row.cut_left(8.0f);
  }
  ui.segmented({row.x0, row.y0 + 3.0f}, row.height() - 6.0f, choices);
  ui.pop_id();
}

void draw_settings_of_kind(SideColumn& column) {
  const FigureWish& wish = column.context.state.figure;
  const auto kept = wish.looks.find(wish.kind);
  const FigureLook look = kept == wish.looks.end() ? FigureLook() : kept->second;
  const auto choice = [](std::string title, const std::string& command, bool selected) {
    return Choice{std::move(title), command, selected, ""};
  };
  column.line();
  column.y += 4.0f;
  std::vector<Choice> widths;
  for (const char* width : {"84", "120", "174"})
    widths.push_back(choice(width, std::string("figure.set width ") + width + "mm",
                            look.options.width == std::string(width) + "mm"));
  draw_choice_row(column, "width", look.options.width, std::move(widths), true);
  draw_choice_row(column, "height", look.options.height,
                  {choice("automatic", "figure.set height auto", look.options.height.empty())}, true);
  draw_choice_row(column, "theme", "",
                  {choice("paper", "figure.set theme paper", look.options.theme == "paper"),
                   choice("slides", "figure.set theme slides", look.options.theme == "slides")});
  std::vector<Choice> letters;
  for (const char* form : {"none", "a", "A", "(a)"})
    letters.push_back(choice(form, std::string("figure.set letters ") + quote_word(form), look.letters == form));
  draw_choice_row(column, "letters", "", std::move(letters));
  std::vector<Choice> formats;
  for (const auto& [title, word] : {std::pair{"PDF", "pdf"}, {"SVG", "svg"}, {"PNG", "png"}})
    formats.push_back(choice(title, std::string("figure.format ") + word, wish.ending == std::string(".") + word));
  draw_choice_row(column, "format", "", std::move(formats));
}

void draw_check(SideColumn& column, const std::string& text, const std::string& value, bool checked,
                const std::string& command) {
  PanelContext& context = column.context;
  const Theme& theme = context.theme();
  const Rect row = column.row(kKindRow);
  if (!column.shows(row)) return;
  const TextStyle style{Face::Mono, 11.0f, theme.text2};
  const float width = std::min(context.ui.width(value, style), 0.6f * row.width());
  context.ui.check_box({row.x0, row.y0, row.x1 - width - 8.0f, row.y1}, text, checked, command);
  context.ui.label_at(row.x1, row.centre_y(), value, style, width + 1.0f, Painter::Align::Right);
}

void draw_screen_parts(SideColumn& column) {
  PanelContext& context = column.context;
  const FigureWish& wish = context.state.figure;
  const std::vector<ScreenPart> parts = screen_parts(context.state, wish.kind);
  if (!parts.empty()) {
    column.line();
    column.title("As on screen");
    for (const ScreenPart& part : parts)
      draw_check(column, part.name, part.value, !wish.left_out.contains(part.name),
                 "figure.part " + part.name + " toggle");
  }
  column.line();
  column.title("Write beside it");
  draw_check(column, "data, one mark a line", ".csv", wish.data, "figure.beside data toggle");
  draw_check(column, "caption", wish.latex ? ".tex" : ".txt", wish.caption, "figure.beside caption toggle");
  if (!wish.has_file) draw_check(column, "the run, without a file so far", ".h5", wish.run, "figure.beside run toggle");
}

void draw_side(PanelContext& context, Rect side) {
  Ui& ui = context.ui;
  const FigureWish& wish = context.state.figure;
  const float rows = static_cast<float>(wish.kinds.size());
  const float parts = static_cast<float>(screen_parts(context.state, wish.kind).size());
  const float content = 28.0f + kKindRow * rows + 14.0f + 5.0f * kChoiceRow + (parts > 0.0f ? 38.0f : 0.0f) +
                        kKindRow * parts + 38.0f + kKindRow * (wish.has_file ? 2.0f : 3.0f) + 12.0f;
  ui.push_clip(side);
  const float offset = ui.scroll("side", side, content);
  SideColumn column{context, {side.x0 + 22.0f, side.y0, side.x1 - 20.0f, side.y1}, side.y0 - offset + 4.0f};
  draw_kind_rows(column);
  draw_settings_of_kind(column);
  draw_screen_parts(column);
  ui.pop_clip();
}

void draw_ruler(PanelContext& context, Rect page, double width_mm) {
  Painter& painter = context.painter();
  const Color color = Color::hex(0xc8ccd2);
  const float mm = page.width() / static_cast<float>(width_mm);
  const double step = mm * 20.0f >= 40.0f ? 20.0 : 50.0;
  for (double at = 0.0; at <= width_mm + 1e-6; at += mm >= 2.5f ? 1.0 : 5.0) {
    const float x = page.x0 + static_cast<float>(at) * mm;
    const bool named = std::fmod(at + 1e-6, step) < 1e-3;
    painter.fill_rect({x, page.y0 - (named ? 9.0f : 5.0f), x + 1.0f, page.y0 - 2.0f}, color);
    if (named)
      painter.text_at(x, page.y0 - 16.0f, short_text(std::round(at)), {Face::Mono, 10.0f, color},
                      Painter::Align::Centre);
  }
}

// Why there is no page, in the middle of where it would be.
void draw_no_page(PanelContext& context, Rect area, const std::string& headline, const std::string& why) {
  const Color text = Color::hex(0xf0f1f3), dim = Color::hex(0xc8ccd2);
  const float width = std::min(area.width() - 32.0f, 460.0f), x = area.centre_x() - 0.5f * width;
  float y = area.centre_y() - 30.0f;
  y += context.ui.paragraph({x, y}, headline, {Face::SansMedium, 13.0f, text}, width, 18.0f, true, 4);
  if (!why.empty()) context.ui.paragraph({x, y + 4.0f}, why, {Face::Sans, 12.0f, dim}, width, 17.0f, true, 4);
}

void draw_page(PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const FigureWish& wish = context.state.figure;
  const Color text = Color::hex(0xf0f1f3), dim = Color::hex(0xc8ccd2);
  painter.fill_rect(area, kAroundPage);
  Rect head = area.cut_top(34.0f);
  head = {head.x0 + 14.0f, head.y0, head.x1 - 14.0f, head.y1};
  double& true_size = ui.kept_number("true size");
  const FigureDrawn* drawn = wish.drawn.get();
  const Rect foot = area.cut_bottom(34.0f);
  const Rect room{area.x0 + 20.0f, area.y0 + kRulerHeight, area.x1 - 20.0f, area.y1 - 6.0f};
  const bool has_page = drawn != nullptr && !drawn->error && drawn->picture.rgb != nullptr;
  const bool fits = has_page && static_cast<float>(drawn->width_mm) * kMillimetre <= room.width() &&
                    static_cast<float>(drawn->height_mm) * kMillimetre <= room.height();
  const Choice sizes[] = {{"true size", "", fits && true_size > 0.0, fits ? "" : "the page has no room at true size"},
                          {"fit", "", !fits || true_size <= 0.0, ""}};
  const float wide = ui.segmented({0.0f, 0.0f}, 22.0f, sizes, false);
  std::size_t chosen = 2;
  ui.segmented({head.x1 - wide, head.y0 + 6.0f}, 22.0f, sizes, true, &chosen);
  if (chosen < 2) true_size = chosen == 0 ? 1.0 : 0.0;
  head.cut_right(wide + 12.0f);
  const bool real = fits && true_size > 0.0;
  const float scale = painter.scale();
  double wanted_width = static_cast<double>(std::floor(room.width() * scale)),
         wanted_height = static_cast<double>(std::floor(room.height() * scale));
  if (real) {
    wanted_width = std::round(drawn->width_mm * static_cast<double>(kMillimetre * scale));
    wanted_height = std::ceil(drawn->height_mm * static_cast<double>(kMillimetre * scale)) + 1.0;
  }
  if (room.width() > 40.0f && room.height() > 40.0f &&
      (std::abs(wanted_width - wish.room_width) > 0.5 || std::abs(wanted_height - wish.room_height) > 0.5))
    ui.run("figure.room " + full_text(wanted_width) + " " + full_text(wanted_height));
  if (!wish.problem.empty()) return draw_no_page(context, room, "No figure can be made of this", wish.problem);
  if (drawn == nullptr)
    return draw_no_page(context, room, wish.writing.empty() ? "The page is being drawn" : "The run is being written",
                        wish.writing.empty() ? "" : "Maps and logits are drawn from its file.");
  if (drawn->error) return draw_no_page(context, room, drawn->error->message, drawn->error->hint);
  if (!has_page || room.empty()) return;
  ui.label_at(head.x0, head.centre_y(),
              fixed_text(drawn->width_mm, 1) + " × " + fixed_text(drawn->height_mm, 1) + " mm · smallest text " +
                  fixed_text(drawn->least_text, 1) + " pt",
              {Face::Sans, 12.0f, text}, head.width());
  const RgbPicture& picture = drawn->picture;
  const float fit = std::min({1.0f / scale, room.width() / static_cast<float>(picture.width),
                              room.height() / static_cast<float>(picture.height)});
  const float width = std::round(fit * static_cast<float>(picture.width)),
              height = std::round(fit * static_cast<float>(picture.height));
  const Rect page = Rect::sized(std::round(room.centre_x() - 0.5f * width), room.y0, width, height);
  draw_ruler(context, page, drawn->width_mm);
  painter.picture(page, picture);
  const bool clean = drawn->warnings.empty();
  const Theme& theme = context.theme();
  const Vec2 dot{foot.x0 + 20.0f, foot.centre_y() - 2.0f};
  painter.disc(dot, 4.0f, clean ? theme.ok : theme.warn);
  ui.label_at(dot.x + 12.0f, dot.y, clean ? "nothing cut, outside or touching" : drawn->warnings.front(),
              {Face::Sans, 12.0f, clean ? text : theme.warn}, foot.x1 - dot.x - 130.0f);
  if (wish.drawing)
    ui.label_at(foot.x1 - 14.0f, dot.y, "drawing…", {Face::Sans, 12.0f, dim}, 90.0f, Painter::Align::Right);
}

// The command and the caption, each with its button.
void draw_texts(PanelContext& context, Rect area) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const FigureWish& wish = context.state.figure;
  area = {area.x0 + 20.0f, area.y0 + 8.0f, area.x1 - 20.0f, area.y1 - 4.0f};
  const auto copy = [&](Rect bar, const char* what) {
    const float width = ui.button_width("Copy") + 8.0f;
    ui.push_id(what);
    ui.button({bar.x1 - width, bar.y0, bar.x1, bar.y0 + 22.0f}, "Copy", std::string("figure.copy ") + what);
    ui.pop_id();
  };
  const Rect first = area.cut_top(24.0f);
  ui.label_at(first.x0, first.centre_y(), "The same from a terminal", {Face::SansMedium, 11.0f, theme.text2}, 240.0f);
  copy(first, "command");
  const std::string line = figure_command_line(context.state);
  const TextStyle mono{Face::Mono, 11.0f, theme.text};
  const bool two_lines = ui.width(line, mono) > area.width() - 20.0f && area.height() >= 100.0f;
  const Rect box = area.cut_top(two_lines ? 43.0f : 28.0f).inset(0.0f, 2.0f);
  context.painter().fill_rect(box, theme.bg, 3.0f);
  if (two_lines)
    ui.paragraph({box.x0 + 10.0f, box.y0 + 5.0f}, line, mono, box.width() - 20.0f, 15.0f, true, 2);
  else
    ui.label_at(box.x0 + 10.0f, box.centre_y(), line, mono, box.width() - 20.0f);
  area.cut_top(4.0f);
  const Rect second = area.cut_top(26.0f);
  ui.label_at(second.x0, second.centre_y(), "Caption", {Face::SansMedium, 11.0f, theme.text2}, 60.0f);
  const Choice forms[] = {{"text", "figure.caption text", !wish.latex, ""},
                          {"LaTeX", "figure.caption latex", wish.latex, ""}};
  ui.segmented({second.x0 + 64.0f, second.y0 + 2.0f}, 20.0f, forms);
  copy(second, "caption");
  if (!wish.drawn || area.height() < 20.0f) return;
  context.painter().fill_rect(area, theme.bg, 3.0f);
  const std::string& caption = wish.latex ? wish.drawn->latex : wish.drawn->caption;
  const TextStyle style{wish.latex ? Face::Mono : Face::Sans, 11.0f, theme.text2};
  Rect inside = area.inset(10.0f, 6.0f);
  inside.y1 = inside.y0 + 15.0f * std::floor(inside.height() / 15.0f);  // whole lines
  if (inside.empty()) return;
  const float height = ui.paragraph({inside.x0, inside.y0}, caption, style, inside.width() - 12.0f, 15.0f, false);
  ui.push_clip(inside);
  const float offset = ui.scroll("caption", inside, height, 15.0f);
  ui.paragraph({inside.x0, inside.y0 - offset}, caption, style, inside.width() - 12.0f, 15.0f);
  ui.pop_clip();
}

void draw_foot(PanelContext& context, Rect foot, float margin) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const FigureWish& wish = context.state.figure;
  context.painter().fill_rect({foot.x0 + 1.0f, foot.y0, foot.x1 - 1.0f, foot.y0 + 1.0f}, theme.line);
  const float y = foot.centre_y();
  const bool can = wish.drawn && !wish.drawn->error && wish.problem.empty();
  Rect save = Rect::sized(foot.x1 - margin - 100.0f, y - 13.0f, 100.0f, 26.0f);
  if (ui.button(save, "Save…", can ? "figure.save" : "", can ? ButtonStyle::Primary : ButtonStyle::Plain) && !can)
    ui.wake_in(0.0);
  ui.tooltip(save, can ? "Ctrl+Enter" : "no page is drawn");
  const Rect cancel = Rect::sized(save.x0 - 90.0f, y - 13.0f, 82.0f, 26.0f);
  ui.button(cancel, "Cancel", "overlay.close");
  if (can && ui.key(Key::Enter, {.ctrl = true})) ui.run("figure.save");
  std::string note;
  if (!wish.has_file && wish.problem.empty())
    note = !wish.writing.empty() ? "This run has no file yet; it is being written."
           : wish.run            ? "This run has no file yet: it is saved beside the figure, so that the command works."
                                 : "This run has no file: the figure will name one that nobody has.";
  if (!note.empty()) {
    const float x = foot.x0 + margin;
    ui.icon(Icon::Warning, {x + 7.0f, y}, 13.0f, theme.warn);
    ui.label_at(x + 22.0f, y, note, theme.body(theme.warn), cancel.x0 - x - 34.0f);
  }
}

}  // namespace

void draw_figure_page(PanelContext& context, Rect window) {
  const Theme& theme = context.theme();
  const FigureWish& wish = context.state.figure;
  const Rect box = begin_box(context, "figure", window, {1340.0f, 820.0f});
  Rect rest =
      draw_box_title(context, box, "Figure", "the page as it will be in the paper, drawn from the run alone", "");
  const float margin = box.width() < kLeastForSide ? 12.0f : 20.0f;
  context.ui.push_id("figure");
  const Rect foot = rest.cut_bottom(48.0f);
  if (box.width() >= kLeastForSide) {
    const Rect side = rest.cut_left(kFigureSide);
    context.painter().fill_rect({side.x1 - 1.0f, side.y0, side.x1, side.y1}, theme.line);
    draw_side(context, {side.x0, side.y0, side.x1 - 1.0f, side.y1});
  }
  const float texts = std::min(190.0f, 0.32f * rest.height());
  if (rest.height() >= 320.0f) draw_texts(context, rest.cut_bottom(texts));
  draw_page(context, {rest.x0, rest.y0, rest.x1 - 1.0f, rest.y1});
  draw_foot(context, foot, margin);
  context.ui.pop_id();
  const bool drawn = wish.drawn && !wish.drawn->error && !wish.drawing;
  context.facts.set("figure.kind", wish.kind);
  context.facts.set("figure.drawn", drawn ? 1.0 : 0.0);
  context.facts.set("figure.command", wish.command);
  context.facts.set("figure.format", wish.ending);
  context.facts.set("figure.beside", std::string(wish.data ? "data " : "") + (wish.caption ? "caption " : "") +
                                         (wish.run && !wish.has_file ? "run" : ""));
  context.facts.set("figure.caption", !wish.drawn ? "" : wish.latex ? wish.drawn->latex : wish.drawn->caption);
  context.facts.set("figure.warnings", wish.drawn ? static_cast<double>(wish.drawn->warnings.size()) : 0.0);
  if (wish.drawn) {
    context.facts.set("figure.width_mm", wish.drawn->width_mm);
    context.facts.set("figure.height_mm", wish.drawn->height_mm);
  }
  end_box(context);
}

}  // namespace headroom
