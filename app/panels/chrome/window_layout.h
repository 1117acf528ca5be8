// Where the panels lie: a pure function of the window's size, what is shown, and what the person dragged or folded.
// Safe from any thread.
#pragma once

#include <array>

#include "app/panels/panel.h"
#include "app/plot/geometry.h"
#include "app/session/state.h"

namespace headroom {

// One of the four places for panels.
struct PanelSlot {
  const char* name;  // of commands ("panel.fold heads") and in Layout
  Rect rect{};       // empty: not shown
  const PanelInfo* panel = nullptr;
  bool folded = false;  // to a rail, or to its title
  [[nodiscard]] bool shown() const { return panel && !rect.empty(); }
  [[nodiscard]] bool drawn() const { return shown() && !folded; }
  // What the panel draws into.
  [[nodiscard]] Rect area() const { return drawn() ? rect : Rect{}; }
};

struct WindowLayout {
  Rect menu, tool_bar, status;
  Rect start;  // nothing open: all between tool bar and status bar
  PanelSlot heads{"heads"}, centre{"map"}, side{"head"}, tokens{"tokens"};
  [[nodiscard]] std::array<const PanelSlot*, 4> slots() const { return {&heads, &centre, &side, &tokens}; }
};

inline constexpr float kRail = 28.0f;

// Which panel is in which slot, and where.
[[nodiscard]] WindowLayout window_layout(Rect window, const State& state);

}  // namespace headroom
