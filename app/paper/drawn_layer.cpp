#include "app/paper/drawn_layer.h"

#include <cmath>

#include "app/paper/cairo_painter.h"

namespace headroom {

CairoSurface drawn_layer(Rect area, const FontLibrary& fonts, double dots_per_inch,
                         const std::function<void(Painter&)>& draw) {
  const double scale = dots_per_inch / 72.0;
  CairoSurface surface(cairo_image_surface_create(
      CAIRO_FORMAT_ARGB32, static_cast<int>(std::ceil(static_cast<double>(area.width()) * scale)),
      static_cast<int>(std::ceil(static_cast<double>(area.height()) * scale))));
  if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS) return {};
  {
    const CairoContext context(cairo_create(surface.get()));
    cairo_scale(context.get(), scale, scale);
    cairo_translate(context.get(), -static_cast<double>(area.x0), -static_cast<double>(area.y0));
    CairoPainter painter(context.get(), fonts, dots_per_inch);
    painter.rasterised(area, draw);
  }
  cairo_surface_flush(surface.get());
  return surface;
}

}  // namespace headroom
