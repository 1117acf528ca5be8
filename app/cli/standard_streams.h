// What the process inherits as standard input, output and error, made safe to use. Main thread only.
#pragma once

namespace headroom {

// Where 0, 1 or 2 is closed, the next file opened would get that number and messages would be written into it.
void occupy_closed_streams();

// The exit code after everything printed has reached standard output: `code`, or that of the failure, which is
// reported. One that was closed from the start is nobody's loss.
[[nodiscard]] int flush_standard_output(int code);

}  // namespace headroom
