// printf-style text of any length as a std::string.
#include <cstddef>
#include <string>

#include "core/base/format.h"

#include "tests/support/catch.h"

namespace headroom::test {

CATCH_TEST_CASE("format: the text that printf would print") {
  CATCH_CHECK(format("plain") == "plain");
  CATCH_CHECK(format("%d%%, %s, %.3f, %lld", 7, "seven", 0.5, -9223372036854775807LL) ==
              "7%, seven, 0.500, -9223372036854775807");
  CATCH_CHECK(format("%s", "").empty());
  CATCH_CHECK(format("λ = %g · %s", 0.25, "über") == "λ = 0.25 · über");
}

CATCH_TEST_CASE("format: no length is too long, and a NUL is a character") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{255}, std::size_t{4096}, std::size_t{1} << 20}) {
    const std::string long_text(size, 'x');
    CATCH_CHECK(format("<%s>", long_text.c_str()) == "<" + long_text + ">");
  }
  CATCH_CHECK(format("a%cb", 0) == std::string("a\0b", 3));
}

}  // namespace headroom::test
