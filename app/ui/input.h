// What the person did since the last frame, in logical pixels. Plain data; main thread only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/plot/geometry.h"

namespace headroom {

// Letters and digits by their place in ASCII ('A'…'Z', '0'…'9'); the others from 128 on.
enum class Key : std::uint8_t {
  None = 0,
  // clang-format off
  Comma = ',', Minus = '-', Period = '.', Slash = '/', Equal = '=', Question = '?',
  Left = 128, Right, Up, Down, Home, End, PageUp, PageDown, Enter, Escape, Tab, Backspace, Delete, Space,
  F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12,
  // clang-format on
};
[[nodiscard]] constexpr Key letter_key(char upper) { return static_cast<Key>(upper); }

struct Modifiers {
  bool ctrl = false, shift = false, alt = false;
  friend bool operator==(Modifiers, Modifiers) = default;
};

struct KeyPress {
  Key key = Key::None;
  Modifiers modifiers;
  bool repeat = false;
};

enum class Cursor : std::uint8_t { Arrow, Hand, Text, ResizeHorizontal, ResizeVertical, Move, Crosshair };

inline constexpr int kLeftButton = 0, kRightButton = 1, kMiddleButton = 2;

struct Input {
  Vec2 pointer{-1.0f, -1.0f};
  bool pointer_inside = false;  // in the window
  std::array<bool, 3> down{}, pressed{}, released{};
  int clicks = 0;  // of the left button's press in this frame: 2 for a double click
  Vec2 wheel;      // notches; y > 0 away from the person
  Modifiers modifiers;
  std::vector<KeyPress> keys, released_keys;
  std::string text;                  // UTF-8 typed
  std::vector<std::string> dropped;  // paths
  bool focused = true;               // the window has the keyboard
  double time = 0.0;                 // seconds, monotonic
  Rect window;                       // 0, 0, width, height
};

// What belonged to one frame is over; pointer, buttons held and time stay.
inline void forget_frame(Input& input) {
  input.pressed = input.released = {};
  input.clicks = 0;
  input.wheel = {};
  input.keys.clear();
  input.released_keys.clear();
  input.text.clear();
  input.dropped.clear();
}

}  // namespace headroom
