#include "core/run/token_class.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace headroom {
namespace {

std::vector<TokenClass> classes_of(std::vector<std::string> texts, std::vector<std::uint8_t> special = {}) {
  Prompt prompt;
  prompt.texts = std::move(texts), prompt.is_special = std::move(special);
  return token_classes(prompt);
}

}  // namespace

CATCH_TEST_CASE("token class: letters begin a word after white space and after what is none, and go on with one") {
  using enum TokenClass;
  CATCH_CHECK(classes_of({"The", " cap", "acitor", "-", "like", "\n", "x", "é", " naïve"}) ==
              std::vector{Word, Word, WordRest, Punctuation, Word, Blank, Word, WordRest, Word});
  // A byte a token, as the shipped byte models have them.
  CATCH_CHECK(classes_of({"a", "b", " ", "c", ",", "d"}) ==
              std::vector{Word, WordRest, Blank, Word, Punctuation, Word});
}

CATCH_TEST_CASE("token class: digits, marks, what is of several kinds and pieces of a character") {
  using enum TokenClass;
  CATCH_CHECK(classes_of({" 42", "½", " (", "“", "_", "$", "don't", "the,", "\xE2\x82", "€", "", "  "}) ==
              std::vector{Number, Number, Punctuation, Punctuation, Punctuation, Punctuation, Other, Other, Other,
                          Other, Other, Blank});
}

CATCH_TEST_CASE("token class: a special token is one whatever its text, and a word after it begins") {
  using enum TokenClass;
  CATCH_CHECK(classes_of({"<s>", "he", "llo", "</s>"}, {1, 0, 0, 1}) == std::vector{Special, Word, WordRest, Special});
  CATCH_CHECK(classes_of({}).empty());
}

CATCH_TEST_CASE("token class: each has a name and a meaning of its own") {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kTokenClasses; ++i) {
    const auto one = static_cast<TokenClass>(i);
    CATCH_CHECK(std::string(token_class_meaning(one)).size() > 5);
    for (const std::string& other : names) CATCH_CHECK(other != token_class_name(one));
    names.emplace_back(token_class_name(one));
  }
}

}  // namespace headroom
