// The window program: the session, the frame loop, and what goes between them. Main thread only.
#pragma once

#include <string>

#include "app/process/window_program.h"

namespace headroom {

// WindowProgram::run and ::command_table.
[[nodiscard]] int run_window(const WindowArguments& arguments);

[[nodiscard]] std::string command_table_text(bool markdown);

}  // namespace headroom
