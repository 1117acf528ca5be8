#include "core/run/token_class.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/utf8.h"
#include "core/text/characters.h"

namespace headroom {
namespace {

TokenClass class_of(std::string_view text, std::string_view before) {
  const std::size_t blanks = leading_space_size(text);
  std::string_view rest = text.substr(blanks);
  if (rest.empty()) return text.empty() ? TokenClass::Other : TokenClass::Blank;
  if (!is_valid_utf8(rest)) return TokenClass::Other;
  bool words = true, numbers = true, marks = true;
  while (!rest.empty()) {
    const Utf8Scalar next = decode_utf8(rest);
    words = words && is_word(next.code_point) && !is_number(next.code_point);
    numbers = numbers && is_number(next.code_point);
    marks = marks && is_punctuation(next.code_point);
    rest.remove_prefix(next.size_bytes);
  }
  if (numbers) return TokenClass::Number;
  if (marks) return TokenClass::Punctuation;  // also "_", which is in \w
  if (!words) return TokenClass::Other;
  return blanks == 0 && ends_with_word(before) ? TokenClass::WordRest : TokenClass::Word;
}

}  // namespace

const char* token_class_name(TokenClass of) {
  switch (of) {
    case TokenClass::Special: return "special";
    case TokenClass::Word: return "word";
    case TokenClass::WordRest: return "rest of word";
    case TokenClass::Number: return "number";
    case TokenClass::Punctuation: return "punctuation";
    case TokenClass::Blank: return "blank";
    case TokenClass::Other: return "other";
  }
  return "";
}

const char* token_class_meaning(TokenClass of) {
  switch (of) {
    case TokenClass::Special: return "special tokens of the tokenizer";
    case TokenClass::Word: return "letters that begin a word";
    case TokenClass::WordRest: return "letters that go on with the word of the token before";
    case TokenClass::Number: return "digits alone";
    case TokenClass::Punctuation: return "marks and ASCII symbols alone";
    case TokenClass::Blank: return "white space alone";
    case TokenClass::Other: return "of several kinds, other symbols or pieces of a character";
  }
  return "";
}

std::vector<TokenClass> token_classes(const Prompt& prompt) {
  std::vector<TokenClass> classes;
  classes.reserve(prompt.texts.size());
  for (std::size_t i = 0; i < prompt.texts.size(); ++i) {
    const auto special = [&](std::size_t at) { return at < prompt.is_special.size() && prompt.is_special[at] != 0; };
    const std::string_view before = i > 0 && !special(i - 1) ? std::string_view(prompt.texts[i - 1]) : "";
    classes.push_back(special(i) ? TokenClass::Special : class_of(prompt.texts[i], before));
  }
  return classes;
}

}  // namespace headroom
