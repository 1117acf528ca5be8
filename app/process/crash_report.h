// A report of the program's own end by a signal that means a bug (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT; an
// exception that nobody caught ends in the last): which program, which signal, the last command lines, the stack. It
// stays on the machine. The process then ends by the same signal as without it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace headroom {

// Writes `header` and the rest to `path` if it comes to that; the file does not exist before. Main thread, once.
void install_crash_report(const std::filesystem::path& path, const std::string& header);
// A line for the report: of the last 32, the first 200 bytes each. Main thread.
void note_for_crash_report(std::string_view line);

}  // namespace headroom
