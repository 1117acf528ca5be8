// Tokens as text that can be drawn: white space and control characters made visible, long ones elided in the middle.
// Pure functions; safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/plot/painter.h"

namespace headroom {

// A token's bytes for the readout: " the" → "␣the", newlines "↵", runs "␣×19", tabs "→", other control characters and
// invalid bytes as "\x1B"; bidirectional overrides as "\u{202E}".
[[nodiscard]] std::string visible_token(std::string_view bytes);
// The same for axes and the token strip: one leading space is dropped where something follows it.
[[nodiscard]] std::string token_label(std::string_view bytes);
// `text` (valid UTF-8), elided in the middle with "…" to at most `width` pixels; never splits a grapheme, a number
// with its unit ("512 tokens") or the name of a head; "" or "…" when nothing fits.
[[nodiscard]] std::string elide_middle(std::string_view text, float width, const TextMeasure& measure, Face face,
                                       float size);
// The same, elided at the end.
[[nodiscard]] std::string elide_end(std::string_view text, float width, const TextMeasure& measure, Face face,
                                    float size);
// Tokens may split a code point: the bytes of each token with incomplete sequences shown as \xNN.
[[nodiscard]] std::vector<std::string> visible_tokens(const std::vector<std::string>& tokens);

}  // namespace headroom
