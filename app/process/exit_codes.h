// What the exit codes of the process say.
#pragma once

namespace headroom {

struct ExitCode {
  int code;
  const char* meaning;
};

inline constexpr ExitCode kExitCodes[] = {
    {0, "ok"},          {1, "not equal"},       {2, "usage"},  {3, "damaged input"},  {4, "unsupported"},
    {5, "file access"}, {6, "memory or limit"}, {7, "device"}, {8, "partial result"}, {70, "bug"},
    {130, "cancelled"},
};

}  // namespace headroom
