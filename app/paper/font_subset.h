// Fonts in files: a font with no more than some characters. Main thread only, as the fonts are.
#pragma once

#include <set>
#include <string>

#include "app/text/font_face.h"

namespace headroom {

// The font file with the glyphs of these characters, kerning and marks, without hints; empty where the font cannot be
// taken apart: a bitmap or colour font, an instance of a variable one.
[[nodiscard]] std::string font_subset(const FontFace& font, const std::set<char32_t>& characters);

}  // namespace headroom
