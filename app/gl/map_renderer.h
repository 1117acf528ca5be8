// Draws map images through their colour scale (shaders/map.*), which finds the entry that scale_color() finds
// (gl/color_steps.h). Not on the CPU: 3840 × 2160 values take 95 ms there on two threads, and a frame of a drag has 16.
// `largest_tile`: of a texture's side, 0 asks GL. Main thread only, with a current context.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
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
  std::uint64_t image = 0, generation = 0;
  GLuint steps = 0, colors = 0;  // textures of the scale
  ColorScale scale;
  Rect target;                                                             // whole device pixels
  double source_x = 0, source_y = 0, source_width = 1, source_height = 1;  // cells
  int gap = 0;
  Color gap_color, empty, hatch;
  bool hatch_nan = false;
  int hatch_distance = 4, hatch_width = 1;
  int hatch_shift_x = 0, hatch_shift_y = 0;
  friend bool operator==(const MapDraw&, const MapDraw&) = default;
};

class MapRenderer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<MapRenderer>> create(const std::filesystem::path& shader_folder,
                                                                   int largest_tile = 0);

  // Uploads what is needed; the draw is valid until the next begin_frame().
  [[nodiscard]] MapDraw prepare(const MapImage& image, const ColorScale& scale);
  // Into the bound framebuffer of that size; scissor and blending are the caller's.
  void draw(const MapDraw& map, int frame_width, int frame_height);

  // The part `seen` (whole device pixels) of the map as a texture of its size, bottom row first, if it was already
  // drawn in the last frame and is still the same; else 0. A map that only lies there then costs as little as a
  // picture.
  [[nodiscard]] GLuint kept_picture(const MapDraw& map, const Rect& seen);

  void begin_frame(const std::function<void(const std::string&)>& report);
  [[nodiscard]] const MapTextures& textures() const { return textures_; }

 private:
  MapRenderer(ShaderProgram program, int largest_tile);
  [[nodiscard]] GLuint steps_texture(const ColorScale& scale);
  [[nodiscard]] GLuint colors_texture(ColorMapId map);

  struct Steps {
    ColorScale scale;
    GlTexture texture;
    std::uint64_t last_used = 0;
  };
  struct Kept {
    MapDraw map;
    Rect seen;
    std::uint64_t first_frame = 0, last_frame = 0;
    GlTexture picture;
  };
  void draw_picture(Kept& kept);

  ShaderProgram program_;
  GlVertexArray no_vertices_;
  MapTextures textures_;
  std::vector<Steps> steps_;
  std::array<GlTexture, kColorMapCount> colors_;
  std::vector<Kept> kept_;
  GlFramebuffer framebuffer_;
  std::uint64_t frame_ = 0;
};

}  // namespace headroom
