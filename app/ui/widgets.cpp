// Labels, buttons, switches, sliders, scroll bars and dividers.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/token_text.h"
#include "app/ui/ui_state.h"

namespace headroom {
namespace {

TextStyle button_style(const Theme& theme, Color color) {
  (void)theme;
  return {Face::SansMedium, 12.0f, color};
}

}  // namespace

float Ui::label(Vec2 baseline, std::string_view text, const TextStyle& style, float most) {
  const std::string whole_text = shown_text(text);
  const float w = width(whole_text, style);
  if (w <= most) {
    painter.text(baseline, whole_text, style);
    return w;
  }
  const std::string elided = elide_middle(whole_text, most, measure(), style.face, style.size);
  if (!elided.empty()) painter.text(baseline, elided, style);
  tooltip({baseline.x, baseline.y - style.size, baseline.x + most, baseline.y + 0.3f * style.size}, whole_text);
  return elided.empty() ? 0.0f : width(elided, style);
}

float Ui::label_at(float x, float y, std::string_view text, const TextStyle& style, float most, Painter::Align align) {
  const std::string whole_text = shown_text(text);
  const float w = std::min(most, width(whole_text, style));
  if (align == Painter::Align::Right) x = whole(x - w);
  if (align == Painter::Align::Centre) x = whole(x - 0.5f * w);
  return label({x, whole(y + 0.36f * style.size)}, text, style, most);
}

float Ui::paragraph(Vec2 top_left, std::string_view text, const TextStyle& style, float most, float line_height,
                    bool draw, int max_lines) {
  const std::vector<std::string> lines =
      wrap_text(text, most, measure(), style.face, style.size, static_cast<std::size_t>(std::max(1, max_lines)));
  if (draw) {
    float y = top_left.y + 0.5f * line_height;
    for (const std::string& line : lines) {
      if (!line.empty()) painter.text({top_left.x, whole(y + 0.36f * style.size)}, line, style);
      y += line_height;
    }
  }
  return line_height * static_cast<float>(lines.size());
}

float Ui::button_width(std::string_view text, bool with_icon) const {
  return std::ceil(width(shown_text(text), button_style(theme, theme.text))) + 24.0f + (with_icon ? 18.0f : 0.0f);
}

bool Ui::button(Rect area, std::string_view text, std::string_view command, ButtonStyle style,
                std::optional<Icon> mark) {
  push_id(command);
  const std::string reason = command.empty() ? std::string() : commands_.disabled_reason(command);
  const bool enabled = reason.empty();
  const Interaction i = pressable(text, area, enabled);
  pop_id();
  const bool lit = enabled && (i.hovered || i.held);
  Color ground = theme.raised, ink = theme.text;
  switch (style) {
    case ButtonStyle::Plain: ground = lit ? theme.hover : theme.raised; break;
    case ButtonStyle::Card: ground = lit ? mix(theme.hover, theme.text, 0.12f) : theme.hover; break;
    case ButtonStyle::Ghost: ground = lit ? theme.hover : theme.raised.faded(0.0f); break;
    case ButtonStyle::Primary:
      ground = enabled ? (lit ? mix(theme.accent, theme.text, 0.18f) : theme.accent) : theme.raised;
      ink = theme.on_accent;
      break;
  }
  if (!enabled) ink = theme.off;
  if (ground.a > 0) painter.fill_rect(area, ground, measure::kRadius);
  TextStyle face = button_style(theme, ink);
  if (style == ButtonStyle::Primary) face.face = Face::SansSemibold;
  const std::string shown = shown_text(text);
  const float most = area.width() - (mark ? 34.0f : 12.0f);
  const std::string fitting = elide_middle(shown, most, measure(), face.face, face.size);
  const float content = width(fitting, face) + (mark ? 18.0f : 0.0f);
  float x = whole(area.centre_x() - 0.5f * content);
  if (mark) {
    icon(*mark, {x + 4.0f, area.centre_y()}, 9.0f, ink);
    x += 18.0f;
  }
  if (!fitting.empty()) painter.text({x, whole(area.centre_y() + 0.36f * face.size)}, fitting, face);
  if (!enabled) {
    tooltip(area, reason);
  } else if (fitting != shown) {
    tooltip(area, shown);
  }
  if (!i.clicked || !enabled) return false;
  run(std::string(command));
  return true;
}

bool Ui::icon_button(Rect area, Icon which, std::string_view command, std::string_view tip) {
  push_id(command);
  const std::string reason = command.empty() ? std::string() : commands_.disabled_reason(command);
  const Interaction i = pressable(tip, area, reason.empty());
  pop_id();
  if (reason.empty() && i.hovered) painter.fill_rect(area, theme.hover, measure::kRadius);
  const Color ink = !reason.empty() ? theme.off : i.hovered ? theme.text : theme.text3;
  icon(which, area.centre(), std::min(10.0f, std::min(area.width(), area.height()) - 4.0f), ink);
  std::string text(tip);
  const std::string keys = command.empty() ? std::string() : commands_.key_text(command);
  if (!keys.empty()) text += (text.empty() ? "" : "  ") + keys;
  if (!reason.empty()) text += (text.empty() ? "" : "\n") + reason;
  tooltip(area, text);
  if (!i.clicked || !reason.empty()) return false;
  run(std::string(command));
  return true;
}

bool Ui::link(Vec2 baseline, std::string_view text, std::string_view command, const TextStyle& style) {
  const std::string reason = command.empty() ? std::string() : commands_.disabled_reason(command);
  const float w = width(text, style);
  const Rect area{baseline.x - 2.0f, baseline.y - style.size - 1.0f, baseline.x + w + 2.0f, baseline.y + 4.0f};
  push_id(command);
  const Interaction i = pressable(text, area, reason.empty(), reason.empty() ? Cursor::Hand : Cursor::Arrow);
  pop_id();
  TextStyle ink = style;
  if (!reason.empty()) ink.color = theme.off;
  painter.text(baseline, text, ink);
  if (reason.empty() && i.hovered) {
    painter.fill_rect({baseline.x, whole(baseline.y) + 2.0f, baseline.x + w, whole(baseline.y) + 3.0f}, ink.color);
  }
  tooltip(area, reason);
  if (!i.clicked || !reason.empty()) return false;
  run(std::string(command));
  return true;
}

float Ui::segmented(Vec2 top_left, float height, std::span<const Choice> choices, bool draw, std::size_t* chosen) {
  float total = 0.0f;
  std::vector<float> widths;
  for (const Choice& choice : choices) {
    widths.push_back(std::ceil(width(shown_text(choice.title), {Face::SansSemibold, 12.0f, {}})) + 16.0f);
    total += widths.back();
  }
  if (!draw || choices.empty()) return total;
  const Rect frame = Rect::sized(top_left.x, top_left.y, total, height);
  painter.fill_rect(frame, theme.raised, measure::kRadius);
  push_id("segmented");
  float x = top_left.x;
  for (std::size_t k = 0; k < choices.size(); ++k) {
    const Choice& choice = choices[k];
    const Rect part = Rect::sized(x, top_left.y, widths[k], height);
    std::string reason = choice.disabled;
    if (reason.empty() && !choice.command.empty()) reason = commands_.disabled_reason(choice.command);
    const bool enabled = reason.empty();
    push_id(choice.command);
    const Interaction i = pressable(choice.title, part, enabled);
    pop_id();
    TextStyle style = theme.body(choice.selected ? theme.text : enabled ? theme.text2 : theme.off);
    if (choice.selected) {
      painter.fill_rect(part, theme.accent_soft, measure::kRadius);
      painter.stroke_rect(part, theme.accent, 1.0f, measure::kRadius);
      style.face = Face::SansSemibold;
    } else if (enabled && i.hovered) {
      painter.fill_rect(part, theme.hover, measure::kRadius);
      style.color = theme.text;
    } else if (k > 0 && !choices[k - 1].selected) {
      painter.fill_rect(Rect::sized(part.x0, part.centre_y() - 6.0f, 1.0f, 12.0f), theme.line);
    }
    const std::string title = shown_text(choice.title);
    painter.text({whole(part.centre_x() - 0.5f * width(title, style)), whole(part.centre_y() + 4.32f)}, title, style);
    tooltip(part, reason);
    if (i.clicked && enabled) {
      if (!choice.command.empty()) run(choice.command);
      if (chosen != nullptr) *chosen = k;
    }
    x += widths[k];
  }
  pop_id();
  return total;
}

bool Ui::check_box(Rect area, std::string_view text, bool checked, std::string_view command) {
  const std::string reason = command.empty() ? std::string() : commands_.disabled_reason(command);
  const bool enabled = reason.empty();
  push_id(command);
  const Interaction i = pressable(text, area, enabled);
  pop_id();
  const Rect box = Rect::sized(area.x0, whole(area.centre_y() - 6.0f), 12.0f, 12.0f);
  if (checked) {
    painter.fill_rect(box, enabled ? theme.accent : theme.off, 2.0f);
    icon(Icon::Check, box.centre(), 8.0f, enabled ? theme.on_accent : theme.panel);
  } else {
    painter.stroke_rect(box, i.hovered && enabled ? theme.text2 : theme.off, 1.0f, 2.0f);
  }
  label_at(box.x1 + 8.0f, area.centre_y(), text,
           theme.body(!enabled  ? theme.off
                      : checked ? theme.text
                                : theme.text2),
           area.x1 - box.x1 - 8.0f);
  tooltip(area, reason);
  if (!i.clicked || !enabled) return false;
  run(std::string(command));
  return true;
}

bool Ui::radio(Rect area, std::string_view text, bool selected, std::string_view command) {
  const std::string reason = command.empty() ? std::string() : commands_.disabled_reason(command);
  const bool enabled = reason.empty();
  push_id(command);
  const Interaction i = pressable(text, area, enabled);
  pop_id();
  const Vec2 centre{area.x0 + 6.0f, whole(area.centre_y())};
  painter.ring(centre, 5.5f,
               !enabled    ? theme.off
               : selected  ? theme.accent
               : i.hovered ? theme.text2
                           : theme.off,
               selected ? 1.5f : 1.0f);
  if (selected) painter.disc(centre, 2.75f, enabled ? theme.accent : theme.off);
  label_at(area.x0 + 20.0f, area.centre_y(), text,
           theme.body(!enabled   ? theme.off
                      : selected ? theme.text
                                 : theme.text2),
           area.width() - 20.0f);
  tooltip(area, reason);
  if (!i.clicked || !enabled) return false;
  run(std::string(command));
  return true;
}

std::optional<double> Ui::slider(std::string_view name, Rect area, double value, double low, double high,
                                 bool enabled) {
  const float y = whole(area.centre_y()), from = area.x0 + 5.0f, to = std::max(area.x0 + 6.0f, area.x1 - 5.0f);
  std::optional<double> result;
  bool lit = false;
  if (enabled) {
    const Interaction i = interact(name, area);
    lit = i.hovered || i.held;
    if (i.held || i.released) {
      const double t = std::clamp(static_cast<double>((input.pointer.x - from) / (to - from)), 0.0, 1.0);
      value = low + t * (high - low);
      result = value;
    }
    if (add_stop(id(name), area, StopKind::Slider))
      if (const auto stepped = stepped_by_key(value, low, high)) result = value = *stepped;
  }
  const double t = high > low ? std::clamp((value - low) / (high - low), 0.0, 1.0) : 0.0;
  const float x = from + static_cast<float>(t) * (to - from);
  painter.fill_rect({area.x0, y - 2.0f, area.x1, y + 2.0f}, theme.hover, 2.0f);
  if (enabled) painter.fill_rect({area.x0, y - 2.0f, x, y + 2.0f}, theme.text3, 2.0f);
  painter.disc({x, y}, lit ? 6.0f : 5.0f, enabled ? (lit ? theme.text : theme.text2) : theme.faint);
  return result;
}

void Ui::progress(Rect area, double fraction) {
  const float y = whole(area.centre_y());
  const Rect track{area.x0, y - 2.0f, area.x1, y + 2.0f};
  painter.fill_rect(track, theme.raised, 2.0f);
  if (std::isnan(fraction)) return;
  if (fraction >= 0.0) {
    Rect done = track;
    done.x1 = track.x0 + std::round(track.width() * static_cast<float>(std::min(1.0, fraction)));
    if (!done.empty()) painter.fill_rect(done, theme.accent, 2.0f);
    return;
  }
  // Unknown: a part that goes to and fro once in 2.4 s.
  const double phase = std::fmod(input.time / 1.2, 2.0);
  const auto t = static_cast<float>(phase < 1.0 ? phase : 2.0 - phase);
  const float part = 0.25f * track.width(), x = track.x0 + t * (track.width() - part);
  painter.fill_rect({x, track.y0, x + part, track.y1}, theme.accent, 2.0f);
  frame_->wait = std::min(frame_->wait, 1.0 / 30.0);
}

float Ui::key_cap_width(std::string_view text) const {
  return std::max(18.0f, std::ceil(width(text, {Face::Mono, 10.0f, theme.text2})) + 10.0f);
}

void Ui::key_cap(Vec2 left_centre, std::string_view text) {
  const float w = key_cap_width(text);
  const Rect cap = Rect::sized(whole(left_centre.x), whole(left_centre.y - 9.0f), w, 18.0f);
  painter.fill_rect(cap, theme.raised, 3.0f);
  painter.stroke_rect(cap, theme.line, 1.0f, 3.0f);
  const TextStyle style{Face::Mono, 10.0f, theme.text2};
  painter.text({whole(cap.centre_x() - 0.5f * width(text, style)), whole(cap.centre_y() + 0.36f * 10.0f)}, text, style);
}

void Ui::scroll_to(std::string_view name, float top, float bottom) {
  UiState::ScrollState& scroll = memory_.scrolls[id(name)];
  scroll.has_target = true;
  scroll.target_top = top;
  scroll.target_bottom = bottom;
}

float Ui::scroll(std::string_view name, Rect view, float content, float step) {
  const WidgetId wid = id(name);
  UiState::ScrollState& scroll = memory_.scrolls[wid];
  const float height = std::max(0.0f, view.height());
  double most = std::max(0.0f, content - height);
  if (step > 0.0f) most = std::ceil(most / step - 1e-3) * step;
  if (scroll.has_target) {
    const double top = scroll.target_top, bottom = scroll.target_bottom;
    if (bottom - scroll.offset > height)
      scroll.offset = step > 0.0f ? std::ceil((bottom - height) / step) * step : bottom - height;
    if (top < scroll.offset) scroll.offset = top;
    scroll.has_target = false;
  }
  if (most <= 0.0 || view.empty()) {
    scroll.offset = 0.0;
    return 0.0f;
  }
  Rect area = view;
  if (!frame_->clips.empty()) area = area.intersected(frame_->clips.back());
  if (!area.empty()) memory_.hits.push_back({wid, frame_->layers.back(), area, true});
  if (frame_->wheel_target == wid)
    scroll.offset -= static_cast<double>(input.wheel.y) * (step > 0.0f ? 3.0f * step : 48.0f);

  const float knob = std::max(std::min(20.0f, height), std::floor(height * height / std::max(content, 1.0f)));
  const float free = std::max(1.0f, height - knob);
  const Rect track{view.x1 - 10.0f, view.y0, view.x1, view.y1};
  push_id(name);
  const Interaction i = interact("bar", track);
  pop_id();
  const auto knob_top = [&] { return view.y0 + free * static_cast<float>(std::clamp(scroll.offset / most, 0.0, 1.0)); };
  if (i.pressed) {
    const float at = input.pointer.y - knob_top();
    scroll.grabbed = at >= 0.0f && at < knob ? at : 0.5f * knob;
  }
  if (i.held) scroll.offset = static_cast<double>((input.pointer.y - scroll.grabbed - view.y0) / free) * most;
  scroll.offset = std::clamp(scroll.offset, 0.0, most);
  const bool lit = i.hovered || i.held;
  const float w = lit ? 6.0f : 4.0f;
  painter.fill_rect(Rect::sized(view.x1 - w - 2.0f, whole(knob_top()), w, knob), lit ? theme.off : theme.faint,
                    0.5f * w);
  const double shown = step > 0.0f ? std::round(scroll.offset / step) * step : std::round(scroll.offset);
  return static_cast<float>(shown);
}

float Ui::splitter(std::string_view name, Rect area, bool vertical) {
  const Interaction i = interact(name, area, vertical ? Cursor::ResizeHorizontal : Cursor::ResizeVertical);
  if (i.hovered || i.held) {
    const Rect line = vertical ? Rect::sized(whole(area.centre_x()) - 1.0f, area.y0, 2.0f, area.height())
                               : Rect::sized(area.x0, whole(area.centre_y()) - 1.0f, area.width(), 2.0f);
    painter.fill_rect(line, i.held ? theme.accent : theme.faint);
  }
  if (!i.dragging) return 0.0f;
  return vertical ? i.drag.x : i.drag.y;
}

}  // namespace headroom
