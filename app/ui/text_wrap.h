// Breaks text into lines of a given width. Pure functions; safe from any thread as far as the measure is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/painter.h"

namespace headroom {

// What is drawn for `text`: control characters, invalid bytes and bidirectional overrides as \xNN or \u{NNNN}, a tab as
// "→". Newlines too, unless `keep_newlines`.
[[nodiscard]] std::string shown_text(std::string_view text, bool keep_newlines = false);

struct TextLine {
  std::size_t begin = 0, end = 0;  // bytes; without the newline, with the spaces that a break swallows
};

// Lines of `text` (valid UTF-8) as shown_text draws them: at every newline, else at spaces, else between graphemes.
// There is at least one line, and an empty one after a newline at the end.
[[nodiscard]] std::vector<TextLine> wrap_lines(std::string_view text, float width, const TextMeasure& measure,
                                               Face face, float size);

// The same as texts to draw, spaces at a break dropped, at most `max_lines`: the last one then ends in "…".
[[nodiscard]] std::vector<std::string> wrap_text(std::string_view text, float width, const TextMeasure& measure,
                                                 Face face, float size, std::size_t max_lines = 1000);

}  // namespace headroom
