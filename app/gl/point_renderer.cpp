#include "app/gl/point_renderer.h"

namespace headroom {

PointRenderer::PointRenderer(ShaderProgram program) : program_(std::move(program)) {}

Result<std::unique_ptr<PointRenderer>> PointRenderer::create(const std::filesystem::path& shader_folder) {
  HEADROOM_TRY(ShaderProgram program, ShaderProgram::load(shader_folder, "points.vert", "points.frag"));
  return std::unique_ptr<PointRenderer>(new PointRenderer(std::move(program)));
}

PointDraw PointRenderer::prepare(std::span<const Vec2> centres, Color color, float size, float scale) {
  static_assert(sizeof(Vec2) == 2 * sizeof(float));
  if (used_ == batches_.size()) batches_.push_back({GlBuffer::make(), GlVertexArray::make()});
  const Batch& batch = batches_[used_];
  glBindVertexArray(batch.array.name());
  glBindBuffer(GL_ARRAY_BUFFER, batch.buffer.name());
  glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(centres.size_bytes()), centres.data(), GL_STREAM_DRAW);
  glBindVertexArray(0);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  return {used_++, static_cast<int>(centres.size()), color, size, scale};
}

void PointRenderer::draw(const PointDraw& points, int frame_width, int frame_height) {
  const Batch& batch = batches_[points.buffer];
  program_.use();
  glUniform2f(program_.location("u_frame"), static_cast<float>(frame_width), static_cast<float>(frame_height));
  glUniform1f(program_.location("u_size"), points.size);
  glUniform1f(program_.location("u_scale_px"), points.scale);
  glUniform4f(program_.location("u_color"), static_cast<float>(points.color.r) / 255.0f,
              static_cast<float>(points.color.g) / 255.0f, static_cast<float>(points.color.b) / 255.0f,
              static_cast<float>(points.color.a) / 255.0f);
  glBindVertexArray(batch.array.name());
  glBindBuffer(GL_ARRAY_BUFFER, batch.buffer.name());
  glEnableVertexAttribArray(0);
  glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, sizeof(Vec2), nullptr);
  glEnable(GL_PROGRAM_POINT_SIZE);
  glDrawArrays(GL_POINTS, 0, points.count);
  glDisable(GL_PROGRAM_POINT_SIZE);
}

void PointRenderer::begin_frame(const std::function<void(const std::string&)>& report) {
  program_.reload_if_changed(report);
  used_ = 0;
}

}  // namespace headroom
