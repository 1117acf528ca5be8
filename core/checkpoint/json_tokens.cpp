#include "core/checkpoint/json_tokens.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "core/base/utf8.h"

namespace headroom {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

JsonTokens::JsonTokens(std::string_view text, std::size_t depth_limit, std::uint64_t base_offset)
    : source_(text), depth_limit_(depth_limit), base_offset_(base_offset) {}

Error JsonTokens::error_at(std::size_t position, std::string message) const {
  Error error(ErrorCode::Corrupt, std::move(message));
  return error.at_offset(base_offset_ + position);
}

Error JsonTokens::error_here(std::string message) const { return error_at(token_begin_, std::move(message)); }

void JsonTokens::skip_space() {
  while (position_ < source_.size()) {
    const char c = source_[position_];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
    ++position_;
  }
}

JsonToken JsonTokens::after_value(JsonToken token) {
  state_ = open_.empty() ? State::Done : State::CommaOrEnd;
  return token;
}

Result<JsonToken> JsonTokens::next() {
  skip_space();
  if (state_ == State::CommaOrEnd && position_ < source_.size() && source_[position_] == ',') {
    ++position_;
    state_ = open_.back() == '{' ? State::Key : State::Value;
    skip_space();
  }
  token_begin_ = position_;
  if (state_ == State::Done) {
    if (position_ < source_.size()) return error_here("JSON: more bytes after the end of the value");
    return JsonToken::End;
  }
  if (position_ == source_.size()) return error_here("JSON: the text ends too early");
  const char c = source_[position_];
  switch (state_) {
    case State::CommaOrEnd:
      if (c == (open_.back() == '{' ? '}' : ']')) return end_container();
      return error_here(open_.back() == '{' ? "JSON: expected ',' or '}'" : "JSON: expected ',' or ']'");
    case State::KeyOrEnd:
    case State::Key:
      if (c == '}' && state_ == State::KeyOrEnd) return end_container();
      if (c != '"') return error_here("JSON: expected a key in double quotes");
      HEADROOM_TRY_VOID(string());
      skip_space();
      if (position_ == source_.size() || source_[position_] != ':')
        return error_at(position_, "JSON: expected ':' after a key");
      ++position_;
      state_ = State::Value;
      return JsonToken::Key;
    case State::ValueOrEnd:
      if (c == ']') return end_container();
      return value();
    default: return value();
  }
}

Result<JsonToken> JsonTokens::begin_container(char kind) {
  if (open_.size() >= depth_limit_)
    return error_here("JSON: nested deeper than " + std::to_string(depth_limit_) + " levels");
  open_.push_back(kind);
  ++position_;
  state_ = kind == '{' ? State::KeyOrEnd : State::ValueOrEnd;
  return kind == '{' ? JsonToken::ObjectBegin : JsonToken::ArrayBegin;
}

Result<JsonToken> JsonTokens::end_container() {
  const JsonToken token = open_.back() == '{' ? JsonToken::ObjectEnd : JsonToken::ArrayEnd;
  open_.pop_back();
  ++position_;
  return after_value(token);
}

Result<JsonToken> JsonTokens::value() {
  switch (source_[position_]) {
    case '{': return begin_container('{');
    case '[': return begin_container('[');
    case '"': HEADROOM_TRY_VOID(string()); return after_value(JsonToken::String);
    case 't': return literal("true", JsonToken::True);
    case 'f': return literal("false", JsonToken::False);
    case 'n': return literal("null", JsonToken::Null);
    default: return number();
  }
}

Result<JsonToken> JsonTokens::literal(std::string_view word, JsonToken token) {
  for (const char expected : word) {
    if (position_ == source_.size() || source_[position_] != expected) return error_at(position_, "JSON: not a value");
    ++position_;
  }
  return after_value(token);
}

Result<JsonToken> JsonTokens::number() {
  const std::size_t begin = position_;
  const auto at = [&](std::size_t i) { return i < source_.size() ? source_[i] : '\0'; };
  std::size_t end = begin;
  const auto digits = [&] {
    const std::size_t first = end;
    while (is_digit(at(end))) ++end;
    return end > first;
  };
  const bool negative = at(end) == '-';
  if (negative) ++end;
  const bool leading_zero = at(end) == '0';
  if (!digits()) return error_at(end, "JSON: not a value");
  if (leading_zero && end - begin > (negative ? 2u : 1u)) return error_at(begin, "JSON: a number begins with 0");
  bool integer = true;
  if (at(end) == '.') {
    integer = false;
    ++end;
    if (!digits()) return error_at(end, "JSON: expected a digit");
  }
  if (at(end) == 'e' || at(end) == 'E') {
    integer = false;
    ++end;
    if (at(end) == '+' || at(end) == '-') ++end;
    if (!digits()) return error_at(end, "JSON: expected a digit");
  }
  const char* first = source_.data() + begin;
  const char* last = source_.data() + end;
  position_ = end;
  if (integer && !negative && std::from_chars(first, last, unsigned_value_).ec == std::errc())
    return after_value(JsonToken::Unsigned);
  if (integer && negative && std::from_chars(first, last, negative_value_).ec == std::errc()) {
    if (negative_value_ < 0) return after_value(JsonToken::Negative);
    unsigned_value_ = 0;
    return after_value(JsonToken::Unsigned);
  }
  if (std::from_chars(first, last, real_value_).ec != std::errc())
    return error_at(begin, "JSON: a number beyond double precision");
  return after_value(JsonToken::Real);
}

Result<void> JsonTokens::string() {
  string_escaped_ = false;
  ++position_;
  std::size_t begin = position_;
  while (true) {
    if (position_ == source_.size()) return error_at(position_, "JSON: the text ends inside a string");
    const auto c = static_cast<unsigned char>(source_[position_]);
    if (c == '"') break;
    if (c < 0x20) return error_at(position_, "JSON: a control character inside a string");
    if (c == '\\') {
      if (!string_escaped_) unescaped_.clear();
      string_escaped_ = true;
      unescaped_ += source_.substr(begin, position_ - begin);
      HEADROOM_TRY_VOID(escape());
      begin = position_;
    } else if (c < 0x80) {
      ++position_;
    } else {
      const Utf8Scalar scalar = decode_utf8(source_.substr(position_));
      if (!scalar.valid) return error_at(position_, "JSON: not UTF-8");
      position_ += scalar.size_bytes;
    }
  }
  string_ = source_.substr(begin, position_ - begin);
  if (string_escaped_) {
    unescaped_ += string_;
    string_ = unescaped_;
  }
  ++position_;
  return {};
}

Result<std::uint32_t> JsonTokens::four_hex_digits() {
  std::uint32_t value = 0;
  const std::size_t available = source_.size() - position_;
  const char* first = source_.data() + position_;
  const auto parsed = std::from_chars(first, first + std::min<std::size_t>(4, available), value, 16);
  if (parsed.ptr != first + 4)
    return error_at(static_cast<std::size_t>(parsed.ptr - source_.data()), "JSON: expected four hex digits");
  position_ += 4;
  return value;
}

Result<void> JsonTokens::escape() {
  const std::size_t begin = position_;
  ++position_;
  if (position_ == source_.size()) return error_at(position_, "JSON: the text ends inside a string");
  const char c = source_[position_++];
  switch (c) {
    case '"':
    case '\\':
    case '/': unescaped_ += c; return {};
    case 'b': unescaped_ += '\b'; return {};
    case 'f': unescaped_ += '\f'; return {};
    case 'n': unescaped_ += '\n'; return {};
    case 'r': unescaped_ += '\r'; return {};
    case 't': unescaped_ += '\t'; return {};
    case 'u': break;
    default: return error_at(position_ - 1, "JSON: unknown escape");
  }
  HEADROOM_TRY(std::uint32_t code, four_hex_digits());
  if (code >= 0xD800 && code < 0xDC00 && source_.substr(position_, 2) == "\\u") {
    position_ += 2;
    HEADROOM_TRY(const std::uint32_t low, four_hex_digits());
    if (low < 0xDC00 || low >= 0xE000) return error_at(begin, "JSON: half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xD800 && code < 0xE000) {
    return error_at(begin, "JSON: half of a surrogate pair");
  }
  append_utf8(unescaped_, static_cast<char32_t>(code));
  return {};
}

}  // namespace headroom
