// Classes of the tokens of a text, for what is said of heads by the kind of token. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/run/analysis.h"

namespace headroom {

enum class TokenClass : std::uint8_t {
  Special,      // of the tokenizer, such as a beginning of text
  Word,         // letters that begin a word
  WordRest,     // letters that go on with the word of the token before
  Number,       // digits alone
  Punctuation,  // marks and the symbols of ASCII alone
  Blank,        // white space alone
  Other,        // of several kinds, other symbols, pieces of a character
};
inline constexpr std::size_t kTokenClasses = 7;
[[nodiscard]] const char* token_class_name(TokenClass of);     // "rest of word"
[[nodiscard]] const char* token_class_meaning(TokenClass of);  // a phrase for captions

// One for each token; empty where the texts of the tokens are not known. White space before a token's text counts only
// as the beginning of a word.
[[nodiscard]] std::vector<TokenClass> token_classes(const Prompt& prompt);

}  // namespace headroom
