#include "app/session/synthetic_input.h"

#include <cstddef>
#include <utility>

namespace headroom {
namespace {

constexpr int kDragSteps = 8;

Vec2 point(const WindowRequest& request, std::size_t at) {
  return {static_cast<float>(request.numbers[at]), static_cast<float>(request.numbers[at + 1])};
}

}  // namespace

void SyntheticInput::move(Vec2 to) {
  Input frame;
  frame.pointer = to;
  frame.down = down_;
  frames_.push_back(frame);
}

bool SyntheticInput::add(const WindowRequest& request) {
  using Kind = WindowRequest::Kind;
  const auto press = [&](Vec2 at, int button, bool pressed) {
    down_[static_cast<std::size_t>(button)] = pressed;
    Input frame;
    frame.pointer = at;
    frame.down = down_;
    (pressed ? frame.pressed : frame.released)[static_cast<std::size_t>(button)] = true;
    if (pressed && button == kLeftButton) frame.clicks = 1;
    frames_.push_back(frame);
  };
  switch (request.kind) {
    case Kind::Pointer: move(point(request, 0)); return true;
    case Kind::Click: {
      const int button = request.numbers.size() > 2 ? static_cast<int>(request.numbers[2]) : kLeftButton;
      move(point(request, 0));
      press(point(request, 0), button, true);
      press(point(request, 0), button, false);
      return true;
    }
    case Kind::Drag: {
      const Vec2 from = point(request, 0), to = point(request, 2);
      move(from);
      press(from, kLeftButton, true);
      for (int i = 1; i <= kDragSteps; ++i) move(from + (to - from) * (static_cast<float>(i) / kDragSteps));
      press(to, kLeftButton, false);
      return true;
    }
    case Kind::Wheel: {
      move(point(request, 0));
      Input frame;
      frame.pointer = point(request, 0);
      frame.wheel = {0.0f, static_cast<float>(request.numbers[2])};
      frames_.push_back(frame);
      return true;
    }
    case Kind::KeyPress: {
      Input frame;
      frame.pointer = frames_.empty() ? pointer_ : frames_.back().pointer;
      if (const auto key = parse_key(request.text)) {
        frame.keys.push_back(*key);
        frame.modifiers = key->modifiers;
      }
      frames_.push_back(frame);
      return true;
    }
    case Kind::TypeText: {
      Input frame;
      frame.pointer = frames_.empty() ? pointer_ : frames_.back().pointer;
      frame.text = request.text;
      frames_.push_back(frame);
      return true;
    }
    default: return false;
  }
}

void SyntheticInput::apply(Input& input) {
  Input hands;
  if (!frames_.empty()) {
    hands = std::move(frames_.front());
    frames_.pop_front();
    pointer_ = hands.pointer;
  } else {
    hands.down = {};
  }
  hands.pointer = pointer_;
  hands.time = input.time;
  hands.window = input.window;
  hands.focused = true;
  hands.pointer_inside = input.window.contains(pointer_);
  hands.dropped = std::move(input.dropped);
  input = std::move(hands);
}

}  // namespace headroom
