#include "app/paper/cairo_fonts.h"

#include <cairo-ft.h>

#include "app/text/font_face.h"

namespace headroom {
namespace {

// Cairo keeps fonts for later beyond all that uses them, so the library that they live in stays as long as the process.
FT_Library cairo_library() {
  static FT_Library library = [] {
    FT_Library made = nullptr;
    return FT_Init_FreeType(&made) == 0 ? made : nullptr;
  }();
  return library;
}

void done_face(void* face) { FT_Done_Face(static_cast<FT_Face>(face)); }

CairoFont open(const FontFile& file) {
  static const cairo_user_data_key_t kKey{};
  FT_Face face = nullptr;
  if (cairo_library() == nullptr || FT_New_Face(cairo_library(), file.path.c_str(), file.index, &face) != 0) return {};
  if (FT_HAS_COLOR(face) || !FT_IS_SCALABLE(face)) {
    FT_Done_Face(face);
    return {};
  }
  CairoFont font(cairo_ft_font_face_create_for_ft_face(face, FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP));
  if (cairo_font_face_set_user_data(font.get(), &kKey, face, done_face) != CAIRO_STATUS_SUCCESS) {
    font.reset();
    FT_Done_Face(face);
  }
  return font;
}

}  // namespace

cairo_font_face_t* CairoFonts::face(std::uint32_t font) {
  if (font == kBoxFont) return nullptr;
  const auto [entry, fresh] = faces_.try_emplace(font);
  if (fresh) entry->second = open(library_.font(font).file());
  return entry->second.get();
}

}  // namespace headroom
