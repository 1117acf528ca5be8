// Events of the window system as Input, one per frame: what must not be seen at once is parted into several. Main
// thread only.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "app/ui/input.h"

namespace headroom {

class InputQueue {
 public:
  InputQueue() { inputs_.emplace_back(); }

  // Logical pixels, `time` in seconds.
  void pointer_moved(Vec2 to);
  void pointer_inside(bool inside);
  void button(int number, bool down, Modifiers modifiers, double time);
  void wheel(Vec2 notches, Modifiers modifiers);
  void key(Key key, bool down, bool repeat, Modifiers modifiers);
  void character(char32_t code_point, Modifiers modifiers);
  void dropped(std::vector<std::string> paths);
  void focused(bool focused);

  // The oldest Input; the one after it begins with the same pointer and held buttons.
  [[nodiscard]] Input take();
  [[nodiscard]] bool left() const;  // something happened that take() has not returned

 private:
  Input& next();  // another Input, with what lasts

  std::deque<Input> inputs_;  // never empty
  bool touched_ = false;      // the newest one holds something
  double last_press_ = -1.0e9;
  Vec2 last_press_at_;
  int clicks_ = 0;
};

}  // namespace headroom
