#include "app/paper/map_pixels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace headroom {
namespace {

constexpr Color kPaper = Color::hex(0xffffff), kHatchInk = Color::hex(0x9a9a9a);

// Lines at 45° every 1.2 mm, 0.6 pt wide.
Color hatch(std::int32_t x, std::int32_t y, double pixels_per_point) {
  const double period = 1.2 / 25.4 * 72.0 * std::sqrt(2.0) * pixels_per_point;
  return std::fmod(static_cast<double>(x) + static_cast<double>(y), period) < 0.6 * std::sqrt(2.0) * pixels_per_point
             ? kHatchInk
             : kPaper;
}

}  // namespace

RgbGrid map_pixels(const MapImage& image, Rect source, const MapShading& shading, Rect target, double dots_per_inch) {
  RgbGrid grid;
  const auto x0 = static_cast<std::int32_t>(std::clamp<long>(std::lround(source.x0), 0, image.width));
  const auto x1 = static_cast<std::int32_t>(std::clamp<long>(std::lround(source.x1), x0, image.width));
  const auto y0 = static_cast<std::int32_t>(std::clamp<long>(std::lround(source.y0), 0, image.height));
  const auto y1 = static_cast<std::int32_t>(std::clamp<long>(std::lround(source.y1), y0, image.height));
  if (x1 <= x0 || y1 <= y0) return grid;
  const auto times = [&](float points, std::int32_t cells) {
    return std::max(
        1, static_cast<std::int32_t>(std::ceil(static_cast<double>(points) / 72.0 * dots_per_inch / cells - 1e-6)));
  };
  const std::int32_t kx = times(target.width(), x1 - x0), ky = times(target.height(), y1 - y0);
  grid.width = (x1 - x0) * kx, grid.height = (y1 - y0) * ky;
  grid.rgb.resize(std::size_t{3} * static_cast<std::size_t>(grid.width) * static_cast<std::size_t>(grid.height));
  const double pixels_per_point = static_cast<double>(grid.width) / static_cast<double>(target.width());
  std::uint8_t* to = grid.rgb.data();
  std::vector<std::optional<Color>> row(static_cast<std::size_t>(x1 - x0));  // none: hatched
  for (std::int32_t y = 0; y < grid.height; ++y) {
    if (y % ky == 0) {
      const float* const values = image.values->data() +
                                  static_cast<std::size_t>(y0 + y / ky) * static_cast<std::size_t>(image.width) +
                                  static_cast<std::size_t>(x0);
      for (std::size_t cell = 0; cell < row.size(); ++cell) {
        const float value = values[cell];
        const bool hatched = std::isinf(value) || (std::isnan(value) && shading.nan == NanStyle::Hatched);
        row[cell] = hatched             ? std::nullopt
                    : std::isnan(value) ? std::optional(kPaper)
                                        : std::optional(scale_color(shading.scale, value));
      }
    }
    std::int32_t x = 0;
    for (const std::optional<Color>& cell : row)
      for (const std::int32_t end = x + kx; x < end; ++x, to += 3) {
        const Color color = cell ? *cell : hatch(x, y, pixels_per_point);
        to[0] = color.r, to[1] = color.g, to[2] = color.b;
      }
  }
  return grid;
}

}  // namespace headroom
