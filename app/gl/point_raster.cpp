#include "app/gl/point_raster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace headroom {

PointImage rasterise_points(std::span<const Vec2> centres, float scale, int size, std::uint8_t alpha, int x0, int y0,
                            int width, int height) {
  PointImage image{x0, y0, std::max(width, 0), std::max(height, 0), {}};
  const std::size_t count = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  std::vector<std::uint16_t> squares(count);
  const float half = 0.5f * static_cast<float>(size);
  const auto low_x = static_cast<float>(x0 - size), high_x = static_cast<float>(x0 + width);
  const auto low_y = static_cast<float>(y0 - size), high_y = static_cast<float>(y0 + height);
  for (const Vec2 centre : centres) {
    const float left = std::floor(centre.x * scale - half + 0.5f), top = std::floor(centre.y * scale - half + 0.5f);
    if (!(left > low_x && left < high_x && top > low_y && top < high_y)) continue;
    const int from_x = std::max(static_cast<int>(left) - x0, 0),
              to_x = std::min(static_cast<int>(left) - x0 + size, width);
    const int from_y = std::max(static_cast<int>(top) - y0, 0),
              to_y = std::min(static_cast<int>(top) - y0 + size, height);
    for (int y = from_y; y < to_y; ++y) {
      std::uint16_t* row = squares.data() + static_cast<std::size_t>(y) * image.width;
      for (int x = from_x; x < to_x; ++x) {
        if (row[x] < std::numeric_limits<std::uint16_t>::max()) ++row[x];
      }
    }
  }
  std::vector<std::uint8_t> opacity_of(std::size_t{std::numeric_limits<std::uint16_t>::max()} + 1);
  double through = 1.0;
  for (std::uint8_t& opacity : opacity_of) {
    opacity = static_cast<std::uint8_t>(std::lround(255.0 * (1.0 - through)));
    through *= 1.0 - static_cast<double>(alpha) / 255.0;
    if (through < 1e-9) through = 0.0;
  }
  image.opacity.resize(count);
  std::transform(squares.begin(), squares.end(), image.opacity.begin(), [&](std::uint16_t n) { return opacity_of[n]; });
  return image;
}

std::uint64_t hash_points(std::span<const Vec2> centres) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ull;
  std::array<std::uint64_t, 4> lanes = {1, 2, 3, 4};
  for (std::size_t i = 0; i < centres.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &centres[i], sizeof bits);
    std::uint64_t& lane = lanes[i % lanes.size()];
    lane = (lane ^ bits) * kFactor;
    lane ^= lane >> 32;
  }
  std::uint64_t hash = centres.size();
  for (const std::uint64_t lane : lanes) hash = (hash ^ lane) * kFactor ^ (hash >> 29);
  return hash;
}

}  // namespace headroom
