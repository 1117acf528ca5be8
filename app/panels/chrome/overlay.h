// What lies over the window: one box at a time, with a scrim under it. Main thread only.
#pragma once

#include <string_view>

#include "app/panels/panel.h"

namespace headroom {

void draw_overlay(PanelContext& context, Rect window);  // palette, keys, settings, about, log, files, prompt

// The scrim and the box, `wanted` pixels large or what the window has, centred, its top at `top` pixels or higher; a
// click beside it closes it. To be followed by end_box().
[[nodiscard]] Rect begin_box(PanelContext& context, std::string_view name, Rect window, Vec2 wanted, float top = -1.0f);
// Whether it closes in this frame: a click beside it, or Escape while one types in it.
[[nodiscard]] bool closes_box(const Ui& ui, const Rect& box);
void end_box(PanelContext& context);

// The head of a box: title, hint, how it is closed. Returns what is left.
[[nodiscard]] Rect draw_box_title(PanelContext& context, Rect box, std::string_view title, std::string_view hint,
                                  std::string_view close_line);

}  // namespace headroom
