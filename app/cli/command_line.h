// The command line: parses it and runs the command. Main thread only.
#pragma once

#include "app/process/window_program.h"

namespace headroom {

// The exit code of the process.
[[nodiscard]] int run_command_line(int argc, char** argv, const WindowProgram& window_program);

}  // namespace headroom
