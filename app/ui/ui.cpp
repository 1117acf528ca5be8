#include "app/ui/ui.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <unordered_map>
#include <utility>

#include "app/plot/token_text.h"
#include "app/ui/ui_state.h"

namespace headroom {
namespace {

float distance(Vec2 a, Vec2 b) { return std::hypot(a.x - b.x, a.y - b.y); }

template <typename T>
void forget_unused(std::unordered_map<WidgetId, T>& kept) {
  std::erase_if(kept, [](const auto& entry) { return !entry.second.used; });
  for (auto& [id, entry] : kept) entry.used = false;
}

}  // namespace

WidgetId mix_id(WidgetId scope, std::string_view name) {
  WidgetId hash = scope ^ 0xCBF29CE484222325ull;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  hash ^= hash >> 29;
  hash *= 0xBF58476D1CE4E5B9ull;
  hash ^= hash >> 32;
  return hash == 0 ? 1 : hash;
}

UiStatePtr make_ui_state() { return UiStatePtr(new UiState); }
UiStatePtr copy_at_rest(const UiState& memory) {
  UiStatePtr copy(new UiState(memory));
  copy->menu = {};
  return copy;
}
void UiStateDeleter::operator()(UiState* memory) const { delete memory; }

Ui::Ui(Painter& frame_painter, const Theme& frame_theme, const Input& frame_input, UiState& memory,
       const CommandLookup& commands, Clipboard& clipboard)
    : painter(frame_painter),
      theme(frame_theme),
      input(frame_input),
      frame_(std::make_unique<Frame>()),
      memory_(memory),
      commands_(commands),
      clipboard_(clipboard) {
  Frame& f = *frame_;
  UiState& m = memory_;
  f.text_at_start = m.focus != 0;
  f.popup_at_start = m.menu.owner != 0;

  for (auto layer = m.last_layers.rbegin(); layer != m.last_layers.rend(); ++layer) {
    const bool inside = layer->area.contains(input.pointer);
    if (!inside && !layer->modal) continue;
    f.top_layer = layer->id;
    f.covered = !inside;
    break;
  }
  if (input.pointer_inside && !f.covered) {
    float hot_size = std::numeric_limits<float>::infinity(), wheel_size = hot_size;
    for (const UiState::HitArea& hit : m.last_hits) {
      if (hit.layer != f.top_layer || !hit.area.contains(input.pointer)) continue;
      const float size = hit.area.width() * hit.area.height();
      if (!hit.wheel && size <= hot_size) {
        hot_size = size;
        f.hot = hit.id;
      }
      if (hit.wheel && size <= wheel_size) {
        wheel_size = size;
        f.wheel_target = hit.id;
      }
    }
    if (f.wheel_target == 0) f.wheel_target = f.hot;
  }
  m.drag_began = m.active != 0 && !m.dragging && distance(input.pointer, m.pressed_at) > kDragDistance;
  if (m.drag_began) m.dragging = true;
  if (input.pressed[kLeftButton] || input.pressed[kRightButton]) {
    if (m.focus != f.hot) m.focus = 0;
    m.tip_shown = false;
    m.tip.clear();
  }
  move_focus();
}

Ui::~Ui() = default;

float Ui::width(std::string_view text, const TextStyle& style) const {
  return painter.measure().width(text, style.face, style.size);
}

void Ui::push_id(std::string_view name) { frame_->scopes.push_back(mix_id(frame_->scopes.back(), name)); }
void Ui::pop_id() {
  if (frame_->scopes.size() > 1) frame_->scopes.pop_back();
}
WidgetId Ui::id(std::string_view name) const { return mix_id(frame_->scopes.back(), name); }

void Ui::push_clip(Rect clip) {
  painter.push_clip(clip);
  frame_->clips.push_back(frame_->clips.empty() ? clip : clip.intersected(frame_->clips.back()));
}
void Ui::pop_clip() {
  painter.pop_clip();
  if (!frame_->clips.empty()) frame_->clips.pop_back();
}

std::string& Ui::kept_text(std::string_view name) {
  auto& kept = memory_.texts[id(name)];
  kept.used = true;
  return kept.value;
}

double& Ui::kept_number(std::string_view name, double initial) {
  auto& kept = memory_.numbers.try_emplace(id(name), UiState::Kept<double>{initial, true}).first->second;
  kept.used = true;
  return kept.value;
}

std::any& Ui::kept_value(std::string_view name) {
  auto& kept = memory_.values[id(name)];
  kept.used = true;
  return kept.value;
}

bool Ui::appeared(std::string_view name) {
  const WidgetId wid = id(name);
  memory_.names[wid] = true;
  return !memory_.last_names.contains(wid);
}

std::vector<std::string> Ui::take_commands() { return std::exchange(frame_->commands, {}); }
void Ui::run(std::string command_line) {
  if (!command_line.empty()) frame_->commands.push_back(std::move(command_line));
}

bool Ui::wants_text() const { return frame_->text_at_start || memory_.focus != 0; }
bool Ui::popup_open() const { return frame_->popup_at_start || frame_->keys_taken || memory_.menu.owner != 0; }
void Ui::capture_keys() { frame_->keys_taken = true; }
void Ui::close_popups() { memory_.menu = {}; }
void Ui::open_menu(std::string_view name) {
  memory_.open_request = id(name);
  memory_.open_request_waits = false;
}

bool Ui::key(Key wanted, Modifiers modifiers) const {
  if (popup_open()) return false;
  return std::ranges::any_of(input.keys, [&](const KeyPress& press) {
    return press.key == wanted && press.modifiers == modifiers &&
           (!takes(press) || (wanted == Key::Tab && memory_.focus_keeps_tab));
  });
}

void Ui::begin_overlay(std::string_view name, Rect area, bool modal) {
  const WidgetId wid = id(name);
  frame_->layers.push_back(wid);
  frame_->scopes.push_back(wid);
  memory_.layers.push_back({wid, area, modal});
  painter.begin_panel("overlay: " + std::string(name), area);
}

void Ui::end_overlay() {
  if (frame_->layers.size() < 2) return;
  painter.end_panel();
  frame_->layers.pop_back();
  frame_->scopes.pop_back();
}

bool Ui::hovered(Rect area) const {
  const Frame& f = *frame_;
  if (!input.pointer_inside || f.covered || f.top_layer != f.layers.back()) return false;
  if (!f.clips.empty() && !f.clips.back().contains(input.pointer)) return false;
  return area.contains(input.pointer);
}

Interaction Ui::interact(std::string_view name, Rect area, Cursor shape) {
  Frame& f = *frame_;
  UiState& m = memory_;
  const WidgetId wid = id(name);
  if (!f.clips.empty()) area = area.intersected(f.clips.back());
  if (!area.empty()) m.hits.push_back({wid, f.layers.back(), area, false});

  Interaction result;
  const bool inside = area.contains(input.pointer);
  result.hovered = f.hot == wid && inside && (m.active == 0 || m.active == wid);
  if (result.hovered && input.pressed[kLeftButton] && m.active == 0) {
    m.active = wid;
    m.dragging = false;
    m.pressed_at = input.pointer;
    result.pressed = true;
    result.double_clicked = input.clicks == 2;
  }
  if (m.active == wid) {
    result.pressed_at = m.pressed_at;
    result.dragging = m.dragging;
    if (m.dragging) result.drag = input.pointer - (m.drag_began ? m.pressed_at : m.last_pointer);
    if (input.released[kLeftButton] || !input.down[kLeftButton]) {
      result.released = true;
      result.clicked = inside && !m.dragging;
    } else {
      result.held = true;
    }
  }
  result.right_clicked = result.hovered && m.active == 0 && input.pressed[kRightButton];
  if (f.wheel_target == wid && inside && (m.active == 0 || m.active == wid)) result.wheel = input.wheel.y;
  if ((result.hovered || result.held) && shape != Cursor::Arrow) f.cursor = shape;
  return result;
}

void Ui::set_cursor(Cursor shape) { frame_->cursor = shape; }
Cursor Ui::cursor() const { return frame_->cursor; }

void Ui::tooltip(Rect area, std::string_view text) {
  if (text.empty() || memory_.active != 0 || memory_.menu.owner != 0 || !hovered(area)) return;
  Frame& f = *frame_;
  if (!f.clips.empty()) area = area.intersected(f.clips.back());
  const bool smaller = area.width() * area.height() <= f.tip_area.width() * f.tip_area.height();
  if (f.tip_wanted && !smaller) return;
  f.tip_wanted = true;
  f.tip = text;
  f.tip_area = area;
}

void Ui::finish_tooltip() {
  Frame& f = *frame_;
  UiState& m = memory_;
  if (!f.tip_wanted || m.menu.owner != 0 || input.down[kLeftButton]) {
    m.tip.clear();
    m.tip_shown = false;
    return;
  }
  const bool same = m.tip == f.tip && m.tip_area.overlaps(f.tip_area);
  const bool moved = distance(input.pointer, m.last_pointer) > 1.0f;
  if (!same || (!m.tip_shown && moved)) {
    m.tip_since = input.time;
    m.tip_shown = false;
  }
  m.tip = f.tip;
  m.tip_area = f.tip_area;
  const double due = m.tip_since + kTooltipDelay;
  if (input.time + 1e-6 < due) {
    f.wait = std::min(f.wait, due - input.time);
    return;
  }
  m.tip_shown = true;

  const TextStyle style = theme.body(theme.text);
  const float most = std::max(40.0f, std::min(360.0f, input.window.width() - 24.0f));
  const auto most_lines = static_cast<std::size_t>(std::max(1.0f, (input.window.height() - 24.0f) / 16.0f));
  const std::vector<std::string> lines = wrap_text(m.tip, most, measure(), style.face, style.size, most_lines);
  float wide = 0.0f;
  for (const std::string& line : lines) wide = std::max(wide, width(line, style));
  const float w = std::ceil(wide) + 16.0f, h = 16.0f * static_cast<float>(lines.size()) + 10.0f;
  float x = whole(input.pointer.x) + 12.0f, y = whole(input.pointer.y) + 18.0f;
  if (y + h > input.window.y1 - 2.0f) y = whole(input.pointer.y) - 8.0f - h;
  x = std::max(input.window.x0 + 2.0f, std::min(x, std::floor(input.window.x1 - 2.0f - w)));
  y = std::max(input.window.y0 + 2.0f, y);
  const Rect box = Rect::sized(x, y, w, h);
  painter.begin_panel("overlay: tooltip", box);
  painter.fill_rect(box, theme.raised, measure::kRadius);
  painter.stroke_rect(box, theme.faint, 1.0f, measure::kRadius);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    painter.text_at(x + 8.0f, y + 5.0f + 8.0f + 16.0f * static_cast<float>(i), lines[i], style);
  }
  painter.end_panel();
}

bool Ui::finish() {
  Frame& f = *frame_;
  UiState& m = memory_;
  f.layers = {kGroundLayer};
  f.clips.clear();
  finish_focus();
  finish_menus();
  finish_tooltip();

  if (m.active != 0 && !input.down[kLeftButton]) {
    m.active = 0;
    m.dragging = false;
  }
  if (m.active != 0 &&
      std::none_of(m.hits.begin(), m.hits.end(), [&](const auto& hit) { return hit.id == m.active; })) {
    m.active = 0;
    m.dragging = false;
  }
  if (m.focus != 0 && !m.focus_used) m.focus = 0;
  m.focus_used = false;
  std::erase_if(m.fields, [&](const auto& field) { return field.first != m.focus; });
  forget_unused(m.texts);
  forget_unused(m.numbers);
  forget_unused(m.values);
  m.last_names = std::exchange(m.names, {});
  m.last_hits = std::exchange(m.hits, {});
  m.last_layers = std::exchange(m.layers, {});
  m.last_menu_buttons = std::exchange(m.menu_buttons, {});
  m.last_pointer = input.pointer;
  if (m.open_request_waits) m.open_request = 0;
  m.open_request_waits = m.open_request != 0;
  if (m.open_request_waits) f.wait = 0.0;
  return f.wait <= 0.0;
}

void Ui::wake_in(double seconds) { frame_->wait = std::min(frame_->wait, std::max(0.0, seconds)); }
double Ui::wait_seconds() const { return frame_->wait; }

}  // namespace headroom
