// How every command says that it failed: one line on stderr, a hint below it, with --json the error object on stdout,
// and the exit code. Main thread only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/base/error.h"

namespace headroom {

// Exit codes.
inline constexpr int kPartialResult = 8;  // what could be done is done
inline constexpr int kInternalBug = 70;   // a bug of this program

// {code, message, file, tensor, offset, expected, found, hint}; members that do not apply are null.
[[nodiscard]] nlohmann::ordered_json error_object(const Error& error);

// {"error": …} as one line.
[[nodiscard]] std::string error_json(const Error& error);

// Returns the exit code for the command.
[[nodiscard]] int report_error(const Error& error, bool json);

// The same for what no command expected: a bug of the program, code "bug", exit code 70.
[[nodiscard]] int report_bug(const std::string& what, bool json);

}  // namespace headroom
