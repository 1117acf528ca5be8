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

// The ends of the graphemes of a text; `text` is cut at them only.
std::vector<std::size_t> grapheme_ends(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < text.size();) ends.push_back(at = grapheme_end(text, at));
  return ends;
}

// The text with all but `kept` graphemes replaced by an ellipsis: from the middle or from the end.
std::string elided(std::string_view text, const std::vector<std::size_t>& ends, std::size_t kept, bool middle) {
  const std::size_t head = middle ? (kept + 1) / 2 : kept, tail = kept - head;
  std::string out(text.substr(0, head == 0 ? 0 : ends[head - 1]));
  out += kEllipsis;
  if (tail > 0) out += text.substr(ends[ends.size() - tail - 1]);
  return out;
}

std::string elide(std::string_view text, float width, const TextMeasure& measure, Face face, float size, bool middle) {
  if (text.empty() || measure.width(text, face, size) <= width) return std::string(text);
  const std::vector<std::size_t> ends = grapheme_ends(text);
  const auto fits = [&](std::size_t kept) {
    return measure.width(elided(text, ends, kept, middle), face, size) <= width;
  };
  if (!fits(0)) return {};
  // Shaping makes widths only nearly additive: the search finds a candidate, which is then held to the width.
  std::size_t low = 0, high = ends.size() - 1;
  while (low < high) {
    const std::size_t half = (low + high + 1) / 2;
    if (fits(half)) {
      low = half;
    } else {
      high = half - 1;
    }
  }
  while (low > 0 && !fits(low)) --low;
  return elided(text, ends, low, middle);
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
