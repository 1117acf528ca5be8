#include "app/gl/point_renderer.h"

#include <algorithm>

#include "app/gl/point_raster.h"
#include "app/gl/software_renderer.h"

namespace headroom {
namespace {

void upload_vertices(GLuint array, GLuint buffer, std::span<const Vec2> centres) {
  static_assert(sizeof(Vec2) == 2 * sizeof(float));
  glBindVertexArray(array);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(centres.size_bytes()), centres.data(), GL_STREAM_DRAW);
  glEnableVertexAttribArray(0);
  glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, sizeof(Vec2), nullptr);
  glBindVertexArray(0);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
}

void upload_opacity(GLuint texture, const PointImage& image) {
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, image.width, image.height, 0, GL_RED, GL_UNSIGNED_BYTE, image.opacity.data());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glBindTexture(GL_TEXTURE_2D, 0);
}

}  // namespace

PointRenderer::PointRenderer(ShaderProgram vertices, ShaderProgram counted, bool counts)
    : vertices_(std::move(vertices)), counted_(std::move(counted)), counts_(counts) {}

Result<std::unique_ptr<PointRenderer>> PointRenderer::create(const std::filesystem::path& shader_folder,
                                                             PointMethod method) {
  HEADROOM_TRY(ShaderProgram vertices, ShaderProgram::load(shader_folder, "points.vert", "points.frag"));
  HEADROOM_TRY(ShaderProgram counted, ShaderProgram::load(shader_folder, "map.vert", "counted_points.frag"));
  const bool counts = method == PointMethod::Automatic ? software_renderer() : method == PointMethod::Counted;
  return std::unique_ptr<PointRenderer>(new PointRenderer(std::move(vertices), std::move(counted), counts));
}

PointRenderer::Batch& PointRenderer::batch_for(const Batch& wanted, bool& fresh, std::size_t& number) {
  const auto same = [&](const Batch& b) {
    return b.hash == wanted.hash && (!counts_ || (b.size == wanted.size && b.scale == wanted.scale &&
                                                  b.alpha == wanted.alpha && b.clip == wanted.clip));
  };
  auto found = std::find_if(batches_.begin(), batches_.end(), same);
  fresh = found == batches_.end();
  if (fresh) {
    batches_.emplace_back();
    found = batches_.end() - 1;
    found->hash = wanted.hash;
    found->size = wanted.size;
    found->scale = wanted.scale;
    found->alpha = wanted.alpha;
    found->clip = wanted.clip;
  }
  found->used = true;
  number = static_cast<std::size_t>(found - batches_.begin());
  return *found;
}

PointDraw PointRenderer::prepare(std::span<const Vec2> centres, Color color, float size, float scale,
                                 const Rect& clip) {
  Batch wanted;
  wanted.hash = hash_points(centres);
  wanted.size = size;
  wanted.scale = scale;
  wanted.alpha = color.a;
  wanted.clip = clip;
  PointDraw draw{0, wanted.hash, static_cast<int>(centres.size()), color, size, scale};
  bool fresh = false;
  Batch& batch = batch_for(wanted, fresh, draw.batch);
  if (!fresh) return draw;
  if (counts_) {
    batch.opacity = GlTexture::make();
    upload_opacity(
        batch.opacity.name(),
        rasterise_points(centres, scale, static_cast<int>(size), color.a, static_cast<int>(clip.x0),
                         static_cast<int>(clip.y0), static_cast<int>(clip.width()), static_cast<int>(clip.height())));
  } else {
    batch.buffer = GlBuffer::make();
    batch.array = GlVertexArray::make();
    upload_vertices(batch.array.name(), batch.buffer.name(), centres);
  }
  return draw;
}

void PointRenderer::draw(const PointDraw& points, int frame_width, int frame_height) {
  Batch& batch = batches_[points.batch];
  ShaderProgram& program = counts_ ? counted_ : vertices_;
  program.use();
  glUniform2f(program.location("u_frame"), static_cast<float>(frame_width), static_cast<float>(frame_height));
  glUniform4f(program.location("u_color"), static_cast<float>(points.color.r) / 255.0f,
              static_cast<float>(points.color.g) / 255.0f, static_cast<float>(points.color.b) / 255.0f,
              static_cast<float>(points.color.a) / 255.0f);
  if (counts_) {
    if (!batch.array) batch.array = GlVertexArray::make();
    glBindVertexArray(batch.array.name());
    glUniform4f(program.location("u_quad"), batch.clip.x0, batch.clip.y0, batch.clip.x1, batch.clip.y1);
    glUniform1i(program.location("u_opacity"), 0);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, batch.opacity.name());
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    return;
  }
  glUniform1f(program.location("u_size"), points.size);
  glUniform1f(program.location("u_scale_px"), points.scale);
  glBindVertexArray(batch.array.name());
  glEnable(GL_PROGRAM_POINT_SIZE);
  glDrawArrays(GL_POINTS, 0, points.count);
  glDisable(GL_PROGRAM_POINT_SIZE);
}

void PointRenderer::begin_frame(const std::function<void(const std::string&)>& report) {
  vertices_.reload_if_changed(report);
  counted_.reload_if_changed(report);
  std::erase_if(batches_, [](const Batch& batch) { return !batch.used; });
  for (Batch& batch : batches_) batch.used = false;
}

}  // namespace headroom
