#include "app/gl/map_textures.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headroom {
namespace {

constexpr std::uint64_t kFramesUnused = 3600;

std::size_t bytes_of(const MapTexture& texture) {
  return static_cast<std::size_t>(texture.width) * static_cast<std::size_t>(texture.height) * sizeof(float);
}

void make_tiles(MapTexture& texture, int largest) {
  texture.tiles.clear();
  for (int y = 0; y < texture.height; y += largest) {
    for (int x = 0; x < texture.width; x += largest) {
      MapTile tile{GlTexture::make(), x, y, std::min(largest, texture.width - x),
                   std::min(largest, texture.height - y)};
      glBindTexture(GL_TEXTURE_2D, tile.texture.name());
      glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
      glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
      glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
      glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
      glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, tile.width, tile.height, 0, GL_RED, GL_FLOAT, nullptr);
      texture.tiles.push_back(std::move(tile));
    }
  }
}

void upload(const MapTexture& texture, const std::vector<float>& values) {
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, texture.width);
  for (const MapTile& tile : texture.tiles) {
    const float* first =
        values.data() + static_cast<std::size_t>(tile.y) * texture.width + static_cast<std::size_t>(tile.x);
    glBindTexture(GL_TEXTURE_2D, tile.texture.name());
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, tile.width, tile.height, GL_RED, GL_FLOAT, first);
  }
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glBindTexture(GL_TEXTURE_2D, 0);
}

}  // namespace

MapTextures::MapTextures(int largest) : largest_(largest) {
  if (largest_ > 0) return;
  GLint limit = 1024;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &limit);
  largest_ = std::max(limit, 64);
}

const MapTexture& MapTextures::texture(const MapImage& image) {
  MapTexture& texture = textures_[image.id];
  texture.last_used = frame_;
  const bool complete =
      image.values && image.width > 0 && image.height > 0 &&
      image.values->size() >= static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  if (!complete) {
    bytes_ -= bytes_of(texture);
    texture = MapTexture{};
    texture.last_used = frame_;
    return texture;
  }
  const bool resized = texture.width != image.width || texture.height != image.height;
  if (resized) {
    bytes_ -= bytes_of(texture);
    texture.width = image.width;
    texture.height = image.height;
    bytes_ += bytes_of(texture);
    make_tiles(texture, largest_);
  }
  if (resized || texture.generation != image.generation) {
    upload(texture, *image.values);
    ++uploads_;
    uploaded_bytes_ += bytes_of(texture);
    texture.generation = image.generation;
  }
  return texture;
}

void MapTextures::begin_frame(std::size_t budget_bytes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unused;  // last use, id
  for (const auto& [id, texture] : textures_) {
    if (texture.last_used < frame_) unused.emplace_back(texture.last_used, id);
  }
  std::sort(unused.begin(), unused.end());
  for (const auto& [last_used, id] : unused) {
    if (bytes_ <= budget_bytes && frame_ - last_used < kFramesUnused) break;
    drop(id);
  }
  ++frame_;
}

void MapTextures::drop(std::uint64_t id) {
  const auto found = textures_.find(id);
  bytes_ -= bytes_of(found->second);
  textures_.erase(found);
}

}  // namespace headroom
