// What `headroom doctor` says of the window: it opens one that is never shown. Main thread only.
#pragma once

#include <vector>

#include "app/process/window_program.h"

namespace headroom {

// WindowProgram::examine: window ("works", or what is missing), display, opengl, fonts.
[[nodiscard]] std::vector<WindowFact> examine_window();

}  // namespace headroom
