// A person's hands for scripts: pointer, clicks, drags, wheel and keys as the inputs of the frames they take. Main
// thread only.
#pragma once

#include <array>
#include <deque>

#include "app/session/session.h"
#include "app/ui/input.h"

namespace headroom {

class SyntheticInput {
 public:
  // Pointer, Click, Drag, Wheel, KeyPress and TypeText; others are none of its business: false.
  bool add(const WindowRequest& request);
  [[nodiscard]] bool pending() const { return !frames_.empty(); }
  // What the script's hands do in this frame, in place of the real ones; the pointer stays where it was left.
  void apply(Input& input);

 private:
  void move(Vec2 to);

  std::deque<Input> frames_;
  Vec2 pointer_{-1.0f, -1.0f};
  std::array<bool, 3> down_{};
};

}  // namespace headroom
