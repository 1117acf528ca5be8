// UTF-8 as plots need it: code points, what joins the one before it, what is wide. Pure functions; safe from any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/utf8.h"

namespace headroom {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
};
// The code point at `at`; nothing where the bytes are not well-formed UTF-8 (overlong, surrogate, beyond U+10FFFF, cut
// off).
[[nodiscard]] std::optional<CodePoint> decode_utf8(std::string_view bytes, std::size_t at);

inline constexpr char32_t kJoiner = 0x200D;  // zero width

// Belongs to the character before it: combining marks, variation selectors, the zero width joiner, emoji modifiers.
[[nodiscard]] bool is_joining(char32_t c);
[[nodiscard]] bool is_wide(char32_t c);  // East Asian wide and emoji
// Draws nothing or turns the text round: controls, format characters, bidirectional overrides and isolates.
[[nodiscard]] bool is_invisible(char32_t c);

// Where the grapheme that begins at `at` ends. `text` is valid UTF-8. Simple clusters: marks, emoji joined or modified,
// flags, Hangul syllables, CR LF.
[[nodiscard]] std::size_t grapheme_end(std::string_view text, std::size_t at);

}  // namespace headroom
