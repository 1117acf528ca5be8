#include "app/plot/token_text.h"

#include <cstdio>

#include "app/plot/unicode.h"

namespace headroom {
namespace {

constexpr std::string_view kSpace = "␣", kNewline = "↵", kTab = "→", kEllipsis = "…", kDottedCircle = "◌";

std::string escaped_byte(unsigned char byte) {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "\\x%02X", byte);
  return buffer;
}

std::string escaped_code_point(char32_t c) {
  if (c < 0x80) return escaped_byte(static_cast<unsigned char>(c));
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "\\u{%04X}", static_cast<unsigned>(c));
  return buffer;
}

// Spaces that look like U+0020 or like nothing.
bool is_other_space(char32_t c) {
  return c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string_view mark_of(char c) {
  return c == ' ' ? kSpace : c == '\n' ? kNewline : c == '\t' ? kTab : std::string_view();
}

// Runs of three and more are counted: "␣×19".
void append_run(std::string& out, std::string_view mark, std::size_t count) {
  out += mark;
  if (count >= 3) {
    out += "×" + std::to_string(count);
  } else if (count == 2) {
    out += mark;
  }
}

}  // namespace

std::string visible_token(std::string_view bytes) {
  std::string out;
  char32_t before = 0;  // the character a mark or joiner would attach to; 0: none that is drawn as itself
  for (std::size_t at = 0; at < bytes.size();) {
    if (const std::string_view mark = mark_of(bytes[at]); !mark.empty()) {
      std::size_t end = at + 1;
      while (end < bytes.size() && bytes[end] == bytes[at]) ++end;
      append_run(out, mark, end - at);
      at = end;
      before = 0;
      continue;
    }
    const auto point = decode_utf8(bytes, at);
    if (!point) {
      out += escaped_byte(static_cast<unsigned char>(bytes[at++]));
      before = 0;
      continue;
    }
    const char32_t c = point->value;
    at += point->bytes;
    const bool joins = c == kJoiner && before > 0x7F && decode_utf8(bytes, at).value_or(CodePoint{}).value > 0x7F;
    if (!joins && (c == kJoiner || is_invisible(c) || is_other_space(c))) {
      out += escaped_code_point(c);
      before = 0;
      continue;
    }
    if (before == 0 && is_joining(c)) {
      // A mark without its letter: variation selectors and modifiers mean nothing alone, accents need something to sit
      // on.
      if ((c >= 0xFE00 && c <= 0xFE0F) || (c >= 0x180B && c <= 0x180F)) {
        out += escaped_code_point(c);
        continue;
      }
      if (c < 0x1F3FB || c > 0x1F3FF) out += kDottedCircle;
    }
    append_utf8(out, c);
    before = c;
  }
  return out;
}

std::string token_label(std::string_view bytes) {
  const bool drops = bytes.size() > 1 && bytes[0] == ' ' && mark_of(bytes[1]).empty();
  return visible_token(drops ? bytes.substr(1) : bytes);
}

namespace {

constexpr std::size_t kLongestNumber = 12;  // digits; more is a hash or a token, and can be cut
constexpr std::size_t kLongestUnit = 8;     // letters behind a number: "tokens"

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The length of the first of `all` that the text has at `at`; 0 for none.
std::size_t one_of(std::string_view text, std::size_t at, std::initializer_list<std::string_view> all) {
  for (const std::string_view one : all)
    if (text.substr(at).starts_with(one)) return one.size();
  return 0;
}

std::size_t digits_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

// Where the number that begins at `at` ends, with its sign, its power of ten and its unit: "−0.0741", "1.2×10⁻³",
// "7 639 tokens", "77.5 %". `at` itself where none begins.
std::size_t number_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (at == 0 || !(is_digit(text[at - 1]) || is_letter(text[at - 1])))
    end += one_of(text, at, {"−", "-", "+", "±", "≤", "≥", "<", ">", "×", "."});
  if (end >= text.size() || !is_digit(text[end])) return at;
  std::size_t digits = 0;
  for (std::size_t more = 0; end + more < text.size() && is_digit(text[end + more]);) {
    const std::size_t begin = end + more;
    end = digits_end(text, begin);
    digits += end - begin;
    more = one_of(text, end, {".", ",", "\u2009", "\u202f"});
    if (end + more >= text.size() || more == 0) break;
  }
  if (digits > kLongestNumber) return at;
  if (const std::size_t power = one_of(text, end, {"e+", "e-", "e−", "e", "×10"}); power > 0) {
    const std::size_t begin = end + power;
    if (begin < text.size() && is_digit(text[begin])) end = digits_end(text, begin);
    if (text.substr(end).starts_with("×10")) end += std::string_view("×10").size();
  }
  while (const std::size_t superscript = one_of(text, end, {"⁻", "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"}))
    end += superscript;
  std::size_t unit = end + one_of(text, end, {" ", "\u2009", "\u202f"});
  const std::size_t begin = unit;
  if (unit < text.size() && text[unit] == '%') return unit + 1;
  while (unit < text.size() && is_letter(text[unit])) ++unit;
  return unit > begin && unit - begin <= kLongestUnit ? unit : end;
}

// "L17.H4", "L17": where it ends, or `at`.
std::size_t head_name_end(std::string_view text, std::size_t at) {
  if (text[at] != 'L' || (at > 0 && (is_letter(text[at - 1]) || is_digit(text[at - 1])))) return at;
  const std::size_t layer = digits_end(text, at + 1);
  if (layer == at + 1) return at;
  if (!text.substr(layer).starts_with(".H")) return layer;
  const std::size_t head = digits_end(text, layer + 2);
  return head > layer + 2 ? head : layer;
}

// Where a text may be cut: the ends of its graphemes, but not inside a number or the name of a head.
std::vector<std::size_t> piece_ends(std::string_view text) {
  std::vector<std::size_t> ends;
  std::size_t hash_end = 0;  // up to here no digits are a number
  for (std::size_t at = 0; at < text.size(); ends.push_back(at)) {
    std::size_t end = at;
    if (at >= hash_end) {
      end = head_name_end(text, at);
      if (end == at) end = number_end(text, at);
      if (end == at) hash_end = digits_end(text, at);
    }
    at = end > at ? end : grapheme_end(text, at);
  }
  return ends;
}

// The text with an ellipsis for all but the first `head` and the last `tail` pieces.
std::string elided(std::string_view text, const std::vector<std::size_t>& ends, std::size_t head, std::size_t tail) {
  std::string out(text.substr(0, head == 0 ? 0 : ends[head - 1]));
  out += kEllipsis;
  if (tail > 0) out += text.substr(ends[ends.size() - tail - 1]);
  return out;
}

std::string elide(std::string_view text, float width, const TextMeasure& measure, Face face, float size, bool middle) {
  if (text.empty() || measure.width(text, face, size) <= width) return std::string(text);
  const std::vector<std::size_t> ends = piece_ends(text);
  const auto fits = [&](std::size_t head, std::size_t tail) {
    return head + tail < ends.size() && measure.width(elided(text, ends, head, tail), face, size) <= width;
  };
  if (!fits(0, 0)) return {};
  // Shaping makes widths only nearly additive: the search finds a candidate, which is then held to the width.
  const auto head_of = [&](std::size_t kept) { return middle ? (kept + 1) / 2 : kept; };
  std::size_t low = 0, high = ends.size() - 1;
  while (low < high) {
    const std::size_t half = (low + high + 1) / 2;
    if (fits(head_of(half), half - head_of(half))) {
      low = half;
    } else {
      high = half - 1;
    }
  }
  while (low > 0 && !fits(head_of(low), low - head_of(low))) --low;
  std::size_t head = head_of(low), tail = low - head;
  // Pieces differ in width: beside a number at one end there may be room at the other.
  while (middle && fits(head, tail + 1)) ++tail;
  while (fits(head + 1, tail)) ++head;
  return elided(text, ends, head, tail);
}

}  // namespace

std::string elide_middle(std::string_view text, float width, const TextMeasure& measure, Face face, float size) {
  return elide(text, width, measure, face, size, true);
}

std::string elide_end(std::string_view text, float width, const TextMeasure& measure, Face face, float size) {
  return elide(text, width, measure, face, size, false);
}

std::vector<std::string> visible_tokens(const std::vector<std::string>& tokens) {
  std::vector<std::string> out;
  out.reserve(tokens.size());
  for (const std::string& token : tokens) out.push_back(visible_token(token));
  return out;
}

}  // namespace headroom
