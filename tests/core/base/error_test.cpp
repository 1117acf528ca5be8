// What a person and a script see of an error: one line with every field, escaped, and the exit code of
// core/checkpoint/FORMATS.md#exit-codes.
#include <string>
#include <string_view>

#include "core/base/error.h"

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

struct CodeCase {
  ErrorCode code;
  std::string_view name;
  int exit;
};

constexpr CodeCase kCodes[] = {
    {ErrorCode::NotFound, "not_found", 5},
    {ErrorCode::Corrupt, "corrupt", 3},
    {ErrorCode::Unsupported, "unsupported", 4},
    {ErrorCode::InvalidArgument, "invalid_argument", 2},
    {ErrorCode::OutOfMemory, "out_of_memory", 6},
    {ErrorCode::Cancelled, "cancelled", 130},
    {ErrorCode::Device, "device", 7},
    {ErrorCode::Io, "io", 5},
};

struct EscapeCase {
  std::string_view text, shown;
};

constexpr EscapeCase kEscapes[] = {
    {"plain, ünïcode, 日本語, 😀, ₂", "plain, ünïcode, 日本語, 😀, ₂"},
    {"a\nb\r\tc", "a\\x0Ab\\x0D\\x09c"},
    {"\x1B[2Jgone", "\\x1B[2Jgone"},
    {std::string_view("nul\0end", 7), "nul\\x00end"},
    {"\x7F", "\\x7F"},
    {"\xC2\x9B"
     "31m",
     "\\u{009B}31m"},                                      // C1: CSI in one character
    {"\xE2\x80\xAEtxt.exe", "\\u{202E}txt.exe"},           // right-to-left override
    {"\xE2\x81\xA6x\xE2\x81\xA9", "\\u{2066}x\\u{2069}"},  // isolates
    {"\xE2\x80\x8F\xE2\x80\x8E", "\\u{200F}\\u{200E}"},    // marks
    {"\xD8\x9C", "\\u{061C}"},                             // Arabic letter mark
    {"\xE2\x80\xA8\xE2\x80\xA9", "\\u{2028}\\u{2029}"},    // line and paragraph separator
    {"\xFF\xC3", "\\xFF\\xC3"},                            // not UTF-8
};

Error full_error() {
  Error error(ErrorCode::Corrupt, "tensor has the wrong size");
  error.in_file("/models/a.safetensors").at_tensor("lm_head.weight").at_offset(96);
  error.wanted("[8, 4]", "[4, 8]").advise("convert it again");
  return error;
}

}  // namespace

CATCH_TEST_CASE("error: names and exit codes of every code") {
  for (const CodeCase& example : kCodes) {
    CATCH_INFO(example.name);
    CATCH_CHECK(code_name(example.code) == example.name);
    CATCH_CHECK(exit_code(example.code) == example.exit);
  }
}

CATCH_TEST_CASE("error: one line with every field that is there, and without the hint") {
  CATCH_CHECK(describe(Error(ErrorCode::Io, "disk full")) == "disk full");
  const std::string line = describe(full_error());
  CATCH_CHECK(
      line ==
      "tensor has the wrong size [lm_head.weight] at byte 96; expected [8, 4], found [4, 8] (/models/a.safetensors)");
  CATCH_CHECK(full_error().hint == "convert it again");

  Error found_only(ErrorCode::Corrupt, "bad magic");
  CATCH_CHECK(describe(found_only.wanted("", "GGUX")) == "bad magic; found GGUX");
  Error expected_only(ErrorCode::Corrupt, "bad magic");
  CATCH_CHECK(describe(expected_only.wanted("GGUF", "")) == "bad magic; expected GGUF");
  Error start(ErrorCode::Corrupt, "bad magic");
  CATCH_CHECK(describe(start.at_offset(0)) == "bad magic at byte 0");
}

CATCH_TEST_CASE("error: the innermost file and tensor are kept") {
  Error error = full_error();
  error.in_file("/models").at_tensor("outer");
  CATCH_CHECK(error.file == "/models/a.safetensors");
  CATCH_CHECK(error.tensor == "lm_head.weight");
}

CATCH_TEST_CASE("error: a hostile file name or tensor name cannot leave its line or write to the terminal") {
  Error error(ErrorCode::NotFound, "no such file");
  error.in_file("evil\n\x1B]0;title\x07\xE2\x80\xAE.gguf").at_tensor("a\r\nb\xFF");
  const std::string line = describe(error);
  CATCH_CHECK(line == "no such file [a\\x0D\\x0Ab\\xFF] (evil\\x0A\\x1B]0;title\\x07\\u{202E}.gguf)");
}

CATCH_TEST_CASE("error: what is escaped for a terminal and what stays") {
  for (const EscapeCase& example : kEscapes) CATCH_CHECK(escape_for_terminal(example.text) == example.shown);
  for (int byte = 0; byte < 0x20; ++byte) {
    const std::string shown = escape_for_terminal(std::string(1, static_cast<char>(byte)));
    CATCH_CHECK(shown.size() == 4);
    CATCH_CHECK(shown.starts_with("\\x"));
  }
}

}  // namespace headroom::test
