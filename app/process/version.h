// Which Headroom this is. Written by the build (version.cmake); safe from any thread.
#pragma once

namespace headroom {

extern const char* const kVersion;      // as in CMakeLists.txt
extern const char* const kReleaseDate;  // of that version, year-month-day
extern const char* const kGitCommit;    // twelve hex digits, -dirty after changes, or "unknown"

}  // namespace headroom
