// Which control the keyboard is at: Tab goes through panels and their controls in reading order, Space and Enter press.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/ui/ui_state.h"

namespace headroom {
namespace {

constexpr float kRing = 2.0f, kRingGap = 1.0f, kRingRadius = 6.0f;
constexpr double kSliderStep = 0.02;  // of its range

bool unchorded(const KeyPress& press) { return !press.modifiers.ctrl && !press.modifiers.alt; }

// As one reads: lines from the top, each from the left, whatever was drawn first.
void sort_as_read(std::vector<const UiState::Stop*>::iterator begin, std::vector<const UiState::Stop*>::iterator end) {
  std::stable_sort(begin, end, [](const auto* a, const auto* b) { return a->area.y0 < b->area.y0; });
  for (auto line = begin; line != end;) {
    const float bottom = (*line)->area.y1;
    const auto next = std::find_if(line, end, [&](const auto* stop) { return stop->area.centre_y() > bottom; });
    std::stable_sort(line, next, [](const auto* a, const auto* b) { return a->area.x0 < b->area.x0; });
    line = next;
  }
}

// Those that no modal overlay covers.
std::vector<const UiState::Stop*> reachable(const UiState& m) {
  std::vector<WidgetId> layers{kGroundLayer};
  for (const UiState::LayerArea& layer : m.last_layers) {
    if (layer.modal) layers.clear();
    layers.push_back(layer.id);
  }
  std::vector<const UiState::Stop*> stops;
  for (const UiState::Stop& stop : m.last_stops)
    if (std::ranges::find(layers, stop.layer) != layers.end()) stops.push_back(&stop);
  for (auto from = stops.begin(); from != stops.end();) {
    const auto to = std::find_if(from, stops.end(), [&](const UiState::Stop* stop) {
      return stop->layer != (*from)->layer || stop->panel != (*from)->panel;
    });
    sort_as_read((*from)->kind == StopKind::Panel ? from + 1 : from, to);
    from = to;
  }
  return stops;
}

}  // namespace

void Ui::move_focus() {
  UiState& m = memory_;
  Frame& f = *frame_;
  // A press takes the focus away: the hand is at the pointer again.
  if (input.pressed[kLeftButton] || input.pressed[kRightButton]) {
    m.at = {};
    f.focus_moved = true;
  }
  if (f.popup_at_start) return;
  for (const KeyPress& press : input.keys) {
    if (press.key == Key::Escape && unchorded(press) && m.at.takes_keys()) {
      m.at = {};
      f.escape_taken = true;
    }
    if (press.key != Key::Tab || !unchorded(press) || (m.focus != 0 && m.focus_keeps_tab)) continue;
    const std::vector<const UiState::Stop*> stops = reachable(m);
    if (stops.empty()) continue;
    const std::size_t count = stops.size();
    const auto here = static_cast<std::size_t>(
        std::ranges::find(stops, m.at.id, [](const UiState::Stop* stop) { return stop->id; }) - stops.begin());
    std::size_t next = 0;
    if (here < count) {
      next = (here + (press.modifiers.shift ? count - 1 : 1)) % count;
    } else if (press.modifiers.shift) {
      next = count - 1;
    } else {  // what is worked on comes before bars and menus
      const auto panel = std::ranges::find(stops, StopKind::Panel, &UiState::Stop::kind);
      next = panel == stops.end() ? 0 : static_cast<std::size_t>(panel - stops.begin());
    }
    const UiState::Stop& stop = *stops[next];
    if (stop.panel != m.at.panel || stop.kind == StopKind::Panel)
      run("panel.focus " + (stop.panel.empty() ? "none" : stop.panel));
    m.at = stop;
    m.focus = stop.kind == StopKind::Field ? stop.id : 0;
    f.focus_moved = true;
  }
}

bool Ui::add_stop(WidgetId wid, Rect area, StopKind kind) {
  Frame& f = *frame_;
  if (!f.clips.empty()) area = area.intersected(f.clips.back());
  if (area.empty()) return false;
  const std::string panel = f.layers.size() == 1 ? f.stop_panel : std::string();
  const UiState::Stop stop{wid, f.layers.back(), area, panel, kind};
  memory_.stops.push_back(stop);
  if (memory_.at.id != wid) return false;
  memory_.at = stop;  // where it is now
  return true;
}

bool Ui::pressed_by_key() const {
  return !frame_->popup_at_start && std::ranges::any_of(input.keys, [](const KeyPress& press) {
    return unchorded(press) && !press.modifiers.shift && (press.key == Key::Enter || press.key == Key::Space);
  });
}

Interaction Ui::pressable(std::string_view name, Rect area, bool enabled, Cursor shape) {
  Interaction i = interact(name, area, shape);
  if (enabled && add_stop(id(name), area, StopKind::Press) && pressed_by_key()) i.pressed = i.clicked = true;
  return i;
}

std::optional<double> Ui::stepped_by_key(double value, double low, double high) const {
  if (frame_->popup_at_start) return {};
  const double before = value;
  for (const KeyPress& press : input.keys) {
    if (!unchorded(press)) continue;
    if (press.key == Key::Left) value -= kSliderStep * (high - low);
    if (press.key == Key::Right) value += kSliderStep * (high - low);
  }
  value = std::clamp(value, low, high);
  return value != before ? std::optional(value) : std::nullopt;
}

bool Ui::takes(const KeyPress& press) const {
  if (press.key == Key::Tab && unchorded(press)) return true;
  if (press.key == Key::Escape) return frame_->escape_taken;
  if (!unchorded(press) || !memory_.at.takes_keys()) return false;
  if (memory_.at.kind == StopKind::Slider && (press.key == Key::Left || press.key == Key::Right)) return true;
  return !press.modifiers.shift && (press.key == Key::Enter || press.key == Key::Space);
}

void Ui::panel_stop(std::string_view name, Rect area, bool focused) {
  UiState& m = memory_;
  frame_->stop_panel = name;
  const WidgetId wid = mix_id(kGroundLayer, name);
  add_stop(wid, area, StopKind::Panel);
  if (frame_->focus_moved || focused == (m.at.panel == name)) return;
  // By a command, not by Tab.
  if (focused)
    m.at = m.stops.back();
  else
    m.at = {};
}

void Ui::end_panel_stop() { frame_->stop_panel.clear(); }
bool Ui::control_focused() const { return memory_.at.takes_keys(); }

void Ui::finish_focus() {
  UiState& m = memory_;
  const auto here = std::ranges::find(m.stops, m.at.id, &UiState::Stop::id);
  if (here == m.stops.end())
    m.at = {};
  else if (m.at.takes_keys() && m.menu.owner == 0)
    painter.stroke_rect(here->area.inset(-(kRing + kRingGap)), theme.accent, kRing, kRingRadius);
  m.last_stops = std::exchange(m.stops, {});
}

}  // namespace headroom
