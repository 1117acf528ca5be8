#include "core/text/prompt_ids.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace headroom {
namespace {

CATCH_TEST_CASE("parse_ids reads ids between commas and white space") {
  const std::vector<std::int32_t> expected = {1, 22, 2147483647, 0};
  for (const char* text : {"1,22,2147483647,0", "1 22 2147483647 0", " 1 ,\t22\r\n2147483647, 0\n"}) {
    CATCH_INFO(text);
    const auto ids = parse_ids(text);
    CATCH_REQUIRE(ids.has_value());
    CATCH_CHECK(ids.value() == expected);
  }
}

CATCH_TEST_CASE("parse_ids names the position of what it refuses") {
  struct Case {
    const char* text;
    const char* position;
  };
  for (const Case& c : {Case{"", "position 1 "}, Case{"  ", "position 3 "}, Case{"1,,2", "position 3 "},
                        Case{",1", "position 1 "}, Case{"1,", "position 3 "}, Case{"12 x3", "position 4 "},
                        Case{"1 -2", "position 3 "}, Case{"7 2147483648", "position 3 "}, Case{"1.5", "position 1 "},
                        Case{"3 99999999999999999999999", "position 3 "}, Case{"1;2", "position 1 "}}) {
    CATCH_INFO(c.text);
    const auto ids = parse_ids(c.text);
    CATCH_REQUIRE_FALSE(ids.has_value());
    CATCH_CHECK(ids.error().code == ErrorCode::InvalidArgument);
    CATCH_CHECK(ids.error().message.find(c.position) != std::string::npos);
  }
}

}  // namespace
}  // namespace headroom
