// Views that undo returns to, and redo. Main thread only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/session/state.h"

namespace headroom {

class History {
 public:
  explicit History(State& state) : state_(state) {}

  // Before a command changes what is looked at: the place undo returns to. Changes of the same kind within half a
  // second are one.
  void remember(std::string_view kind);
  void undo();
  void redo();
  void clear();
  void update(double now_s) { now_s_ = now_s; }  // seconds, of any beginning

 private:
  void move(std::vector<ViewState>& from, std::vector<ViewState>& to);
  void tell();  // the state, whether there is anything

  State& state_;
  std::vector<ViewState> undo_, redo_;
  std::string last_kind_;
  double last_s_ = -1.0, now_s_ = 0.0;
};

}  // namespace headroom
