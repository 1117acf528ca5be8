#include "app/text/font_face.h"

#include <utility>

#include <hb-ot.h>

namespace headroom {

FontFace::FontFace(FT_Face face, hb_font_t* shaper, FontFile file)
    : face_(face), shaper_(shaper), file_(std::move(file)) {}

FontFace::~FontFace() {
  hb_font_destroy(shaper_);
  FT_Done_Face(face_);
}

std::unique_ptr<FontFace> FontFace::open(FT_Library library, const FontFile& file) {
  FT_Face face = nullptr;
  if (FT_New_Face(library, file.path.c_str(), file.index, &face) != 0) return nullptr;
  hb_blob_t* blob = hb_blob_create_from_file(file.path.c_str());
  hb_face_t* shape_face = hb_face_create(blob, static_cast<unsigned>(file.index & 0xffff));
  hb_blob_destroy(blob);
  hb_font_t* shaper = hb_font_create(shape_face);
  hb_face_destroy(shape_face);
  hb_ot_font_set_funcs(shaper);
  hb_font_set_scale(shaper, kShapeUnits, kShapeUnits);
  if (const long instance = file.index >> 16; instance > 0) {
    hb_font_set_var_named_instance(shaper, static_cast<unsigned>(instance - 1));
  }
  return std::unique_ptr<FontFace>(new FontFace(face, shaper, file));
}

bool FontFace::has(char32_t code_point) const { return FT_Get_Char_Index(face_, code_point) != 0; }

std::string FontFace::name() const {
  std::string name = face_->family_name ? face_->family_name : "?";
  if (face_->style_name) name += std::string(" ") + face_->style_name;
  return name;
}

}  // namespace headroom
