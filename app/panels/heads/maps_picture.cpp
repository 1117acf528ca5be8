#include "app/panels/heads/maps_picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace headroom {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN(), kLowest = -std::numeric_limits<float>::infinity(),
                kNotThere = std::numeric_limits<float>::infinity();

struct Blocks {
  std::int64_t begin = 0, end = 0;
};

// Of `blocks`, those that pixel `at` of `pixels` shows.
Blocks blocks_of(std::int64_t at, std::int64_t pixels, std::int64_t blocks) {
  if (pixels >= blocks) {
    const std::int64_t one = std::min(blocks - 1, (2 * at + 1) * blocks / (2 * pixels));
    return {one, one + 1};
  }
  return {at * blocks / pixels, std::min(blocks, ((at + 1) * blocks + pixels - 1) / pixels)};
}

// −∞ where there is none; NaN does not count.
void raise(float& most, float value) { most = value > most ? value : most; }

float most_or_none(float most) { return most == kLowest ? kNone : most; }

struct Square {
  std::int64_t x0, y0, x1, y1;  // device pixels of the picture, not cut
};

// One thumbnail's part inside the picture.
class ThumbnailRaster {
 public:
  ThumbnailRaster(MapsPicture& picture) : picture_(picture) {}

  void draw(const Thumbnail& thumbnail, const Square& square, std::int64_t strip, std::int64_t strip_gap) {
    const std::int64_t top = std::max<std::int64_t>(square.y0, 0),
                       bottom = std::min<std::int64_t>(square.y1, picture_.height);
    const std::int64_t height = square.y1 - square.y0, left = square.x0 + strip + strip_gap, width = square.x1 - left;
    if (width <= 0 || height <= 0) return;
    const auto blocks = thumbnail.blocks;
    if (blocks <= 0 || thumbnail.cells.size() < static_cast<std::size_t>(blocks * blocks)) {
      for (std::int64_t y = top; y < bottom; ++y) fill(y, square.x0, square.x1, kNotThere);
      return;
    }
    if (columns_.size() != static_cast<std::size_t>(width) || columns_of_ != blocks) {
      columns_.clear();
      for (std::int64_t x = 0; x < width; ++x) columns_.push_back(blocks_of(x, width, blocks));
      columns_of_ = blocks;
    }
    row_.resize(static_cast<std::size_t>(blocks));
    for (std::int64_t y = top; y < bottom; ++y) {
      const Blocks rows = blocks_of(y - square.y0, height, blocks);
      std::ranges::fill(row_, kLowest);
      for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        const float* cells = thumbnail.cells.data() + r * blocks;
        for (std::int64_t k = 0; k < blocks; ++k) raise(row_[static_cast<std::size_t>(k)], cells[k]);
      }
      float* out = picture_.values.data() + y * picture_.width;
      for (std::int64_t x = std::max<std::int64_t>(0, -left); x < std::min(width, picture_.width - left); ++x) {
        const Blocks& across = columns_[static_cast<std::size_t>(x)];
        float most = kLowest;
        for (std::int64_t k = across.begin; k < across.end; ++k) raise(most, row_[static_cast<std::size_t>(k)]);
        out[left + x] = most_or_none(most);
      }
      if (strip == 0 || thumbnail.key.size() < static_cast<std::size_t>(blocks)) continue;
      float most = kLowest;
      for (std::int64_t r = rows.begin; r < rows.end; ++r) raise(most, thumbnail.key[static_cast<std::size_t>(r)]);
      fill(y, square.x0, square.x0 + strip, most_or_none(most));
    }
  }

 private:
  void fill(std::int64_t y, std::int64_t x0, std::int64_t x1, float value) {
    x0 = std::max<std::int64_t>(x0, 0), x1 = std::min<std::int64_t>(x1, picture_.width);
    for (float* out = picture_.values.data() + y * picture_.width; x0 < x1; ++x0) out[x0] = value;
  }

  MapsPicture& picture_;
  std::vector<Blocks> columns_;
  std::int64_t columns_of_ = 0;
  std::vector<float> row_;
};

}  // namespace

std::int32_t device_edge(float logical, float scale) {
  return static_cast<std::int32_t>(std::floor(logical * scale + 0.5f));
}

MapsPicture make_maps_picture(Rect view, float scale, std::span<const Thumbnail> thumbnails, float strip) {
  MapsPicture picture;
  const std::int32_t x0 = device_edge(view.x0, scale), y0 = device_edge(view.y0, scale);
  picture.target = view;
  picture.width = std::max(0, device_edge(view.x1, scale) - x0);
  picture.height = std::max(0, device_edge(view.y1, scale) - y0);
  picture.values.assign(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height), kNone);
  const std::int64_t gap = strip > 1.0f ? std::max(1, device_edge(1.0f, scale)) : 0;
  const std::int64_t wide = strip > 1.0f ? std::max<std::int64_t>(1, device_edge(strip, scale) - gap) : 0;
  ThumbnailRaster raster(picture);
  for (const Thumbnail& thumbnail : thumbnails) {
    const Square square{device_edge(thumbnail.square.x0, scale) - x0, device_edge(thumbnail.square.y0, scale) - y0,
                        device_edge(thumbnail.square.x1, scale) - x0, device_edge(thumbnail.square.y1, scale) - y0};
    if (square.x1 <= 0 || square.y1 <= 0 || square.x0 >= picture.width || square.y0 >= picture.height) continue;
    raster.draw(thumbnail, square, wide, gap);
  }
  return picture;
}

}  // namespace headroom
