// Lines of the panels of a corpus: a title with a hint, and a number with its name. Main thread only.
#pragma once

#include <string>

#include "app/panels/panel.h"

namespace headroom {

inline constexpr float kNumberLine = 18.0f;

// The title of a plot at the left, a hint at the right where there is room; cut from the top of `body`.
void heading_line(PanelContext& context, Rect& body, const std::string& title, const std::string& hint);
// "mean 0.786 ± 0.015": a name, a number, what is said of it. Nothing where `body` is too low.
void number_line(PanelContext& context, Rect& body, const std::string& name, const std::string& number,
                 const std::string& more, Color color);

}  // namespace headroom
