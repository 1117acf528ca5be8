// Squares of one colour counted per pixel: what drawing them one over the other gives, without a graphics card's help.
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/plot/geometry.h"

namespace headroom {

// Opacity of each pixel of the frame's part [x0, x0 + width) × [y0, y0 + height), row-major: n squares of opacity
// `alpha` over each other let (1 − alpha)ⁿ of the ground through. `size`: whole device pixels; `scale`: device pixels
// per unit of the centres.
struct PointImage {
  int x0 = 0, y0 = 0, width = 0, height = 0;
  std::vector<std::uint8_t> opacity;
};
[[nodiscard]] PointImage rasterise_points(std::span<const Vec2> centres, float scale, int size, std::uint8_t alpha,
                                          int x0, int y0, int width, int height);

// Changes with any coordinate; for telling whether the points are those of the last frame.
[[nodiscard]] std::uint64_t hash_points(std::span<const Vec2> centres);

}  // namespace headroom
