// Textures of map images, kept by id until they change or room is needed. Main thread only, with a current context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "app/gl/gl_handle.h"
#include "app/plot/painter.h"

namespace headroom {

// A piece of an image: GL limits the size of one texture.
struct MapTile {
  GlTexture texture;                        // R32F, nearest
  int x = 0, y = 0, width = 0, height = 0;  // cells of the image
};

struct MapTexture {
  std::uint64_t generation = 0;
  int width = 0, height = 0;
  std::uint64_t last_used = 0;
  std::vector<MapTile> tiles;
};

class MapTextures {
 public:
  // `largest`: of a tile's side; 0 asks GL.
  explicit MapTextures(int largest = 0);

  // The image's texture, uploaded if it is new or its generation or size differs. Valid until the next begin_frame().
  // An image without values or with too few has no tiles.
  [[nodiscard]] const MapTexture& texture(const MapImage& image);

  // Drops what was not drawn in the last frame while more than `budget_bytes` are held, and all that was not drawn for
  // a minute's worth of frames.
  void begin_frame(std::size_t budget_bytes);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // Since the beginning.
  [[nodiscard]] std::uint64_t uploads() const { return uploads_; }
  [[nodiscard]] std::uint64_t uploaded_bytes() const { return uploaded_bytes_; }

 private:
  void drop(std::uint64_t id);

  int largest_;
  std::uint64_t frame_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t uploads_ = 0, uploaded_bytes_ = 0;
  std::unordered_map<std::uint64_t, MapTexture> textures_;
};

}  // namespace headroom
