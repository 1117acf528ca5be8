// Owners of what Cairo makes.
#pragma once

#include <cairo.h>

#include <memory>

namespace headroom {

struct CairoDeleter {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
  void operator()(cairo_font_face_t* face) const { cairo_font_face_destroy(face); }
};
using CairoSurface = std::unique_ptr<cairo_surface_t, CairoDeleter>;
using CairoContext = std::unique_ptr<cairo_t, CairoDeleter>;
using CairoFont = std::unique_ptr<cairo_font_face_t, CairoDeleter>;

}  // namespace headroom
