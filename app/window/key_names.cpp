#include "app/window/key_names.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <cstring>

namespace headroom {
namespace {

Key offset_key(Key first, int by) { return static_cast<Key>(static_cast<int>(first) + by); }

Key special_key(int key) {
  if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12) return offset_key(Key::F1, key - GLFW_KEY_F1);
  if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return letter_key(static_cast<char>('0' + key - GLFW_KEY_KP_0));
  switch (key) {
    case GLFW_KEY_LEFT: return Key::Left;
    case GLFW_KEY_RIGHT: return Key::Right;
    case GLFW_KEY_UP: return Key::Up;
    case GLFW_KEY_DOWN: return Key::Down;
    case GLFW_KEY_HOME: return Key::Home;
    case GLFW_KEY_END: return Key::End;
    case GLFW_KEY_PAGE_UP: return Key::PageUp;
    case GLFW_KEY_PAGE_DOWN: return Key::PageDown;
    case GLFW_KEY_ENTER:
    case GLFW_KEY_KP_ENTER: return Key::Enter;
    case GLFW_KEY_ESCAPE: return Key::Escape;
    case GLFW_KEY_TAB: return Key::Tab;
    case GLFW_KEY_BACKSPACE: return Key::Backspace;
    case GLFW_KEY_DELETE: return Key::Delete;
    case GLFW_KEY_SPACE: return Key::Space;
    case GLFW_KEY_KP_ADD: return Key::Equal;
    case GLFW_KEY_KP_SUBTRACT: return Key::Minus;
    default: return Key::None;
  }
}

// A key of the table by its character; None for others.
Key character_key(int c) {
  if (c >= 'a' && c <= 'z') return letter_key(static_cast<char>(c - 'a' + 'A'));
  if (c >= 'A' && c <= 'Z') return letter_key(static_cast<char>(c));
  if (c > 0 && c < 127 && std::strchr("0123456789,-./=", c)) return letter_key(static_cast<char>(c));
  if (c == '+') return Key::Equal;
  return Key::None;
}

}  // namespace

Key key_from_glfw(int key, int scancode) {
  if (const Key special = special_key(key); special != Key::None) return special;
  if (key >= GLFW_KEY_0 && key <= GLFW_KEY_9) return character_key(key);
  if (const char* name = glfwGetKeyName(key, scancode); name && name[0] && !name[1]) {
    if (const Key named = character_key(name[0]); named != Key::None) return named;
  }
  return character_key(key);
}

Modifiers modifiers_from_glfw(int mods) {
  return {.ctrl = (mods & (GLFW_MOD_CONTROL | GLFW_MOD_SUPER)) != 0,
          .shift = (mods & GLFW_MOD_SHIFT) != 0,
          .alt = (mods & GLFW_MOD_ALT) != 0};
}

}  // namespace headroom
