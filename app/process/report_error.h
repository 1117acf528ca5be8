// How every command says that it failed: one line on stderr, a hint below it, with --json the error object on stdout,
// and the exit code. Main thread only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/base/error.h"

namespace headroom {

inline constexpr int kPartialResult = 8;  // exit code: what could be done is done

// {code, message, file, tensor, offset, expected, found, hint}; members that do not apply are null.
[[nodiscard]] nlohmann::ordered_json error_object(const Error& error);

// {"error": …} as one line.
[[nodiscard]] std::string error_json(const Error& error);

// Returns the exit code for the command.
[[nodiscard]] int report_error(const Error& error, bool json);

// The same for what no command expected: a bug of the program, code "bug", exit code 70.
[[nodiscard]] int report_bug(const std::string& what, bool json);

}  // namespace headroom
