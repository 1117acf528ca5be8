#include "core/checkpoint/strict_json.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

using nlohmann::json;

struct Refusal {
  std::string text;
  std::uint64_t offset;  // of the first bad byte, counted by hand
};

}  // namespace

CATCH_TEST_CASE("JSON: valid texts give the values they spell") {
  const auto value = [](std::string_view text) { return parse_json(text).value(); };
  CATCH_CHECK(value("  null\n") == nullptr);
  CATCH_CHECK(value("[]") == json::array());
  CATCH_CHECK(value("{}") == json::object());
  CATCH_CHECK(value("[true, false, null]") == json({true, false, nullptr}));
  CATCH_CHECK(value("{\"a\":[{\"b\":1},2],\"c\":{\"d\":[]}}") ==
              json({{"a", json::array({json{{"b", 1}}, 2})}, {"c", json{{"d", json::array()}}}}));
  CATCH_CHECK(value("18446744073709551615").get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max());
  CATCH_CHECK(value("-9223372036854775808").get<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CATCH_CHECK(value("18446744073709551616").is_number_float());
  CATCH_CHECK(value("-0").is_number_integer());
  CATCH_CHECK(value("1e-05").get<double>() == 1e-5);
  CATCH_CHECK(value("1.0").is_number_float());
  CATCH_CHECK(value("-2.5E+3").get<double>() == -2500.0);
  CATCH_CHECK(value("\"\\u0120a\\n\\\\\\/\\ud83d\\ude00 \xC4\xA0\"") ==
              "\xC4\xA0"
              "a\n\\/\xF0\x9F\x98\x80 \xC4\xA0");
  CATCH_CHECK(value("\"\\u0000\"").get<std::string>() == std::string(1, '\0'));
}

CATCH_TEST_CASE("JSON: every violation is refused with the offset of its first bad byte") {
  const std::vector<Refusal> cases = {
      {"", 0},
      {"   ", 3},
      {"\xEF\xBB\xBF{}", 0},
      {"{} x", 3},
      {"{}{}", 2},
      {"[1,]", 3},
      {"[,1]", 1},
      {"[1 2]", 3},
      {"{\"a\" 1}", 5},
      {"{\"a\":1,}", 7},
      {"{a:1}", 1},
      {"{'a':1}", 1},
      {"{\"a\":1]", 6},
      {"[1}", 2},
      {"[", 1},
      {"{\"a\":", 5},
      {"\"abc", 4},
      {"NaN", 0},
      {"[1,Infinity]", 3},
      {"-Infinity", 1},
      {"nul", 3},
      {"nulk", 3},
      {"tru", 3},
      {"[1, // no\n2]", 4},
      {"/* no */ 1", 0},
      {"01", 0},
      {"-01", 0},
      {"+1", 0},
      {".5", 0},
      {"1.", 2},
      {"1e", 2},
      {"1e+", 3},
      {"0x10", 1},
      {"1e400", 0},
      {"\"a\nb\"", 2},
      {"\"\\x41\"", 2},
      {"\"\\u12G4\"", 5},
      {"\"\\ud800\"", 1},
      {"\"\\udc00\"", 1},
      {"\"\\ud800\\u0041\"", 1},
      {"\"\xFF\"", 1},
      {"\"ab\xC0\x80\"", 3},
      {"\"\xED\xA0\x80\"", 1},
      {"\"\xF4\x90\x80\x80\"", 1},
      {"{\"a\":1,\"b\":{\"c\":1,\"c\":2}}", 18},
      {"{\"a\":1,\"\\u0061\":2}", 7},
  };
  for (const Refusal& test : cases) {
    CATCH_INFO(test.text);
    const auto result = parse_json(test.text);
    CATCH_REQUIRE(!result.has_value());
    CATCH_CHECK(result.error().code == ErrorCode::Corrupt);
    CATCH_CHECK(result.error().offset == test.offset);
  }
}

CATCH_TEST_CASE("JSON: depth and size limits hold, and 100,000 levels do not reach the stack") {
  const JsonLimits limits{1 << 20, 16};
  CATCH_CHECK(parse_json(std::string(16, '[') + std::string(16, ']'), limits).has_value());
  const auto deep = parse_json(std::string(17, '[') + std::string(17, ']'), limits);
  CATCH_REQUIRE(!deep.has_value());
  CATCH_CHECK(deep.error().offset == 16);
  const auto deeper = parse_json(std::string(100'000, '['), limits);
  CATCH_REQUIRE(!deeper.has_value());
  CATCH_CHECK(deeper.error().offset == 16);
  CATCH_CHECK(!parse_json(std::string(11, ' '), {10, 16}).has_value());
  {
    const auto allowed = parse_json(std::string(100'000, '[') + std::string(100'000, ']'), {1 << 20, 200'000});
    CATCH_CHECK(allowed.has_value());
  }
}

CATCH_TEST_CASE("JSON: every prefix of a text is refused, with the end as the bad byte or before it") {
  const std::string text = R"({"a":[1,-2.5e3,"x\u0041",true],"b":{"c":null}})";
  CATCH_REQUIRE(parse_json(text).has_value());
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto result = parse_json(std::string_view(text).substr(0, size));
    CATCH_INFO(size);
    CATCH_REQUIRE(!result.has_value());
    CATCH_CHECK(result.error().offset.value() <= size);
  }
}

}  // namespace headroom::test
