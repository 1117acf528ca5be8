// Tokens as running text: what each looks like, and lines that break between them. Pure functions; safe from any
// thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/painter.h"

namespace headroom {

// Letters as they are, or a mark in place of what has none: "↵", "→", "␣×27", "\x1B", "∅" of an empty token.
struct TokenSegment {
  std::string text;
  bool mark = false;
};
// Up to three blanks in a row stay blanks.
[[nodiscard]] std::vector<TokenSegment> token_segments(std::string_view bytes);

// A token on its line, or the part of one that is wider than a line.
struct TextPiece {
  std::size_t token = 0;
  std::vector<TokenSegment> segments;
  float width = 0.0f;
  float lead = 0.0f;  // of a blank that begins a line: it hangs before the edge, and is not in `width`
};
using TextLine = std::vector<TextPiece>;  // never empty

[[nodiscard]] std::vector<TextLine> break_lines(std::span<const std::string> tokens, float width,
                                                const TextMeasure& measure, Face face, float size);

}  // namespace headroom
