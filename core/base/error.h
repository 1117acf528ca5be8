// Expected failures (bad file, unknown model, no device) as values, with everything a message needs: what, which file,
// tensor and byte, why, what to do. Immutable after construction; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace headroom {

enum class ErrorCode {
  NotFound,         // a path or name that does not exist
  Corrupt,          // input damaged or refused
  Unsupported,      // a format, dtype or architecture this program does not run
  InvalidArgument,  // the command line or an API argument
  OutOfMemory,      // memory or another limit (regex steps, prompt size)
  Cancelled,        // stopped by the user
  Device,           // GPU
  Io,               // missing permission, disk full, read error
};

// `message` is one sentence. The context members are optional and empty when they do not apply.
struct Error {
  ErrorCode code = ErrorCode::Corrupt;
  std::string message;
  std::string file;
  std::string tensor;  // or config field
  std::optional<std::uint64_t> offset;
  std::string expected;
  std::string found;
  std::string hint;

  Error() = default;
  Error(ErrorCode error_code, std::string text) : code(error_code), message(std::move(text)) {}

  Error& in_file(std::string_view value);
  Error& at_tensor(std::string_view value);
  Error& at_offset(std::uint64_t value);
  Error& wanted(std::string_view expected_value, std::string_view found_value);
  Error& advise(std::string_view value);
};

// Lower-case name of the code for JSON output: "not_found", "corrupt", …
[[nodiscard]] std::string_view code_name(ErrorCode code);

// The exit code of the command line (docs: README, exit codes).
[[nodiscard]] int exit_code(ErrorCode code);

// One line without newline: message, then tensor, offset, expected/found and file, each only where present. Control
// bytes and bidirectional overrides from files are escaped. The hint is not part of it.
[[nodiscard]] std::string describe(const Error& error);

// `text` with control bytes, invalid UTF-8 and bidirectional formatting characters shown as \xNN or \u{NNNN}.
[[nodiscard]] std::string escape_for_terminal(std::string_view text);

}  // namespace headroom
