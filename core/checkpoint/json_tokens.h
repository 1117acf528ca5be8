// A pull parser for strict JSON (RFC 8259; no comments, no NaN, no BOM): one token at a time, grammar, UTF-8 and
// nesting checked, without recursion and without copies. Every error carries the offset of the first bad byte.
// Duplicate keys are the caller's to refuse. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace headroom {

enum class JsonToken : std::uint8_t {
  ObjectBegin,
  ObjectEnd,
  ArrayBegin,
  ArrayEnd,
  Key,
  String,
  Unsigned,  // an integer of 0 … 2^64 − 1
  Negative,  // an integer of −2^63 … −1
  Real,      // every other number
  True,
  False,
  Null,
  End,  // nothing but white space after the value
};

class JsonTokens {
 public:
  // Borrows `text`. `base_offset` is added to the offsets of errors and tokens. A container inside `depth_limit` others
  // is refused.
  JsonTokens(std::string_view text, std::size_t depth_limit, std::uint64_t base_offset);

  [[nodiscard]] Result<JsonToken> next();

  // Of the last token. The text of a Key or String is valid until the next call of next(); it points into the source
  // unless the string has escapes.
  [[nodiscard]] std::string_view text() const { return string_; }
  [[nodiscard]] bool text_in_source() const { return !string_escaped_; }
  [[nodiscard]] std::uint64_t unsigned_value() const { return unsigned_value_; }
  [[nodiscard]] std::int64_t negative_value() const { return negative_value_; }
  [[nodiscard]] double real_value() const { return real_value_; }
  [[nodiscard]] std::uint64_t offset() const { return base_offset_ + token_begin_; }

  [[nodiscard]] Error error_here(std::string message) const;

 private:
  enum class State : std::uint8_t { Value, ValueOrEnd, KeyOrEnd, Key, CommaOrEnd, Done };

  [[nodiscard]] Error error_at(std::size_t position, std::string message) const;
  void skip_space();
  Result<JsonToken> begin_container(char kind);
  Result<JsonToken> end_container();
  Result<JsonToken> value();
  Result<JsonToken> number();
  Result<JsonToken> literal(std::string_view word, JsonToken token);
  Result<void> string();
  Result<void> escape();
  Result<std::uint32_t> four_hex_digits();
  JsonToken after_value(JsonToken token);

  std::string_view source_;
  std::size_t depth_limit_;
  std::uint64_t base_offset_;
  std::size_t position_ = 0;
  std::size_t token_begin_ = 0;
  State state_ = State::Value;
  std::vector<char> open_;  // '{' or '['
  std::string_view string_;
  std::string unescaped_;
  bool string_escaped_ = false;
  std::uint64_t unsigned_value_ = 0;
  std::int64_t negative_value_ = 0;
  double real_value_ = 0;
};

}  // namespace headroom
