#include "app/panels/chrome/figure_overlay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/chrome/figure_side.h"
#include "app/panels/chrome/overlay.h"
#include "app/session/commands.h"
#include "app/session/figure_screen.h"
#include "app/ui/text_wrap.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kFigureSide = 300.0f, kLeastForSide = 620.0f;
constexpr float kMillimetre = 96.0f / 25.4f;  // logical pixels, as desktops count them
constexpr float kRulerHeight = 26.0f;
constexpr double kAnyHeight = 16384.0;  // pixels: the width decides how large the page is
constexpr Color kAroundPage = Color::hex(0x3a3f47);

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

// What the program says of the page: that nothing is wrong with it, or what is, and what was chosen or changes nothing.
class PageRemarks {
 public:
  PageRemarks(PanelContext& context, const FigureDrawn& drawn, float width) : context_(context), width_(width) {
    const Theme& theme = dark_theme();  // as what is around the page
    const Color text = Color::hex(0xf0f1f3);
    if (drawn.warnings.empty()) add("nothing cut, outside or touching", theme.ok, text);
    for (const std::string& warning : drawn.warnings) add(warning, theme.warn, theme.warn);
    for (const std::string& note : drawn.notes) add(note, Color::hex(0x9aa1ab), text);
  }
  // Whole lines, of at most `most` pixels. The same for every page, which is drawn for the room above them before its
  // remarks are known; more of them scroll.
  [[nodiscard]] static float height(float most) {
    return std::clamp(std::floor(most / kLine), 1.0f, kLines) * kLine + kMargins;
  }
  void draw(Rect foot) const {
    Ui& ui = context_.ui;
    const Rect view{foot.x0, foot.y0 + 0.5f * kMargins, foot.x1, foot.y1 - 0.5f * kMargins};
    ui.push_clip(view);
    const float free = std::max(0.0f, view.height() - height_);  // few lie at the lower edge
    float y = view.y0 + free - ui.scroll("remarks", view, height_, kLine);
    for (const Remark& remark : remarks_) {
      if (y > view.y0 - 0.5f * kLine && y < view.y1 - 0.5f * kLine)
        context_.painter().disc({view.x0 + kIndent - 12.0f, y + 0.5f * kLine}, 4.0f, remark.dot);
      for (std::size_t i = 0; i < remark.lines.size(); ++i, y += kLine)
        if (y > view.y0 - 0.5f && y + kLine < view.y1 + 0.5f)
          context_.painter().text_at(view.x0 + kIndent, y + 0.5f * kLine, remark.lines[i],
                                     {Face::Sans, 12.0f, remark.color});
    }
    ui.pop_clip();
  }

 private:
  static constexpr float kLine = 17.0f, kLines = 3.0f, kMargins = 14.0f, kIndent = 32.0f;
  struct Remark {
    std::vector<std::string> lines;
    Color dot, color;
  };
  void add(const std::string& text, Color dot, Color color) {
    remarks_.push_back(
        {wrap_text(text, width_ - kIndent - 110.0f, context_.ui.measure(), Face::Sans, 12.0f), dot, color});
    height_ += kLine * static_cast<float>(remarks_.back().lines.size());
  }

  PanelContext& context_;
  float width_, height_ = 0.0f;
  std::vector<Remark> remarks_;
};

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
  const bool has_page = drawn != nullptr && !drawn->error && drawn->picture.rgb != nullptr;
  const PageRemarks remarks(context, has_page ? *drawn : FigureDrawn(), area.width());
  const Rect foot = area.cut_bottom(PageRemarks::height(0.25f * area.height()));
  const Rect room{area.x0 + 20.0f, area.y0 + kRulerHeight, area.x1 - 20.0f, area.y1 - 6.0f};
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
    wanted_height = kAnyHeight;  // the next page is as wide, and perhaps of another height
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
  remarks.draw(foot);
  if (wish.drawing)
    ui.label_at(foot.x1 - 14.0f, foot.y1 - 16.0f, "drawing…", {Face::Sans, 12.0f, dim}, 90.0f, Painter::Align::Right);
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
  std::string note, brief;
  if (!wish.has_file && wish.problem.empty()) {
    note = "This run has no file: the figure will name one that nobody has.", brief = "The run has no file.";
    if (wish.run)
      note = "This run has no file yet: it is saved beside the figure, so that the command works.",
      brief = "The run is saved beside it.";
    if (!wish.writing.empty())
      note = "This run has no file yet; it is being written.", brief = "The run is being written.";
  }
  if (!note.empty()) {
    const float x = foot.x0 + margin, room = cancel.x0 - x - 34.0f;
    ui.icon(Icon::Warning, {x + 7.0f, y}, 13.0f, theme.warn);
    const TextStyle style = theme.body(theme.warn);
    if (ui.width(note, style) > room) std::swap(note, brief);
    ui.label_at(x + 22.0f, y, note, style, room);
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
    draw_figure_side(context, {side.x0, side.y0, side.x1 - 1.0f, side.y1});
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
  context.facts.set("figure.format", wish.look(wish.kind).ending);
  context.facts.set("figure.beside", std::string(wish.data ? "data " : "") + (wish.caption ? "caption " : "") +
                                         (wish.run && !wish.has_file ? "run" : ""));
  context.facts.set("figure.caption", !wish.drawn ? "" : wish.latex ? wish.drawn->latex : wish.drawn->caption);
  std::string notes;
  if (wish.drawn)
    for (const std::string& note : wish.drawn->notes) notes += (notes.empty() ? "" : "\n") + note;
  context.facts.set("figure.notes", notes);
  context.facts.set("figure.problem", wish.problem);
  context.facts.set("figure.warnings", wish.drawn ? static_cast<double>(wish.drawn->warnings.size()) : 0.0);
  if (wish.drawn) {
    context.facts.set("figure.width_mm", wish.drawn->width_mm);
    context.facts.set("figure.height_mm", wish.drawn->height_mm);
  }
  end_box(context);
}

}  // namespace headroom
