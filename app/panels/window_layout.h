// Where the panels lie: a pure function of the window's size, what is shown, and what the person dragged or folded.
// Safe from any thread.
#pragma once

#include <vector>

#include "app/plot/geometry.h"
#include "app/session/state.h"

namespace headroom {

struct WindowLayout {
  Rect menu, tool_bar, status;
  Rect start;                        // nothing open: all between tool bar and status bar
  Rect heads, centre, side, tokens;  // empty: not shown
  bool heads_rail = false, side_rail = false, tokens_rail = false;
  enum class Side { Head, Columns, Model, Change, Compare, Where } side_kind = Side::Head;
};

inline constexpr float kRail = 28.0f;

[[nodiscard]] WindowLayout window_layout(Rect window, const State& state);

// The panels that are there and not folded, in reading order, by their names in Layout.
struct ShownPanel {
  const char* name;
  Rect rect;
};
[[nodiscard]] std::vector<ShownPanel> shown_panels(const WindowLayout& layout);

}  // namespace headroom
