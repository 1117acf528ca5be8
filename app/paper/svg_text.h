// Pieces of SVG text. Pure functions; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/plot/geometry.h"
#include "app/text/font_library.h"

namespace headroom {

// Nine significant digits, without exponent where that is as short: "83.1496063".
[[nodiscard]] std::string svg_number(double value);
// For texts and attributes between double quotes; control characters, which XML has no place for, become U+FFFD.
[[nodiscard]] std::string xml_text(std::string_view text);
// ` fill="#rrggbb"`, with its opacity where it is below 1.
[[nodiscard]] std::string svg_fill(Color color);
[[nodiscard]] std::string svg_stroke(Color color, float width);
[[nodiscard]] std::string base64(std::string_view bytes);

// The outlines of a line of text, its baseline beginning at the origin. Characters that no font of a page has are
// boxes; `boxes` counts them.
[[nodiscard]] std::string text_outlines(const FontLibrary& fonts, std::string_view text, Face face, float size,
                                        int& boxes);

}  // namespace headroom
