#include "app/panels/chrome/figure_side.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/plot/token_text.h"
#include "app/session/commands.h"
#include "app/session/figure_screen.h"

namespace headroom {
namespace {

constexpr float kTitle = 22.0f, kSeparator = 11.0f, kFormRow = 26.0f, kPartRow = 19.0f, kEnd = 8.0f;
constexpr float kKindRow = 22.0f, kLowKindRow = 18.0f, kPartGap = 14.0f;
constexpr float kBox = 21.0f;  // of a check box, before its text
// Of parts of the screen for which there is room in any case: a click on another kind moves no kind.
constexpr std::size_t kUsualPartRows = 4;

// A part of the figure that is taken over or written beside it, or not.
struct Part {
  std::string name, value, command;
  bool checked = false;
};

// A part with its value where it stands, as wide as it needs.
struct PlacedPart {
  const Part* part;
  float x, width;
  std::size_t row;
};

struct PartsBlock {
  std::string title;
  std::vector<Part> parts;
  std::vector<PlacedPart> placed;
  std::size_t rows = 0;
};

// What lies above a line of the left side, and how far down that is.
struct SideColumn {
  PanelContext& context;
  Rect area;
  float y;

  void title(const std::string& text) {
    const Rect line = row(kTitle);
    if (shows(line))
      context.ui.label_at(line.x0, line.y0 + 13.0f, text, {Face::SansMedium, 11.0f, context.theme().text2},
                          line.width());
  }
  void line() {
    const Rect hair = row(kSeparator);
    const float at = hair.y0 + 7.0f;
    if (shows(hair))
      context.painter().fill_rect({hair.x0 - 12.0f, at, hair.x1 + 12.0f, at + 1.0f}, context.theme().line);
  }
  // What is scrolled half out of sight is not drawn.
  [[nodiscard]] bool shows(const Rect& part) const { return part.y0 > area.y0 - 0.5f && part.y1 < area.y1 + 0.5f; }
  Rect row(float height) {
    const Rect rect{area.x0, y, area.x1, y + height};
    y += height;
    return rect;
  }
};

TextStyle name_style(const Theme& theme) { return theme.body(theme.text); }
TextStyle value_style(const Theme& theme) { return {Face::Mono, 11.0f, theme.text2}; }

// In rows, as many as fit beside each other.
void place_parts(PanelContext& context, PartsBlock& block, float width) {
  const Theme& theme = context.theme();
  float x = 0.0f;
  for (const Part& part : block.parts) {
    const float name = kBox + context.ui.width(part.name, name_style(theme));
    const float value = part.value.empty() ? 0.0f : 6.0f + context.ui.width(part.value, value_style(theme));
    const float wide = std::min(name + value + 1.0f, width);
    if (x > 0.0f && x + wide > width) x = 0.0f, ++block.rows;
    block.placed.push_back({&part, x, wide, block.rows});
    x += wide + kPartGap;
  }
  if (!block.parts.empty()) ++block.rows;
}

std::vector<PartsBlock> parts_of(PanelContext& context, float width) {
  const FigureWish& wish = context.state.figure;
  const FigureLook look = wish.look(wish.kind);
  std::vector<PartsBlock> blocks(2);
  // What a command chose, which no control above shows, comes before the same of the screen; a click takes it back.
  constexpr std::array<std::string_view, 4> kShown = {"width", "height", "theme", "letters"};
  std::vector<Part> chosen;
  for (const ScreenPart& option : chosen_options(look))
    if (std::ranges::find(kShown, option.name) == kShown.end())
      chosen.push_back({option.name, option.value, "figure.set " + option.name + " auto", true});
  for (const ScreenPart& part : screen_parts(context.state, wish.kind))
    if (std::ranges::find(chosen, part.name, &Part::name) == chosen.end())
      blocks[0].parts.push_back(
          {part.name, part.value, "figure.part " + part.name + " toggle", !look.left_out.contains(part.name)});
  blocks[0].title = chosen.empty()            ? "As on screen"
                    : blocks[0].parts.empty() ? "Chosen by a command"
                                              : "As on screen, or chosen by a command";
  blocks[0].parts.insert(blocks[0].parts.end(), chosen.begin(), chosen.end());
  blocks[1].title = "Write beside it";
  blocks[1].parts.push_back({"marks", ".csv", "figure.beside data toggle", wish.data});
  blocks[1].parts.push_back({"caption", wish.latex ? ".tex" : ".txt", "figure.beside caption toggle", wish.caption});
  if (!wish.has_file) blocks[1].parts.push_back({"run", ".h5", "figure.beside run toggle", wish.run});
  std::erase_if(blocks, [](const PartsBlock& block) { return block.parts.empty(); });
  for (PartsBlock& block : blocks) place_parts(context, block, width);
  return blocks;
}

void draw_part_rows(SideColumn& column, const PartsBlock& block) {
  PanelContext& context = column.context;
  const Theme& theme = context.theme();
  column.line();
  column.title(block.title);
  const Rect all = column.row(kPartRow * static_cast<float>(block.rows));
  for (const auto& [part, x, width, row] : block.placed) {
    const Rect box = Rect::sized(all.x0 + x, all.y0 + kPartRow * static_cast<float>(row), width, kPartRow);
    if (!column.shows(box)) continue;
    const float name = kBox + context.ui.width(part->name, name_style(theme));
    context.ui.check_box({box.x0, box.y0, std::min(box.x0 + name, box.x1), box.y1}, part->name, part->checked,
                         part->command);
    if (!part->value.empty() && width > name + 10.0f)
      context.ui.label_at(box.x0 + name + 6.0f, box.centre_y(), part->value, value_style(theme), width - name - 6.0f);
  }
}

// What there is room for of why a kind cannot be drawn: all, what comes before a colon or bracket, or its beginning.
std::string reason_text(PanelContext& context, const std::string& missing, const TextStyle& style, float room) {
  std::string first = missing;
  for (const char* end : {": ", " ("})
    if (context.ui.width(first, style) > room) first = first.substr(0, first.find(end));
  return elide_end(first, room, context.ui.measure(), style.face, style.size);
}

struct KindRow {
  const FigureKindLine& line;
  Rect frame;  // with its margins
};

// Returns whether the pointer is over it.
bool draw_kind(PanelContext& context, const KindRow& row, bool with_brief) {
  const Theme& theme = context.theme();
  const FigureKindLine& line = row.line;
  const Rect frame = row.frame;
  const Rect inside = frame.inset(8.0f, 0.0f);
  const bool chosen = line.name == context.state.figure.kind;
  const Interaction hit = context.ui.pressable("kind " + line.name, frame);
  if (chosen || hit.hovered) context.painter().fill_rect(frame, chosen ? theme.accent_soft : theme.hover, 3.0f);
  if (chosen) context.painter().fill_rect({frame.x0, frame.y0, frame.x0 + 2.0f, frame.y1}, theme.accent);
  const bool can = line.missing.empty();
  const TextStyle name{Face::Mono, 12.0f, can ? theme.text : theme.text3};
  const float used = context.ui.label_at(inside.x0, inside.centre_y(), line.name, name, inside.width());
  const float room = inside.width() - used - 12.0f;
  const TextStyle style{Face::Sans, 11.0f, can ? theme.text3 : theme.warn};
  if (with_brief && room > 40.0f)
    context.ui.label_at(inside.x1, inside.centre_y(),
                        can ? line.brief : reason_text(context, line.missing, style, room), style, room,
                        Painter::Align::Right);
  // Of the chosen one the page says more, and is not to be covered by what was just clicked.
  if (!chosen) context.ui.tooltip(frame, can ? line.summary : line.missing);
  if (hit.clicked) context.ui.run("figure " + line.name);
  return hit.hovered;
}

// One below the other with what they are, or side by side in two columns, with that of one below them.
void draw_kind_list(SideColumn& column, bool two_columns, float row_height) {
  PanelContext& context = column.context;
  const Theme& theme = context.theme();
  const FigureWish& wish = context.state.figure;
  column.title("What");
  const std::size_t rows = two_columns ? (wish.kinds.size() + 1) / 2 : wish.kinds.size();
  const Rect all = column.row(row_height * static_cast<float>(rows));
  const float width = (two_columns ? 0.5f : 1.0f) * (all.width() + 16.0f);
  const FigureKindLine* told = nullptr;
  for (std::size_t i = 0; i < wish.kinds.size(); ++i) {
    const std::size_t column_index = i / rows, row_index = i % rows;
    const Rect frame = Rect::sized(all.x0 - 8.0f + width * static_cast<float>(column_index),
                                   all.y0 + row_height * static_cast<float>(row_index), width, row_height);
    if (!column.shows(frame)) continue;
    const FigureKindLine& line = wish.kinds[i];
    if (draw_kind(context, {line, frame}, !two_columns)) told = &line;
    if (told == nullptr && line.name == wish.kind) told = &line;
  }
  if (!two_columns) return;
  const Rect below = column.row(kPartRow);
  if (told == nullptr || !column.shows(below)) return;
  const bool can = told->missing.empty();
  const TextStyle style{Face::Sans, 11.0f, can ? theme.text3 : theme.warn};
  context.ui.label_at(below.x0, below.centre_y(),
                      can ? told->brief : reason_text(context, told->missing, style, below.width()), style,
                      below.width());
}

// A setting of the kind: choices that are commands, and a field for any other value where `field` says so.
void draw_form_row(SideColumn& column, const char* name, const std::string& value, const std::vector<Choice>& choices,
                   bool field = false) {
  PanelContext& context = column.context;
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  Rect row = column.row(kFormRow);
  if (!column.shows(row)) return;
  ui.push_id(name);
  ui.label_at(row.x0, row.centre_y(), name, theme.body(theme.text2), 58.0f);
  row.cut_left(60.0f);
  if (field) {
    std::string& typed = ui.kept_text("value");
    std::string& before = ui.kept_text("before");
    const std::string shown = value + "\n" + context.state.figure.kind;
    if (before != shown) before = shown, typed = value;
    const Rect box = row.cut_left(72.0f).inset(0.0f, 2.0f);
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
  ui.segmented({row.x0, row.y0 + 2.0f}, row.height() - 4.0f, choices);
  ui.pop_id();
}

void draw_form(SideColumn& column) {
  const FigureWish& wish = column.context.state.figure;
  const FigureLook look = wish.look(wish.kind);
  const auto choice = [](std::string title, const std::string& command, bool selected) {
    return Choice{std::move(title), command, selected, ""};
  };
  column.line();
  std::vector<Choice> widths;
  for (const char* width : {"84", "120", "174"})
    widths.push_back(choice(width, std::string("figure.set width ") + width + "mm",
                            look.options.width == std::string(width) + "mm"));
  draw_form_row(column, "width", look.options.width, widths, true);
  draw_form_row(column, "height", look.options.height,
                {choice("automatic", "figure.set height auto", look.options.height.empty())}, true);
  draw_form_row(column, "theme", "",
                {choice("paper", "figure.set theme paper", look.options.theme == "paper"),
                 choice("slides", "figure.set theme slides", look.options.theme == "slides")});
  std::vector<Choice> letters;
  for (const char* form : {"none", "a", "A", "(a)"})
    letters.push_back(choice(form, std::string("figure.set letters ") + quote_word(form), look.letters == form));
  draw_form_row(column, "letters", "", letters);
  std::vector<Choice> formats;
  for (const auto& [title, word] : {std::pair{"PDF", "pdf"}, {"SVG", "svg"}, {"PNG", "png"}})
    formats.push_back(choice(title, std::string("figure.format ") + word, look.ending == std::string(".") + word));
  draw_form_row(column, "format", "", formats);
}

}  // namespace

void draw_figure_side(PanelContext& context, Rect side) {
  Ui& ui = context.ui;
  const auto kinds = static_cast<float>(context.state.figure.kinds.size());
  const Rect area{side.x0 + 22.0f, side.y0, side.x1 - 20.0f, side.y1};
  const std::vector<PartsBlock> blocks = parts_of(context, area.width());
  float rest = kTitle + kSeparator + 5.0f * kFormRow + kEnd;
  const float usual = rest + 2.0f * (kSeparator + kTitle) + kPartRow * static_cast<float>(kUsualPartRows + 2);
  for (const PartsBlock& block : blocks) rest += kSeparator + kTitle + kPartRow * static_cast<float>(block.rows);
  // Lines of kinds as high as there is room for; else their names alone in two columns.
  const float most = std::max(usual, rest);
  const float row = std::clamp(std::floor((side.height() - most) / std::max(kinds, 1.0f)), kLowKindRow, kKindRow);
  const bool two_columns = most + row * kinds > side.height();
  const float content = rest + (two_columns ? kPartRow + row * std::ceil(0.5f * kinds) : row * kinds);
  context.facts.set("figure.side_scrolls", content > side.height() ? 1.0 : 0.0);
  ui.push_clip(side);
  const float offset = ui.scroll("side", side, content);
  SideColumn column{context, area, side.y0 - offset};
  draw_kind_list(column, two_columns, row);
  draw_form(column);
  for (const PartsBlock& block : blocks) draw_part_rows(column, block);
  ui.pop_clip();
}

}  // namespace headroom
