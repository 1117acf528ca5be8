// Fonts of the library as Cairo takes them. Main thread only.
#pragma once

#include <cairo.h>

#include <cstdint>
#include <map>

#include "app/paper/cairo_handles.h"
#include "app/text/font_library.h"

namespace headroom {

class CairoFonts {
 public:
  // `library` outlives it.
  explicit CairoFonts(const FontLibrary& library) : library_(library) {}
  // Null where a page cannot hold the font: pictures of letters in colours would become bitmaps (Type 3).
  [[nodiscard]] cairo_font_face_t* face(std::uint32_t font);

 private:
  const FontLibrary& library_;
  std::map<std::uint32_t, CairoFont> faces_;
};

}  // namespace headroom
