// GLFW's keys as the program's. Main thread only: asks for the keyboard's layout.
#pragma once

#include "app/ui/input.h"

namespace headroom {

// Letters and punctuation by what the person's layout has on the key, digits and the others by the key itself.
[[nodiscard]] Key key_from_glfw(int key, int scancode);
[[nodiscard]] Modifiers modifiers_from_glfw(int mods);

}  // namespace headroom
