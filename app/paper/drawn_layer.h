// A part of a page as pixels, for what has too many marks. Main thread only.
#pragma once

#include <functional>

#include "app/paper/cairo_handles.h"
#include "app/plot/painter.h"
#include "app/text/font_library.h"

namespace headroom {

// What `draw` draws into `area` (points), on nothing: ARGB, premultiplied, of `dots_per_inch`. Null without memory.
[[nodiscard]] CairoSurface drawn_layer(Rect area, const FontLibrary& fonts, double dots_per_inch,
                                       const std::function<void(Painter&)>& draw);

}  // namespace headroom
