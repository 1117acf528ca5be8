// Where the members of a JSON text stand, and what is refused of it.
#include "app/figures/placed_json.h"

#include <string>

#include "tests/support/catch.h"
#include "tests/support/required.h"

namespace headroom::test {

CATCH_TEST_CASE("placed JSON: members have their line and column, whatever stands between them") {
  const PlacedJson json = required(PlacedJson::parse(R"(// a comment with "quotes"
{"é": {"a\"b": 1,
  "list": [{"a": 2}, {"a": 3}]}, "end" : "x"})"));
  const PlacedJson::Json& root = json.root();
  CATCH_CHECK(json.place(root, "é") == "line 2, column 2");
  CATCH_CHECK(json.place(root["é"], "a\"b") == "line 2, column 8");
  CATCH_CHECK(json.place(root["é"], "list") == "line 3, column 3");
  CATCH_CHECK(json.place(root["é"]["list"][0], "a") == "line 3, column 13");
  CATCH_CHECK(json.place(root["é"]["list"][1], "a") == "line 3, column 23");
  CATCH_CHECK(json.place(root, "end") == "line 3, column 34");
  CATCH_CHECK(json.place(root, "gone").empty());
  CATCH_CHECK(json.place(PlacedJson::Json::object(), "end").empty());
}

CATCH_TEST_CASE("placed JSON: a member that is there twice, and what is no JSON") {
  const auto refused = [](const std::string& text, ErrorCode code, const std::string& words) {
    const Result<PlacedJson> parsed = PlacedJson::parse(text);
    CATCH_REQUIRE_FALSE(parsed.has_value());
    CATCH_CHECK(parsed.error().code == code);
    CATCH_CHECK(parsed.error().message.find(words) != std::string::npos);
  };
  refused("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2}}", ErrorCode::InvalidArgument, "\"c\" twice: line 2, column 16");
  refused("{\"a\": 1,\n \"a\": {\"c\": 1}}", ErrorCode::InvalidArgument, "\"a\" twice: line 2, column 2");
  CATCH_CHECK(PlacedJson::parse(R"([{"a": 1}, {"a": {"a": 2}}])").has_value());
  refused("{\"a\": 1,\n ]", ErrorCode::Corrupt, "line 2, column 2");
  refused("{\"a\":\n 1e999}", ErrorCode::Corrupt, "line 2, column");
  refused("", ErrorCode::Corrupt, "line 1, column");
  refused("\"\xff\"", ErrorCode::Corrupt, "line 1, column");
}

}  // namespace headroom::test
