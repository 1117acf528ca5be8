#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "app/ui/text_wrap.h"

#include "app/plot/plain_measure.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

// 6 pixels a letter: mono 10.
std::vector<std::string> wrapped(const std::string& text, int letters, std::size_t most = 1000) {
  const PlainMeasure measure;
  return wrap_text(text, 6.0f * static_cast<float>(letters) + 0.1f, measure, Face::Mono, 10.0f, most);
}

CATCH_TEST_CASE("wrap: words stay whole where they fit") {
  CATCH_CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CATCH_CHECK(wrapped("one two three", 100) == std::vector<std::string>{"one two three"});
  CATCH_CHECK(wrapped("", 5) == std::vector<std::string>{""});
}

CATCH_TEST_CASE("wrap: a long word is broken between graphemes, none is lost") {
  CATCH_CHECK(wrapped("a abcdefgh b", 4) == std::vector<std::string>{"a", "abcd", "efgh", "b"});
  const std::string marks = "e\xCC\x81";
  CATCH_CHECK(wrapped(marks + marks + marks, 2) == std::vector<std::string>{marks + marks, marks});
}

CATCH_TEST_CASE("wrap: newlines break, and one at the end leaves an empty line") {
  CATCH_CHECK(wrapped("a\n\nb\n", 9) == std::vector<std::string>{"a", "", "b", ""});
}

CATCH_TEST_CASE("wrap: wide characters break anywhere") {
  CATCH_CHECK(wrapped("注意力注意力", 5) == std::vector<std::string>{"注意力", "注意力"});
}

CATCH_TEST_CASE("wrap: what does not fit the lines ends in an ellipsis") {
  const auto lines = wrapped("one two three four five", 7, 2);
  CATCH_REQUIRE(lines.size() == 2);
  CATCH_CHECK(lines[0] == "one two");
  CATCH_CHECK(lines[1].ends_with("…"));
}

CATCH_TEST_CASE("wrap: control characters and overrides are made visible and counted") {
  CATCH_CHECK(shown_text("a\x1B[0m") == "a\\x1B[0m");
  CATCH_CHECK(shown_text("\xE2\x80\xAE"
                         "x") == "\\u{202E}x");
  CATCH_CHECK(shown_text("a\tb") == "a→b");
  CATCH_CHECK(shown_text("a\nb", true) == "a\nb");
  for (const std::string& line : wrapped("\x01\x02\x03\x04\x05", 8)) CATCH_CHECK(line.size() <= 8);
}

CATCH_TEST_CASE("wrap: random texts keep every byte and stay within the width") {
  const PlainMeasure measure;
  unsigned state = 7;
  const auto next = [&](unsigned most) { return (state = state * 1664525u + 1013904223u) / 65536u % most; };
  const char* pieces[] = {"a", " ", "word", "\n", "注", "é", "👩‍👧", "  ", "longer-word"};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (unsigned i = next(40); i > 0; --i) text += pieces[next(9)];
    const float width = 20.0f + static_cast<float>(next(150));
    const auto lines = wrap_lines(text, width, measure, Face::Sans, 12.0f);
    std::size_t at = 0;
    for (const TextLine& line : lines) {
      CATCH_REQUIRE(line.begin >= at);
      for (std::size_t i = at; i < line.begin; ++i) CATCH_REQUIRE(text[i] == '\n');
      CATCH_REQUIRE(line.end >= line.begin);
      std::string seen = text.substr(line.begin, line.end - line.begin);
      while (seen.ends_with(' ')) seen.pop_back();
      CATCH_REQUIRE(measure.width(seen, Face::Sans, 12.0f) <= std::max(width, 24.5f));
      at = line.end;
    }
    CATCH_REQUIRE(at == text.size());
  }
}

}  // namespace
}  // namespace headroom
