// The colours of a map's cells, for files. Pure function; safe from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "app/plot/painter.h"

namespace headroom {

struct RgbGrid {
  std::int32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // row-major, top row first
};

// Each cell of `source` (whole cells) as one flat square of as many pixels as give at least `dots_per_inch` on `target`
// (points). Cells that are not a number are white, or hatched where the shading says so.
[[nodiscard]] RgbGrid map_pixels(const MapImage& image, Rect source, const MapShading& shading, Rect target,
                                 double dots_per_inch);

}  // namespace headroom
