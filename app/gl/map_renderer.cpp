#include "app/gl/map_renderer.h"

#include <array>
#include <cmath>

#include "app/gl/color_steps.h"

namespace headroom {
namespace {

constexpr std::size_t kTextureBudget = std::size_t{256} << 20;
constexpr std::size_t kMaxScales = 64;

void upload_steps(GLuint texture, const ColorScale& scale) {
  const ColorSteps steps = color_steps(scale);
  const ColorTable& colors = color_table(scale.map);
  std::array<float, 256 * 4> texels{};
  for (std::size_t k = 0; k < 256; ++k) {
    texels[4 * k] = steps.from[k];
    texels[4 * k + 1] = steps.from[k + 1];
    texels[4 * k + 2] = static_cast<float>((colors[k].r << 16) | (colors[k].g << 8) | colors[k].b);
  }
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, 256, 1, 0, GL_RGBA, GL_FLOAT, texels.data());
  glBindTexture(GL_TEXTURE_2D, 0);
}

// u_scale of color_scale.glsl. A scale without extent gives numbers that only cost the shader a longer search.
std::array<float, 4> scale_uniform(const ColorScale& scale) {
  const double low = static_cast<double>(scale.low), high = static_cast<double>(scale.high);
  const double threshold = static_cast<double>(scale.threshold);
  double first = 0.0, second = 1.0;
  switch (scale.kind) {
    case ScaleKind::Linear:
      first = low;
      second = high > low ? 1.0 / (high - low) : 1.0;
      break;
    case ScaleKind::Log10:
      first = low > 0.0 ? std::log2(low) : 0.0;
      second = low > 0.0 && high > low ? 1.0 / (std::log2(high) - first) : 1.0;
      break;
    case ScaleKind::Symlog:
      first = threshold > 0.0 ? threshold : high;
      second = high > first ? 1.0 / (1.0 + std::log10(high / first)) : 1.0;
      break;
  }
  return {static_cast<float>(first), static_cast<float>(second), 0.0f, 0.0f};
}

void set_color(GLint location, Color color) {
  glUniform4f(location, static_cast<float>(color.r) / 255.0f, static_cast<float>(color.g) / 255.0f,
              static_cast<float>(color.b) / 255.0f, static_cast<float>(color.a) / 255.0f);
}

}  // namespace

MapRenderer::MapRenderer(ShaderProgram program) : program_(std::move(program)), no_vertices_(GlVertexArray::make()) {}

Result<std::unique_ptr<MapRenderer>> MapRenderer::create(const std::filesystem::path& shader_folder) {
  HEADROOM_TRY(ShaderProgram program, ShaderProgram::load(shader_folder, "map.vert", "map.frag"));
  return std::unique_ptr<MapRenderer>(new MapRenderer(std::move(program)));
}

GLuint MapRenderer::steps_texture(const ColorScale& scale) {
  for (Steps& steps : steps_) {
    if (steps.scale == scale) {
      steps.last_used = frame_;
      return steps.texture.name();
    }
  }
  // The oldest one is written over, unless this frame needs them all.
  Steps* place = nullptr;
  if (steps_.size() >= kMaxScales) {
    for (Steps& steps : steps_) {
      if (steps.last_used < frame_ && (!place || steps.last_used < place->last_used)) place = &steps;
    }
  }
  if (!place) place = &steps_.emplace_back(Steps{scale, GlTexture::make(), 0});
  place->scale = scale;
  place->last_used = frame_;
  upload_steps(place->texture.name(), scale);
  return place->texture.name();
}

MapDraw MapRenderer::prepare(const MapImage& image, const ColorScale& scale) {
  MapDraw map;
  map.texture = &textures_.texture(image);
  map.steps = steps_texture(scale);
  map.scale = scale;
  return map;
}

void MapRenderer::begin_frame(const std::function<void(const std::string&)>& report) {
  program_.reload_if_changed(report);
  textures_.begin_frame(kTextureBudget);
  ++frame_;
}

void MapRenderer::draw(const MapDraw& map, int frame_width, int frame_height) {
  if (map.target.empty() || !(map.source_width > 0.0) || !(map.source_height > 0.0)) return;
  const double per_pixel_x = map.source_width / static_cast<double>(map.target.width());
  const double per_pixel_y = map.source_height / static_cast<double>(map.target.height());
  const double first_x = std::floor(map.source_x), first_y = std::floor(map.source_y);

  program_.use();
  glUniform1i(program_.location("u_values"), 0);
  glUniform1i(program_.location("u_steps"), 1);
  glUniform2f(program_.location("u_frame"), static_cast<float>(frame_width), static_cast<float>(frame_height));
  glUniform2f(program_.location("u_origin"), map.target.x0, map.target.y0);
  glUniform2f(program_.location("u_cells_per_pixel"), static_cast<float>(per_pixel_x), static_cast<float>(per_pixel_y));
  glUniform2i(program_.location("u_first_cell"), static_cast<int>(first_x), static_cast<int>(first_y));
  glUniform2f(program_.location("u_first_fraction"), static_cast<float>(map.source_x - first_x),
              static_cast<float>(map.source_y - first_y));
  glUniform2i(program_.location("u_size"), map.texture->width, map.texture->height);
  glUniform1i(program_.location("u_gap"), map.gap);
  set_color(program_.location("u_gap_color"), map.gap_color);
  set_color(program_.location("u_empty"), map.empty);
  set_color(program_.location("u_hatch"), map.hatch);
  glUniform1i(program_.location("u_hatch_nan"), map.hatch_nan ? 1 : 0);
  glUniform2i(program_.location("u_hatch_period"), map.hatch_distance, map.hatch_width);
  glUniform1i(program_.location("u_scale_kind"), static_cast<int>(map.scale.kind));
  const auto scale = scale_uniform(map.scale);
  glUniform4f(program_.location("u_scale"), scale[0], scale[1], scale[2], scale[3]);

  glBindVertexArray(no_vertices_.name());
  glActiveTexture(GL_TEXTURE1);
  glBindTexture(GL_TEXTURE_2D, map.steps);
  glActiveTexture(GL_TEXTURE0);
  for (const MapTile& tile : map.texture->tiles) {
    // The tile's pixels and one more on each side: the shader leaves out what belongs to its neighbours.
    const auto pixel_x = [&](double cell) { return static_cast<double>(map.target.x0) + (cell - map.source_x) / per_pixel_x; };
    const auto pixel_y = [&](double cell) { return static_cast<double>(map.target.y0) + (cell - map.source_y) / per_pixel_y; };
    const Rect pixels{static_cast<float>(std::floor(pixel_x(tile.x)) - 1.0), static_cast<float>(std::floor(pixel_y(tile.y)) - 1.0),
                      static_cast<float>(std::ceil(pixel_x(tile.x + tile.width)) + 1.0),
                      static_cast<float>(std::ceil(pixel_y(tile.y + tile.height)) + 1.0)};
    const Rect quad = pixels.intersected(map.target);
    if (quad.empty()) continue;
    glUniform4f(program_.location("u_quad"), quad.x0, quad.y0, quad.x1, quad.y1);
    glUniform2i(program_.location("u_tile"), tile.x, tile.y);
    glBindTexture(GL_TEXTURE_2D, tile.texture.name());
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  }
}

}  // namespace headroom
