// Draws map images through their colour scale (shaders/map.*). Main thread only, with a current context.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/gl/map_textures.h"
#include "app/gl/shader.h"
#include "app/plot/painter.h"
#include "core/base/result.h"

namespace headroom {

// One map as it will be drawn, in device pixels.
struct MapDraw {
  const MapTexture* texture = nullptr;
  GLuint steps = 0;          // texture of the scale
  ColorScale scale;
  Rect target;               // whole device pixels
  double source_x = 0, source_y = 0, source_width = 1, source_height = 1;  // cells
  int gap = 0;
  Color gap_color, empty, hatch;
  bool hatch_nan = false;
  int hatch_distance = 4, hatch_width = 1;
};

class MapRenderer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<MapRenderer>> create(const std::filesystem::path& shader_folder);

  // Uploads what is needed; the draw is valid until the next begin_frame().
  [[nodiscard]] MapDraw prepare(const MapImage& image, const ColorScale& scale);
  // Into the bound framebuffer of that size; scissor and blending are the caller's.
  void draw(const MapDraw& map, int frame_width, int frame_height);

  void begin_frame(const std::function<void(const std::string&)>& report);
  [[nodiscard]] std::size_t bytes() const { return textures_.bytes(); }

 private:
  explicit MapRenderer(ShaderProgram program);
  [[nodiscard]] GLuint steps_texture(const ColorScale& scale);

  struct Steps {
    ColorScale scale;
    GlTexture texture;
    std::uint64_t last_used = 0;
  };
  ShaderProgram program_;
  GlVertexArray no_vertices_;
  MapTextures textures_;
  std::vector<Steps> steps_;
  std::uint64_t frame_ = 0;
};

}  // namespace headroom
