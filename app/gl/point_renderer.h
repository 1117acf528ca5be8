// Draws many equal squares from one vertex buffer (shaders/points.*). Main thread only, with a current context.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/gl/shader.h"
#include "app/plot/geometry.h"

namespace headroom {

struct PointDraw {
  std::size_t buffer = 0;  // of this frame
  int count = 0;
  Color color;
  float size = 1.0f;       // device pixels, whole
  float scale = 1.0f;      // device pixels per logical pixel
};

class PointRenderer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<PointRenderer>> create(const std::filesystem::path& shader_folder);

  // Copies the points to the device; valid until the next begin_frame().
  [[nodiscard]] PointDraw prepare(std::span<const Vec2> centres, Color color, float size, float scale);
  void draw(const PointDraw& points, int frame_width, int frame_height);
  void begin_frame(const std::function<void(const std::string&)>& report);

 private:
  explicit PointRenderer(ShaderProgram program);

  struct Batch {
    GlBuffer buffer;
    GlVertexArray array;
  };
  ShaderProgram program_;
  std::vector<Batch> batches_;
  std::size_t used_ = 0;
};

}  // namespace headroom
