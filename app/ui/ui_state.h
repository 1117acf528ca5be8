// What the widgets keep between frames and within one. Internal to app/ui. Main thread only.
#pragma once

#include <any>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/ui/text_edit.h"
#include "app/ui/text_wrap.h"
#include "app/ui/ui.h"

namespace headroom {

inline constexpr WidgetId kGroundLayer = 0;
inline constexpr float kDragDistance = 4.0f;
inline constexpr double kTooltipDelay = 0.4;
inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct FieldMemory {
  TextEdit edit;
  std::string given;  // what the caller passed last
  bool multiline = false;
  std::vector<TextLine> lines;  // as they are drawn
  std::uint64_t lines_revision = ~std::uint64_t{0};
  float lines_width = -1.0f;
  float scroll_x = 0.0f, scroll_y = 0.0f;
  float wanted_x = -1.0f;  // of the caret while it moves up and down
  double edited_at = 0.0;
  std::uint64_t seen_caret = ~std::uint64_t{0};
};

struct UiState {
  struct HitArea {
    WidgetId id = 0, layer = 0;
    Rect area;
    bool wheel = false;  // a scroll view: takes the wheel only
  };
  struct LayerArea {
    WidgetId id = 0;
    Rect area;
    bool modal = false;
  };
  struct ScrollState {
    double offset = 0.0;   // where it is
    float grabbed = 0.0f;  // of the knob, from its top
    bool has_target = false;
    float target_top = 0.0f, target_bottom = 0.0f;
  };
  template <typename T>
  struct Kept {
    T value{};
    bool used = true;
  };
  struct MenuLevel {
    int hot = -1;  // index in the items
    float scroll = 0.0f;
    bool by_key = false;  // the last move came from the keyboard
  };
  // What Tab reaches.
  struct Stop {
    WidgetId id = 0, layer = 0;
    Rect area;
    std::string panel;  // that it is in; empty: in none
    StopKind kind = StopKind::Press;
    // Enter and Space are its own.
    [[nodiscard]] bool takes_keys() const { return id != 0 && (kind == StopKind::Press || kind == StopKind::Slider); }
  };
  enum class MenuKind : std::uint8_t { Combo, Button, Context };
  struct MenuButton {
    WidgetId id = 0, group = 0;  // group: its scope
    Rect area;
  };
  struct Menu {
    WidgetId owner = 0;  // 0: none is open
    MenuKind kind = MenuKind::Combo;
    Rect anchor;
    std::vector<MenuLevel> levels;
    Vec2 opened_at;
    bool armed = false;  // a press inside, or a drag from the button: letting go chooses
    bool fresh = true;   // opened in this frame: its keys are not the menu's
  };

  std::vector<HitArea> hits, last_hits;
  std::vector<LayerArea> layers, last_layers;
  std::vector<MenuButton> menu_buttons, last_menu_buttons;
  WidgetId active = 0;
  bool dragging = false, drag_began = false;
  Vec2 pressed_at, last_pointer{-1.0f, -1.0f};
  WidgetId focus = 0;  // the text field that has the keyboard
  bool focus_used = false, focus_keeps_tab = false;
  std::vector<Stop> stops, last_stops;
  Stop at;  // where Tab is; id 0: nowhere
  Menu menu;
  WidgetId open_request = 0;
  bool open_request_waits = false;  // it was made after its button was drawn
  std::unordered_map<WidgetId, ScrollState> scrolls;
  std::unordered_map<WidgetId, FieldMemory> fields;
  std::unordered_map<WidgetId, Kept<std::string>> texts;
  std::unordered_map<WidgetId, Kept<double>> numbers;
  std::unordered_map<WidgetId, Kept<std::any>> values;
  std::unordered_map<WidgetId, bool> names, last_names;
  std::string tip;
  Rect tip_area;
  double tip_since = 0.0;
  bool tip_shown = false;
};

struct Ui::Frame {
  std::vector<WidgetId> scopes{0x9E3779B97F4A7C15ull};
  std::vector<Rect> clips;
  std::vector<WidgetId> layers{kGroundLayer};
  std::vector<std::string> commands;
  WidgetId top_layer = kGroundLayer;  // of the pointer; with `covered` nothing of it is there
  bool covered = false;
  WidgetId hot = 0, wheel_target = 0;
  Cursor cursor = Cursor::Arrow;
  bool text_at_start = false, popup_at_start = false, keys_taken = false;
  std::vector<MenuItem> menu_items;
  bool menu_owner_seen = false;
  std::string stop_panel;  // of the controls that are drawn
  bool focus_moved = false, escape_taken = false;
  std::string tip;
  Rect tip_area;
  bool tip_wanted = false;
  double wait = kNever;
};

[[nodiscard]] WidgetId mix_id(WidgetId scope, std::string_view name);
// The largest whole-pixel position at or below, so that glyphs and hairlines stay crisp.
[[nodiscard]] inline float whole(float x) { return std::round(x); }
// Filled downward triangle of combos, `width` wide.
void draw_triangle(Painter& painter, Vec2 centre, float width, Color color, bool right = false);

}  // namespace headroom
