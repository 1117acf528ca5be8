// One opened font file: FreeType for pictures, HarfBuzz for shaping. Main thread only.
#pragma once

#include <ft2build.h>
#include FT_FREETYPE_H
#include <hb.h>

#include <memory>
#include <string>

#include "app/text/font_files.h"
#include "app/text/font_library.h"

namespace headroom {

struct FreeTypeDeleter {
  void operator()(FT_Library library) const { FT_Done_FreeType(library); }
};
using FreeType = std::unique_ptr<FT_LibraryRec_, FreeTypeDeleter>;

// HarfBuzz positions of a FontFace are in these units per em, whatever the font's own are.
inline constexpr int kShapeUnits = 1 << 16;

class FontFace {
 public:
  // Null if FreeType cannot read the file.
  [[nodiscard]] static std::unique_ptr<FontFace> open(FT_Library library, const FontFile& file);
  ~FontFace();
  FontFace(const FontFace&) = delete;
  FontFace& operator=(const FontFace&) = delete;

  [[nodiscard]] bool has(char32_t code_point) const;
  [[nodiscard]] hb_font_t* shaper() const { return shaper_; }
  [[nodiscard]] const FontFile& file() const { return file_; }
  [[nodiscard]] std::string name() const;  // "Inter Semi Bold"
  [[nodiscard]] FT_Face face() const { return face_; }

 private:
  FontFace(FT_Face face, hb_font_t* shaper, FontFile file);
  FT_Face face_;
  hb_font_t* shaper_;
  FontFile file_;
};

// The picture of a glyph of `font`; empty if it has no outline or cannot be made.
[[nodiscard]] GlyphPicture rasterise_glyph(FT_Library library, const FontFace& font, const GlyphKey& key);

// The picture for a character that no font has: its code in a box where the size allows, `digits` being the font of the
// code; an empty box else. U+2922 has a drawing of its own.
[[nodiscard]] GlyphPicture rasterise_box(FT_Library library, const FontFace& digits, const GlyphKey& key);
// How far such a box moves the pen, in ems.
[[nodiscard]] float box_advance(char32_t code_point);

}  // namespace headroom
