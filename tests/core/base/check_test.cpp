// A broken promise inside the program: an exception that says where, what and which text.
#include <stdexcept>
#include <string>

#include "core/base/check.h"

#include "tests/support/catch.h"

namespace headroom::test {

CATCH_TEST_CASE("check: silent where the condition holds, and evaluated once") {
  int evaluations = 0;
  HEADROOM_CHECK(++evaluations == 1, "counted");
  CATCH_CHECK(evaluations == 1);
}

CATCH_TEST_CASE("check: a failure names the file, the line, the condition and the text") {
  const int line = __LINE__ + 2;
  try {
    HEADROOM_CHECK(2 + 2 == 5, "arithmetic of " + std::string("fools"));
    CATCH_FAIL("no exception");
  } catch (const LogicError& error) {
    const std::string text = error.what();
    CATCH_CHECK(text.find("check_test.cpp:" + std::to_string(line) + ":") != std::string::npos);
    CATCH_CHECK(text.find("2 + 2 == 5") != std::string::npos);
    CATCH_CHECK(text.find("arithmetic of fools") != std::string::npos);
  }
  CATCH_CHECK_THROWS_AS(throw_logic_error("f", 1, "c", "t"), std::logic_error);
}

}  // namespace headroom::test
