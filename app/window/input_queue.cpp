#include "app/window/input_queue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "core/base/utf8.h"

namespace headroom {
namespace {

constexpr double kDoubleClickSeconds = 0.4;
constexpr float kDoubleClickReach = 4.0f;

bool any(const std::array<bool, 3>& flags) { return flags[0] || flags[1] || flags[2]; }

// Keys whose press comes with a character, which a text field takes instead.
bool printing(Key key) { return key == Key::Space || (static_cast<int>(key) > 32 && static_cast<int>(key) < 127); }

// What is left of an Input for the one after it.
Input lasting(const Input& before) {
  Input after;
  after.pointer = before.pointer;
  after.pointer_inside = before.pointer_inside;
  after.down = before.down;
  after.modifiers = before.modifiers;
  after.focused = before.focused;
  return after;
}

}  // namespace

Input& InputQueue::next() { return inputs_.emplace_back(lasting(inputs_.back())); }

void InputQueue::pointer_moved(Vec2 to) {
  Input* input = &inputs_.back();
  if (any(input->pressed) || any(input->released)) input = &next();
  input->pointer = to;
  touched_ = true;
}

void InputQueue::pointer_inside(bool inside) {
  inputs_.back().pointer_inside = inside;
  touched_ = true;
}

void InputQueue::button(int number, bool down, Modifiers modifiers, double time) {
  if (number < 0 || number > 2) return;
  const auto b = static_cast<std::size_t>(number);
  Input* input = &inputs_.back();
  if (input->pressed[b] || input->released[b]) input = &next();
  input->down[b] = down;
  (down ? input->pressed : input->released)[b] = true;
  input->modifiers = modifiers;
  if (down && number == kLeftButton) {
    const Vec2 moved = input->pointer - last_press_at_;
    const bool again = time - last_press_ <= kDoubleClickSeconds && std::abs(moved.x) <= kDoubleClickReach &&
                       std::abs(moved.y) <= kDoubleClickReach;
    clicks_ = again ? clicks_ + 1 : 1;
    last_press_ = time;
    last_press_at_ = input->pointer;
    input->clicks = clicks_;
  }
  touched_ = true;
}

void InputQueue::wheel(Vec2 notches, Modifiers modifiers) {
  Input& input = inputs_.back();
  input.wheel = input.wheel + notches;
  input.modifiers = modifiers;
  touched_ = true;
}

void InputQueue::key(Key key, bool down, bool repeat, Modifiers modifiers) {
  Input* input = &inputs_.back();
  if (down && !printing(key) && !input->text.empty()) input = &next();
  input->modifiers = modifiers;
  if (key != Key::None) (down ? input->keys : input->released_keys).push_back({key, modifiers, repeat});
  touched_ = true;
}

void InputQueue::character(char32_t code_point, Modifiers modifiers) {
  Input* input = &inputs_.back();
  if (std::any_of(input->keys.begin(), input->keys.end(), [](const KeyPress& k) { return !printing(k.key); }))
    input = &next();
  append_utf8(input->text, code_point);
  if (code_point == U'?') input->keys.push_back({Key::Question, modifiers, false});
  touched_ = true;
}

void InputQueue::dropped(std::vector<std::string> paths) {
  auto& all = inputs_.back().dropped;
  all.insert(all.end(), std::make_move_iterator(paths.begin()), std::make_move_iterator(paths.end()));
  touched_ = true;
}

void InputQueue::focused(bool focused) {
  Input& input = inputs_.back();
  input.focused = focused;
  if (!focused) input.modifiers = {};
  touched_ = true;
}

Input InputQueue::take() {
  Input input = std::move(inputs_.front());
  if (inputs_.size() == 1) {
    inputs_.front() = lasting(input);
    touched_ = false;
  } else {
    inputs_.pop_front();
  }
  return input;
}

bool InputQueue::left() const { return touched_; }

}  // namespace headroom
