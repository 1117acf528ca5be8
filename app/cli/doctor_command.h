// `headroom doctor`: versions, devices, threads, what works here and what does not. Main thread only.
#pragma once

#include "app/process/window_program.h"

namespace headroom {

// Exit code of what computes; a window is not needed for that.
[[nodiscard]] int run_doctor(bool json, const WindowProgram& window_program);

}  // namespace headroom
