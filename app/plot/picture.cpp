#include "app/plot/picture.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headroom {
namespace {

// The pixels [begin, end) of `from` that pixel `i` of `to` stands for; at least one.
std::pair<std::int64_t, std::int64_t> share(std::int64_t i, std::int64_t from, std::int64_t to) {
  const std::int64_t begin = i * from / to;
  return {begin, std::max(begin + 1, (i + 1) * from / to)};
}

}  // namespace

RgbPicture shrunk(std::span<const std::uint8_t> rgb, std::int32_t width, std::int32_t height, std::int32_t most_width,
                  std::int32_t most_height) {
  RgbPicture picture;
  if (width <= 0 || height <= 0 || most_width <= 0 || most_height <= 0) return picture;
  const double factor =
      std::min({1.0, static_cast<double>(most_width) / width, static_cast<double>(most_height) / height});
  picture.width = std::max(1, static_cast<std::int32_t>(factor * width));
  picture.height = std::max(1, static_cast<std::int32_t>(factor * height));
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 3);
  for (std::int32_t y = 0; y < picture.height; ++y) {
    const auto [top, bottom] = share(y, height, picture.height);
    for (std::int32_t x = 0; x < picture.width; ++x) {
      const auto [left, right] = share(x, width, picture.width);
      std::int64_t sums[3] = {};
      for (std::int64_t row = top; row < bottom; ++row)
        for (std::int64_t column = left; column < right; ++column)
          for (std::size_t c = 0; c < 3; ++c) sums[c] += rgb[static_cast<std::size_t>(3 * (row * width + column)) + c];
      const std::int64_t count = (bottom - top) * (right - left);
      for (const std::int64_t sum : sums) pixels.push_back(static_cast<std::uint8_t>((sum + count / 2) / count));
    }
  }
  picture.rgb = std::make_shared<const std::vector<std::uint8_t>>(std::move(pixels));
  return picture;
}

}  // namespace headroom
