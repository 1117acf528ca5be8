// The text field: one line that scrolls sideways, or several that wrap.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/plot/token_text.h"
#include "app/plot/unicode.h"
#include "app/ui/ui_state.h"
#include "core/base/utf8.h"

namespace headroom {
namespace {

constexpr float kLine = 18.0f;
constexpr std::size_t kMostOfLine = 1024;  // bytes of a line that could be seen
constexpr double kBlink = 0.53, kBlinkFor = 10.0;

struct Typeset {
  const TextMeasure& measure;
  TextStyle style;

  [[nodiscard]] float width(std::string_view text) const {
    return measure.width(shown_text(text), style.face, style.size);
  }
  // The boundary in [begin, end) of `text` that is nearest to `x` pixels right of `begin`.
  [[nodiscard]] std::size_t at(std::string_view text, TextLine line, float x) const {
    std::vector<std::size_t> stops{line.begin};
    for (std::size_t i = line.begin; i < line.end;) {
      i = std::min(line.end, grapheme_end(text, i));
      stops.push_back(i);
    }
    const auto x_of = [&](std::size_t k) { return width(text.substr(line.begin, stops[k] - line.begin)); };
    std::size_t low = 0, high = stops.size() - 1;
    while (low < high) {
      const std::size_t middle = (low + high + 1) / 2;
      if (x_of(middle) <= x) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    if (low + 1 < stops.size() && x - x_of(low) > x_of(low + 1) - x) ++low;
    return stops[low];
  }
};

std::size_t line_of(const std::vector<TextLine>& lines, std::size_t caret) {
  std::size_t k = 0;
  while (k + 1 < lines.size() && lines[k + 1].begin <= caret) ++k;
  return k;
}

// The parts of a text that options.ends tells apart, behind the bytes [line.begin, line.end).
void draw_parts(Painter& painter, const Typeset& set, std::string_view text, TextLine line, Vec2 middle,
                const TextFieldOptions& options, const Theme& theme) {
  if (options.parts == PartStyle::Off) return;
  const std::span<const std::size_t> ends = options.ends;
  const auto x_of = [&](std::size_t at) { return middle.x + set.width(text.substr(line.begin, at - line.begin)); };
  auto k = static_cast<std::size_t>(std::ranges::upper_bound(ends, line.begin) - ends.begin());
  for (std::size_t from = line.begin; k < ends.size() && from < line.end; ++k) {
    const std::size_t to = std::min(line.end, ends[k]);
    const float y0 = whole(middle.y - 8.0f), y1 = whole(middle.y + 8.0f);
    if (options.parts == PartStyle::Marks && to > from && ends[k] <= line.end)
      painter.fill_rect({whole(x_of(to)), y0, whole(x_of(to)) + 1.0f, y1}, theme.second.faded(0.6f));
    if (options.parts == PartStyle::Shades && to > from && k % 2 == 1)
      painter.fill_rect({x_of(from), y0, x_of(to), y1}, theme.second.faded(0.22f), 2.0f);
    from = std::max(from, to);
  }
}

// The bytes [seen.begin, seen.end) of a text from `at` on, those from read_to on dimmed.
void draw_read(Painter& painter, const Typeset& set, std::string_view text, TextLine seen, Vec2 at, std::size_t read_to,
               const Theme& theme) {
  // Blanks at the end of a wrapped line hang over its width.
  while (seen.end > seen.begin && text[seen.end - 1] == ' ') --seen.end;
  const std::size_t middle = std::clamp(read_to, seen.begin, seen.end);
  if (read_to > seen.begin && read_to <= seen.end && read_to < text.size()) {
    const float x = whole(at.x + set.width(text.substr(seen.begin, read_to - seen.begin)));
    painter.fill_rect({x, whole(at.y - 13.0f), x + 2.0f, whole(at.y + 5.0f)}, theme.warn);
  }
  const std::string read = shown_text(text.substr(seen.begin, middle - seen.begin)),
                    rest = shown_text(text.substr(middle, seen.end - middle));
  if (!read.empty()) painter.text(at, read, set.style);
  if (rest.empty()) return;
  TextStyle style = set.style;
  style.color = theme.text3;
  painter.text({at.x + set.width(text.substr(seen.begin, middle - seen.begin)), at.y}, rest, style);
}

// What the keys of this frame do to a text; true where the keyboard was given up.
struct Editing {
  FieldMemory& field;
  Clipboard& clipboard;
  Typeset set;
  std::size_t page_lines;
  TextFieldResult& result;

  void vertical(std::ptrdiff_t by, bool extend) {
    const std::size_t k = line_of(field.lines, field.edit.caret());
    if (field.wanted_x < 0.0f) {
      const TextLine& line = field.lines[k];
      field.wanted_x =
          set.width(std::string_view(field.edit.text()).substr(line.begin, field.edit.caret() - line.begin));
    }
    const std::ptrdiff_t to = static_cast<std::ptrdiff_t>(k) + by;
    if (to < 0) return field.edit.move(Motion::TextStart, extend);
    if (to >= static_cast<std::ptrdiff_t>(field.lines.size())) return field.edit.move(Motion::TextEnd, extend);
    const auto row = static_cast<std::size_t>(to);
    TextLine line = field.lines[row];
    // The end of a wrapped line is the start of the next one.
    if (row + 1 < field.lines.size() && field.lines[row + 1].begin == line.end && line.end > line.begin) {
      line.end = field.edit.previous(line.end);
    }
    field.edit.place(set.at(field.edit.text(), line, field.wanted_x), extend);
  }

  bool press(const KeyPress& press) {
    const bool ctrl = press.modifiers.ctrl, shift = press.modifiers.shift;
    if (press.modifiers.alt) return false;
    TextEdit& edit = field.edit;
    const bool up_down =
        press.key == Key::Up || press.key == Key::Down || press.key == Key::PageUp || press.key == Key::PageDown;
    if (!up_down) field.wanted_x = -1.0f;
    switch (press.key) {
      case Key::Left: edit.move(ctrl ? Motion::WordLeft : Motion::Left, shift); return false;
      case Key::Right: edit.move(ctrl ? Motion::WordRight : Motion::Right, shift); return false;
      case Key::Home: edit.move(ctrl ? Motion::TextStart : Motion::LineStart, shift); return false;
      case Key::End: edit.move(ctrl ? Motion::TextEnd : Motion::LineEnd, shift); return false;
      case Key::Backspace: edit.erase(ctrl ? Motion::WordLeft : Motion::Left); return false;
      case Key::Delete: edit.erase(ctrl ? Motion::WordRight : Motion::Right); return false;
      case Key::Escape: result.cancelled = true; return true;
      case Key::Enter:
        if (field.multiline && !ctrl) {
          edit.insert("\n");
          return false;
        }
        result.submitted = true;
        return true;
      default: break;
    }
    if (field.multiline && !ctrl) {
      const auto page = static_cast<std::ptrdiff_t>(page_lines);
      if (press.key == Key::Up) vertical(-1, shift);
      if (press.key == Key::Down) vertical(1, shift);
      if (press.key == Key::PageUp) vertical(-page, shift);
      if (press.key == Key::PageDown) vertical(page, shift);
    }
    if (!ctrl) return false;
    if (press.key == letter_key('A')) edit.select_all();
    if (press.key == letter_key('Z')) shift ? edit.redo() : edit.undo();
    if (press.key == letter_key('Y')) edit.redo();
    if (press.key == letter_key('V')) edit.insert(clipboard.get());
    if ((press.key == letter_key('C') || press.key == letter_key('X')) && edit.has_selection()) {
      clipboard.set(std::string(edit.selected()));
      if (press.key == letter_key('X')) edit.erase(Motion::Right);
    }
    return false;
  }
};

}  // namespace

TextFieldResult Ui::text_field(std::string_view name, Rect area, std::string& value, const TextFieldOptions& options) {
  UiState& m = memory_;
  const WidgetId wid = id(name);
  const Interaction i = interact(name, area, Cursor::Text);
  TextFieldResult result;
  const TextStyle style{options.mono ? Face::Mono : Face::Sans, options.size, theme.text};
  const Typeset set{measure(), style};

  Rect inner = area.inset(options.bare ? 0.0f : 8.0f, options.multiline ? 6.0f : 0.0f);
  float prefix_width = 0.0f;
  if (!options.prefix.empty()) {
    prefix_width = std::round(width(options.prefix, theme.body(theme.text3))) + 10.0f;
    inner.x0 += prefix_width;
  }
  const float gutter = options.line_numbers && options.multiline
                           ? std::round(measure().width("00000", Face::Mono, 10.0f)) + 12.0f
                           : 0.0f;
  inner.x0 += gutter;
  // The number of the line of the text's own that begins at `at`; nothing where a line goes on.
  std::int64_t line_number = 0;
  std::size_t numbered_to = 0;
  const auto draw_number = [&](std::string_view of, std::size_t at, float y) {
    if (gutter <= 0.0f || (at > 0 && of[at - 1] != '\n')) return;
    line_number += std::count(of.begin() + static_cast<std::ptrdiff_t>(numbered_to),
                              of.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    numbered_to = at;
    const TextStyle number{Face::Mono, 10.0f, theme.text3};
    const std::string digits = std::to_string(line_number + 1);
    painter.text({inner.x0 - 12.0f - width(digits, number), whole(y + 0.36f * style.size)}, digits, number);
  };
  if (options.clear_button) inner.x1 -= 16.0f;
  if (options.multiline) inner.x1 -= 8.0f;

  if (m.menu.owner == 0 && (i.pressed || (options.focus && m.focus == 0))) m.focus = wid;
  const bool focused = m.focus == wid;
  if (focused) {
    m.focus_keeps_tab = options.keeps_tab;
    m.at.id = wid;  // Tab goes on from here
  }
  add_stop(wid, area, StopKind::Field);
  bool give_up = false;
  if (focused) {
    m.focus_used = true;
    auto [entry, fresh] = m.fields.try_emplace(wid);
    FieldMemory& field = entry->second;
    if (fresh) {
      field.multiline = options.multiline;
      field.edit = TextEdit(options.multiline);
      field.edit.set_text(value);
      if (!options.focus || options.multiline) field.edit.place(0, false);
      if (options.focus && options.select_stem) field.edit.select(0, std::min(value.rfind('.'), value.size()));
      field.edited_at = input.time;
    } else if (value != field.given && value != field.edit.text()) {
      field.edit.set_text(value);
    }
    field.given = value;
    const std::uint64_t before = field.edit.revision();
    const auto lay_out = [&] {
      if (field.lines_revision == field.edit.revision() && field.lines_width == inner.width()) return;
      field.lines_revision = field.edit.revision();
      field.lines_width = inner.width();
      if (options.multiline) {
        field.lines = wrap_lines(field.edit.text(), inner.width(), measure(), style.face, style.size);
      } else {
        field.lines = {{0, field.edit.text().size()}};
      }
    };
    lay_out();

    const auto offset_at = [&](Vec2 at) {
      std::size_t row = 0;
      if (options.multiline) {
        const float y = (at.y - inner.y0 + field.scroll_y) / kLine;
        row = static_cast<std::size_t>(std::clamp(y, 0.0f, static_cast<float>(field.lines.size() - 1)));
      }
      return set.at(field.edit.text(), field.lines[row], at.x - inner.x0 + field.scroll_x);
    };
    if (i.pressed) {
      const std::size_t at = offset_at(input.pointer);
      if (input.clicks == 2) {
        field.edit.select_word(at);
      } else if (input.clicks >= 3) {
        field.edit.select_line(at);
      } else {
        field.edit.place(at, input.modifiers.shift);
      }
      field.edited_at = input.time;
      field.wanted_x = -1.0f;
    } else if (i.held && i.dragging) {
      field.edit.place(offset_at(input.pointer), true);
    }

    const auto page = static_cast<std::size_t>(std::max(1.0f, inner.height() / kLine - 1.0f));
    if (m.menu.owner == 0) {
      Editing editing{field, clipboard_, set, page, result};
      for (const KeyPress& press : input.keys) {
        lay_out();
        if (editing.press(press)) {
          give_up = true;
          break;
        }
      }
      if (!give_up && !input.text.empty()) {
        field.edit.insert(input.text);
        field.wanted_x = -1.0f;
      }
    }
    lay_out();
    if (field.edit.revision() != before) {
      value = field.edit.text();
      result.changed = true;
    } else if (value == field.given && value != field.edit.text() && !result.cancelled) {
      value = field.edit.text();
    }

    // Where it is scrolled to.
    const std::size_t row = line_of(field.lines, field.edit.caret());
    const float caret_x = set.width(std::string_view(field.edit.text())
                                        .substr(field.lines[row].begin, field.edit.caret() - field.lines[row].begin));
    const float content = kLine * static_cast<float>(field.lines.size());
    const std::uint64_t caret_state = field.edit.caret() * 1000003u + field.edit.revision();
    const bool caret_moved = caret_state != field.seen_caret;
    field.seen_caret = caret_state;
    if (caret_moved) field.edited_at = input.time;
    if (options.multiline) {
      if (content > inner.height()) {
        m.hits.push_back({wid, frame_->layers.back(), area, true});
        field.scroll_y -= 3.0f * kLine * i.wheel;
      }
      // Whole lines only: none is cut.
      const float view = kLine * std::max(1.0f, std::floor(inner.height() / kLine));
      if (caret_moved) {
        const float top = kLine * static_cast<float>(row);
        field.scroll_y = std::max(field.scroll_y, top + kLine - view);
        field.scroll_y = std::min(field.scroll_y, top);
      }
      field.scroll_y = kLine * std::round(std::clamp(field.scroll_y, 0.0f, std::max(0.0f, content - view)) / kLine);
    } else {
      const float total = set.width(field.edit.text());
      field.scroll_x = std::max(field.scroll_x, caret_x + 2.0f - inner.width());
      field.scroll_x = std::min(field.scroll_x, caret_x);
      field.scroll_x = std::round(std::clamp(field.scroll_x, 0.0f, std::max(0.0f, total + 2.0f - inner.width())));
    }
  }

  if (!options.bare) painter.fill_rect(area, !focused && i.hovered ? theme.hover : theme.raised, measure::kRadius);
  if (focused && !options.bare) painter.stroke_rect(area, theme.accent, 1.0f, measure::kRadius);
  if (prefix_width > 0.0f) {
    const float y = options.multiline ? inner.y0 + 0.5f * kLine : area.centre_y();
    painter.text_at(area.x0 + 8.0f, y, options.prefix, theme.body(theme.text3));
  }
  if (options.clear_button && !value.empty()) {
    push_id(name);
    const Rect cross = Rect::sized(area.x1 - 20.0f, whole(area.centre_y() - 8.0f), 16.0f, 16.0f);
    const Interaction clear = interact("clear", cross);
    pop_id();
    icon(Icon::Close, cross.centre(), 8.0f, clear.hovered ? theme.text : theme.text3);
    if (clear.clicked) {
      value.clear();
      result.changed = true;
    }
  }

  const FieldMemory* field = nullptr;
  if (const auto found = m.fields.find(wid); focused && found != m.fields.end()) field = &found->second;
  const std::string_view text = field != nullptr ? std::string_view(field->edit.text()) : std::string_view(value);
  if (result.changed && field == nullptr) return result;
  const float first_y = options.multiline ? inner.y0 + 0.5f * kLine : area.centre_y();
  const auto baseline = [&](float y) { return whole(y + 0.36f * style.size); };
  const Rect clip = inner.inset(-1.0f, options.multiline ? 0.0f : 1.0f);
  painter.push_clip({clip.x0 - gutter, clip.y0, clip.x1, clip.y1});
  if (text.empty() && !options.hint.empty()) {
    const TextStyle hint{Face::Sans, options.size, theme.text3};
    const std::string fitting = elide_end(options.hint, inner.width(), measure(), hint.face, hint.size);
    painter.text({inner.x0, baseline(first_y)}, fitting, hint);
  }
  const bool blanks = options.blanks && options.mono && !options.multiline;
  const std::size_t first = blanks ? std::min(text.find_first_not_of(' '), text.size()) : 0;
  const std::size_t last = blanks ? std::max(first, text.find_last_not_of(' ') + 1) : text.size();
  if (blanks) {
    const auto draw_blank = [&](std::size_t at) {
      const float x = inner.x0 - (field != nullptr ? field->scroll_x : 0.0f) + set.width(text.substr(0, at));
      if (x < inner.x1) painter.text({x, baseline(first_y)}, "␣", {style.face, style.size, theme.text3});
    };
    for (std::size_t at = 0; at < first; ++at) draw_blank(at);
    for (std::size_t at = last; at < text.size(); ++at) draw_blank(at);
  }
  if (field == nullptr) {
    const std::string valid = to_valid_utf8(text.substr(first, last - first));
    if (options.multiline) {
      const auto most = static_cast<std::size_t>(std::max(1.0f, std::floor(inner.height() / kLine)));
      // No more of it than can be seen is broken into lines.
      std::size_t kept = std::min(valid.size(), most * kMostOfLine);
      while (kept < valid.size() && (static_cast<unsigned char>(valid[kept]) & 0xC0) == 0x80) --kept;
      const auto lines =
          wrap_lines(std::string_view(valid).substr(0, kept), inner.width(), measure(), style.face, style.size);
      float y = first_y;
      for (std::size_t row = 0; row < std::min(most, lines.size()); ++row, y += kLine) {
        if (valid.size() == text.size()) draw_parts(painter, set, valid, lines[row], {inner.x0, y}, options, theme);
        draw_number(valid, lines[row].begin, y);
        draw_read(painter, set, valid, lines[row], {inner.x0, baseline(y)}, options.read_to, theme);
      }
    } else if (const std::string shown = shown_text(valid); !shown.empty()) {
      const float from = inner.x0 + set.width(text.substr(0, first)), room = inner.x1 - from;
      painter.text({from, baseline(first_y)}, elide_end(shown, room, measure(), style.face, style.size), style);
      if (width(shown, style) > room) tooltip(area, shown);
    }
  } else {
    result.caret = field->edit.caret();
    const auto [begin, end] = field->edit.selection();
    const auto [top, count] = options.multiline
                                  ? std::pair{static_cast<std::size_t>(field->scroll_y / kLine),
                                              static_cast<std::size_t>(std::max(1.0f, inner.height() / kLine))}
                                  : std::pair{std::size_t{0}, std::size_t{1}};
    const std::size_t caret_row = line_of(field->lines, field->edit.caret());
    const double since = input.time - field->edited_at;
    const bool caret_on =
        !input.focused || since >= kBlinkFor || std::fmod(std::max(0.0, since), 2.0 * kBlink) < kBlink;
    if (since < kBlinkFor && input.focused) {
      frame_->wait = std::min(frame_->wait, kBlink - std::fmod(std::max(0.0, since), kBlink));
    }
    for (std::size_t row = top; row < std::min(field->lines.size(), top + count); ++row) {
      const TextLine line = field->lines[row];
      const float y = first_y + (options.multiline ? kLine * static_cast<float>(row) - field->scroll_y : 0.0f);
      const auto x_of = [&](std::size_t at) {
        return inner.x0 - field->scroll_x + set.width(text.substr(line.begin, at - line.begin));
      };
      if (options.multiline) draw_parts(painter, set, text, line, {inner.x0, y}, options, theme);
      draw_number(text, line.begin, y);
      if (begin < end && begin <= line.end && end >= line.begin) {
        const std::size_t from = std::max(begin, line.begin), to = std::min(end, line.end);
        float x1 = x_of(to);
        if (end > line.end) x1 += 5.0f;  // the line's end is selected too
        if (x1 > x_of(from)) {
          painter.fill_rect({x_of(from), whole(y - 9.0f), x1, whole(y + 9.0f)},
                            mix(theme.accent_soft, theme.accent, 0.2f));
        }
      }
      // The graphemes that lie inside as a whole.
      TextLine seen = line;
      if (!options.multiline && (field->scroll_x > 0.0f || x_of(line.end) > inner.x1)) {
        seen.begin = set.at(text, line, field->scroll_x);
        if (seen.begin < line.end && x_of(seen.begin) < inner.x0 - 0.5f) seen.begin = field->edit.next(seen.begin);
        seen.end = set.at(text, line, field->scroll_x + inner.width());
        if (seen.end > seen.begin && x_of(seen.end) > inner.x1 + 0.5f) seen.end = field->edit.previous(seen.end);
      }
      seen.begin = std::clamp(first, seen.begin, seen.end);  // blanks before it are drawn
      draw_read(painter, set, text, seen, {x_of(seen.begin), baseline(y)}, options.read_to, theme);
      if (row == caret_row && caret_on) {
        const float half = std::round(0.66f * options.size);
        painter.fill_rect(Rect::sized(whole(x_of(field->edit.caret())), whole(y) - half,
                                      options.size > 14.0f ? 2.0f : 1.0f, 2.0f * half),
                          theme.accent);
      }
    }
    const float content = kLine * static_cast<float>(field->lines.size());
    if (options.multiline && content > inner.height()) {
      painter.pop_clip();
      const float knob = std::max(20.0f, inner.height() * inner.height() / content);
      const float t = field->scroll_y / (content - inner.height());
      painter.fill_rect(Rect::sized(area.x1 - 6.0f, whole(inner.y0 + t * (inner.height() - knob)), 4.0f, knob),
                        theme.faint, 2.0f);
      painter.push_clip(inner);
    }
  }
  painter.pop_clip();
  if (give_up) {
    m.focus = 0;
    m.focus_used = false;
  }
  return result;
}

}  // namespace headroom
