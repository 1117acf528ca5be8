// Draws many equal squares: from one vertex buffer (shaders/points.*) on a graphics card, counted per pixel
// (point_raster.h) where OpenGL itself is software, which needs 0.2 µs a point. What does not change is kept on the
// device. Main thread only, with a current context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/gl/shader.h"
#include "app/plot/geometry.h"

namespace headroom {

enum class PointMethod : std::uint8_t { Automatic, Vertices, Counted };

struct PointDraw {
  std::size_t batch = 0;      // of this frame
  std::uint64_t content = 0;  // tells its points from others
  int count = 0;
  Color color;
  float size = 1.0f;   // device pixels, whole
  float scale = 1.0f;  // device pixels per logical pixel
};

class PointRenderer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<PointRenderer>> create(const std::filesystem::path& shader_folder,
                                                                     PointMethod method = PointMethod::Automatic);

  // Copies the points to the device; valid until the next begin_frame(). `clip`: the device pixels that can be seen.
  [[nodiscard]] PointDraw prepare(std::span<const Vec2> centres, Color color, float size, float scale,
                                  const Rect& clip);
  void draw(const PointDraw& points, int frame_width, int frame_height);
  void begin_frame(const std::function<void(const std::string&)>& report);

 private:
  PointRenderer(ShaderProgram vertices, ShaderProgram counted, bool counts);

  struct Batch {
    std::uint64_t hash = 0;
    float size = 0.0f, scale = 0.0f;
    std::uint8_t alpha = 0;
    Rect clip;
    bool used = false;
    GlBuffer buffer;  // of centres
    GlVertexArray array;
    GlTexture opacity;  // of pixels
  };
  [[nodiscard]] Batch& batch_for(const Batch& wanted, bool& fresh, std::size_t& number);

  ShaderProgram vertices_, counted_;
  bool counts_;
  std::vector<Batch> batches_;
};

}  // namespace headroom
