// UTF-8 by The Unicode Standard, table 3-7 (well-formed byte sequences): every scalar value, every boundary of the
// table, and what an invalid byte becomes.
#include "core/base/utf8.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <string>
#include <string_view>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

struct ScalarCase {
  std::string_view bytes;
  char32_t code_point;
};

constexpr ScalarCase kFirstAndLast[] = {
    {std::string_view("\x00", 1), 0x0},
    {"\x7F", 0x7F},
    {"\xC2\x80", 0x80},
    {"\xDF\xBF", 0x7FF},
    {"\xE0\xA0\x80", 0x800},
    {"\xE0\xBF\xBF", 0xFFF},
    {"\xE1\x80\x80", 0x1000},
    {"\xEC\xBF\xBF", 0xCFFF},
    {"\xED\x80\x80", 0xD000},
    {"\xED\x9F\xBF", 0xD7FF},
    {"\xEE\x80\x80", 0xE000},
    {"\xEF\xBF\xBF", 0xFFFF},
    {"\xF0\x90\x80\x80", 0x10000},
    {"\xF0\xBF\xBF\xBF", 0x3FFFF},
    {"\xF1\x80\x80\x80", 0x40000},
    {"\xF3\xBF\xBF\xBF", 0xFFFFF},
    {"\xF4\x80\x80\x80", 0x100000},
    {"\xF4\x8F\xBF\xBF", 0x10FFFF},
};

// No prefix of these is a scalar.
constexpr std::string_view kInvalid[] = {
    "\x80",
    "\xBF",  // continuation without a lead
    "\xC0\x80",
    "\xC1\xBF",
    "\xE0\x80\x80",
    "\xE0\x9F\xBF",  // overlong
    "\xF0\x80\x80\x80",
    "\xF0\x8F\xBF\xBF",  // overlong
    "\xED\xA0\x80",
    "\xED\xBF\xBF",  // surrogates
    "\xF4\x90\x80\x80",
    "\xF5\x80\x80\x80",
    "\xFE",
    "\xFF",  // beyond U+10FFFF
    "\xC2",
    "\xE1\x80",
    "\xF1\x80\x80",  // cut off
    "\xC2\x41",
    "\xE1\x80\x41",
    "\xE1\x41\x80",
    "\xF1\x80\x80\x41",
};

const std::string kReplacement = "\xEF\xBF\xBD";

}  // namespace

CATCH_TEST_CASE("utf8: the ends of every range of the standard's table") {
  for (const ScalarCase& example : kFirstAndLast) {
    CATCH_INFO(std::hex << static_cast<std::uint32_t>(example.code_point));
    const Utf8Scalar scalar = decode_utf8(std::string(example.bytes) + "tail");
    CATCH_CHECK(scalar.valid);
    CATCH_CHECK(scalar.code_point == example.code_point);
    CATCH_CHECK(scalar.size_bytes == example.bytes.size());
    CATCH_CHECK(is_valid_utf8(example.bytes));
    std::string encoded;
    append_utf8(encoded, example.code_point);
    CATCH_CHECK(encoded == example.bytes);
  }
}

CATCH_TEST_CASE("utf8: every scalar value survives encoding and decoding, and surrogates do not decode") {
  std::size_t wrong = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    std::string text;
    append_utf8(text, c);
    const Utf8Scalar scalar = decode_utf8(text);
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    const bool right = surrogate ? !scalar.valid && scalar.size_bytes == 1
                                 : scalar.valid && scalar.code_point == c && scalar.size_bytes == text.size();
    wrong += right ? 0 : 1;
  }
  CATCH_CHECK(wrong == 0);
}

CATCH_TEST_CASE("utf8: an invalid sequence is one invalid byte, given back as it is") {
  for (const std::string_view bytes : kInvalid) {
    CATCH_INFO("first byte " << std::hex << static_cast<unsigned>(static_cast<unsigned char>(bytes.front()))
                             << ", bytes " << bytes.size());
    const Utf8Scalar scalar = decode_utf8(bytes);
    CATCH_CHECK_FALSE(scalar.valid);
    CATCH_CHECK(scalar.size_bytes == 1);
    CATCH_CHECK(scalar.code_point == static_cast<unsigned char>(bytes.front()));
    CATCH_CHECK_FALSE(is_valid_utf8("ok" + std::string(bytes)));
  }
}

CATCH_TEST_CASE("utf8: every invalid byte becomes U+FFFD, valid text around it stays") {
  CATCH_CHECK(to_valid_utf8("") == "");
  CATCH_CHECK(is_valid_utf8(""));
  CATCH_CHECK(to_valid_utf8("naïve 😀") == "naïve 😀");
  CATCH_CHECK(to_valid_utf8("a\xFF"
                            "b") == "a" + kReplacement + "b");
  CATCH_CHECK(to_valid_utf8("\xE2\x82") == kReplacement + kReplacement);
  CATCH_CHECK(to_valid_utf8("\xE2\x82\xAC\x82") == "€" + kReplacement);
  CATCH_CHECK(to_valid_utf8("\xED\xA0\x80") == kReplacement + kReplacement + kReplacement);
  CATCH_CHECK(is_valid_utf8(to_valid_utf8("\xF0\x9F\x98\xC3\x28")));
}

}  // namespace headroom::test
