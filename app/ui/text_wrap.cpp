#include "app/ui/text_wrap.h"

#include "app/plot/token_text.h"
#include "app/plot/unicode.h"
#include "core/base/error.h"
#include "core/base/utf8.h"

namespace headroom {
namespace {

bool plain(std::string_view text) {
  for (const char c : text) {
    const auto b = static_cast<unsigned char>(c);
    if (b < 0x20 || b >= 0x7F) return false;
  }
  return true;
}

bool wide_break(std::string_view text, std::size_t at) {
  const auto c = decode_utf8(text, at);
  return c.has_value() && c->value >= 0x2E80 && is_wide(c->value);
}

}  // namespace

std::string shown_text(std::string_view text, bool keep_newlines) {
  if (plain(text)) return std::string(text);
  std::string out;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool end = i == text.size();
    if (!end && text[i] != '\t' && !(keep_newlines && text[i] == '\n')) continue;
    out += escape_for_terminal(text.substr(from, i - from));
    if (!end) out += text[i] == '\t' ? "→" : "\n";
    from = i + 1;
  }
  return out;
}

std::vector<TextLine> wrap_lines(std::string_view text, float width, const TextMeasure& measure, Face face,
                                 float size) {
  std::vector<TextLine> lines;
  const auto width_of = [&](std::size_t begin, std::size_t end) {
    return measure.width(shown_text(text.substr(begin, end - begin)), face, size);
  };
  std::size_t begin = 0;
  for (;;) {
    std::size_t paragraph_end = text.find('\n', begin);
    if (paragraph_end == std::string_view::npos) paragraph_end = text.size();
    std::size_t line = begin, at = begin;
    float used = 0.0f;
    while (at < paragraph_end) {
      // One unit: a word, or one wide character, with the spaces after it.
      std::size_t end = grapheme_end(text, at);
      if (text[at] != ' ' && !wide_break(text, at)) {
        while (end < paragraph_end && text[end] != ' ' && !wide_break(text, end)) end = grapheme_end(text, end);
      } else if (text[at] == ' ') {
        end = at;
      }
      std::size_t spaces = end;
      while (spaces < paragraph_end && text[spaces] == ' ') ++spaces;
      const float word = width_of(at, end);
      if (used + word > width && at > line) {
        lines.push_back({line, at});
        line = at;
        used = 0.0f;
      }
      if (word > width) {
        std::size_t from = at;
        float part = 0.0f;
        for (std::size_t i = at; i < end;) {
          const std::size_t next = grapheme_end(text, i);
          const float w = width_of(i, next);
          if (part + w > width && i > from) {
            lines.push_back({from, i});
            from = i;
            part = 0.0f;
          }
          part += w;
          i = next;
        }
        line = from;
        used = part + width_of(end, spaces);
      } else {
        used += width_of(at, spaces);
      }
      at = spaces;
    }
    lines.push_back({line, paragraph_end});
    if (paragraph_end == text.size()) return lines;
    begin = paragraph_end + 1;
  }
}

std::vector<std::string> wrap_text(std::string_view input, float width, const TextMeasure& measure, Face face,
                                   float size, std::size_t max_lines) {
  const std::string text = shown_text(to_valid_utf8(input), true);
  std::vector<std::string> out;
  const std::vector<TextLine> lines = wrap_lines(text, width, measure, face, size);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (out.size() + 1 == max_lines && i + 1 < lines.size()) {
      std::string rest = text.substr(lines[i].begin, lines[i].end - lines[i].begin) + "…";
      out.push_back(elide_end(rest, width, measure, face, size));
      break;
    }
    std::size_t end = lines[i].end;
    while (end > lines[i].begin && text[end - 1] == ' ') --end;
    out.push_back(
        elide_end(std::string_view(text).substr(lines[i].begin, end - lines[i].begin), width, measure, face, size));
  }
  return out;
}

}  // namespace headroom
