// A value or an Error, and the macros that pass an error up: each expression runs once, and nothing after a failure.
#include "core/base/result.h"

#include <memory>
#include <string>
#include <utility>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

Result<int> half(int value, int& calls) {
  ++calls;
  if (value % 2 != 0) return Error(ErrorCode::InvalidArgument, "odd").wanted("an even number", std::to_string(value));
  return value / 2;
}

Result<void> needs_even(int value, int& calls) {
  HEADROOM_TRY(const int ignored, half(value, calls));
  (void)ignored;
  return {};
}

// Two declarations on one scope, an existing variable as target, and the statement form.
Result<std::string> quarter(int value, int& calls, bool& reached_end) {
  HEADROOM_TRY(const int first, half(value, calls));
  int second = -1;
  HEADROOM_TRY(second, half(first, calls));
  HEADROOM_TRY_VOID(needs_even(second, calls));
  reached_end = true;
  return std::to_string(second);
}

Result<std::unique_ptr<int>> owned(int value) { return std::make_unique<int>(value); }

Result<int> opened(int value) {
  HEADROOM_TRY(const std::unique_ptr<int> pointer, owned(value));
  return *pointer;
}

}  // namespace

CATCH_TEST_CASE("result: a value or an error, never both") {
  int calls = 0;
  const Result<int> good = half(8, calls);
  CATCH_REQUIRE(good.has_value());
  CATCH_CHECK(static_cast<bool>(good));
  CATCH_CHECK(*good == 4);
  const Result<int> bad = half(7, calls);
  CATCH_CHECK_FALSE(bad.has_value());
  CATCH_CHECK_FALSE(static_cast<bool>(bad));
  CATCH_CHECK(bad.error().message == "odd");
  CATCH_CHECK(Result<void>().has_value());
  CATCH_CHECK_FALSE(Result<void>(Error(ErrorCode::Io, "full")).has_value());
}

CATCH_TEST_CASE("result: the first error ends the function and arrives whole") {
  int calls = 0;
  bool reached_end = false;
  const auto good = quarter(8, calls, reached_end);
  CATCH_REQUIRE(good.has_value());
  CATCH_CHECK(*good == "2");
  CATCH_CHECK(calls == 3);
  CATCH_CHECK(reached_end);

  struct Failure {
    int value, calls;
    const char* found;
  };
  for (const Failure& failure : {Failure{7, 1, "7"}, Failure{6, 2, "3"}, Failure{4, 3, "1"}}) {
    calls = 0;
    reached_end = false;
    const auto bad = quarter(failure.value, calls, reached_end);
    CATCH_REQUIRE_FALSE(bad.has_value());
    CATCH_CHECK(bad.error().code == ErrorCode::InvalidArgument);
    CATCH_CHECK(bad.error().found == failure.found);
    CATCH_CHECK(calls == failure.calls);
    CATCH_CHECK_FALSE(reached_end);
  }
}

CATCH_TEST_CASE("result: values that can only be moved") {
  auto result = owned(5);
  CATCH_REQUIRE(result.has_value());
  const std::unique_ptr<int> taken = std::move(result).value();
  CATCH_CHECK(*taken == 5);
  CATCH_CHECK(*opened(6) == 6);
}

}  // namespace headroom::test
