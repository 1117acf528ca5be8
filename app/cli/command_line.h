// The command line: parses it and runs the command. Main thread only.
#pragma once

namespace headroom {

// The exit code of the process.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace headroom
