#include "app/gl/map_renderer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>

#include "app/gl/color_steps.h"

namespace headroom {
namespace {

constexpr std::size_t kTextureBudget = std::size_t{256} << 20;
constexpr std::size_t kMaxScales = 64;

// One row of 256 texels, each its own colour or pair of edges.
void upload_row(GLuint texture, GLint internal, GLenum format, GLenum type, const void* texels) {
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, internal, 256, 1, 0, format, type, texels);
  glBindTexture(GL_TEXTURE_2D, 0);
}

void upload_steps(GLuint texture, const ColorScale& scale) {
  const ColorSteps steps = color_steps(scale);
  std::array<float, 256 * 2> texels{};
  for (std::size_t k = 0; k < 256; ++k) {
    texels[2 * k] = steps.from[k];
    texels[2 * k + 1] = steps.from[k + 1];
  }
  upload_row(texture, GL_RG32F, GL_RG, GL_FLOAT, texels.data());
}

// Whether the shader's estimate (scale_uniform) is near the entry for every value.
bool has_extent(const ColorScale& scale) {
  switch (scale.kind) {
    case ScaleKind::Linear: return scale.high > scale.low;
    case ScaleKind::Log10: return scale.low > 0.0f && scale.high > scale.low;
    case ScaleKind::Symlog: return scale.threshold > 0.0f && scale.high > scale.threshold;
  }
  return false;
}

// u_scale of color_scale.glsl.
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

MapRenderer::MapRenderer(ShaderProgram program, int largest_tile)
    : program_(std::move(program)), no_vertices_(GlVertexArray::make()), textures_(largest_tile) {}

Result<std::unique_ptr<MapRenderer>> MapRenderer::create(const std::filesystem::path& shader_folder, int largest_tile) {
  HEADROOM_TRY(ShaderProgram program, ShaderProgram::load(shader_folder, "map.vert", "map.frag"));
  return std::unique_ptr<MapRenderer>(new MapRenderer(std::move(program), largest_tile));
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

GLuint MapRenderer::colors_texture(ColorMapId map) {
  GlTexture& texture = colors_[static_cast<std::size_t>(map)];
  if (!texture) {
    static_assert(sizeof(ColorTable) == 256 * 4);
    texture = GlTexture::make();
    upload_row(texture.name(), GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, color_table(map).data());
  }
  return texture.name();
}

MapDraw MapRenderer::prepare(const MapImage& image, const ColorScale& scale) {
  MapDraw map;
  map.texture = &textures_.texture(image);
  map.image = image.id;
  map.generation = image.generation;
  map.steps = steps_texture(scale);
  map.colors = colors_texture(scale.map);
  map.scale = scale;
  return map;
}

void MapRenderer::begin_frame(const std::function<void(const std::string&)>& report) {
  program_.reload_if_changed(report);
  textures_.begin_frame(kTextureBudget);
  std::erase_if(kept_, [this](const Kept& kept) { return kept.last_frame < frame_; });
  ++frame_;
}

GLuint MapRenderer::kept_picture(const MapDraw& map, const Rect& seen) {
  auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.map == map && kept.seen == seen; });
  if (found == kept_.end()) {
    kept_.push_back({map, seen, frame_, frame_, {}});
    return 0;
  }
  found->last_frame = frame_;
  if (!found->picture && found->first_frame < frame_) draw_picture(*found);
  return found->picture.name();
}

void MapRenderer::draw_picture(Kept& kept) {
  const auto width = static_cast<int>(kept.seen.width()), height = static_cast<int>(kept.seen.height());
  auto picture = GlTexture::make();
  glBindTexture(GL_TEXTURE_2D, picture.name());
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  glBindTexture(GL_TEXTURE_2D, 0);

  GLint before = 0;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &before);
  if (!framebuffer_) framebuffer_ = GlFramebuffer::make();
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer_.name());
  glFramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, picture.name(), 0);
  if (glCheckFramebufferStatus(GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE) {
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_BLEND);
    glViewport(0, 0, width, height);
    glClearColor(0.0f, 0.0f, 0.0f, 0.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    MapDraw map = kept.map;
    map.target = map.target.shifted(-kept.seen.x0, -kept.seen.y0);
    map.hatch_shift_x = static_cast<int>(kept.seen.x0);
    map.hatch_shift_y = static_cast<int>(kept.seen.y0);
    draw(map, width, height);
    kept.picture = std::move(picture);
  }
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(before));
}

void MapRenderer::draw(const MapDraw& map, int frame_width, int frame_height) {
  if (map.target.empty() || !(map.source_width > 0.0) || !(map.source_height > 0.0)) return;
  const double per_pixel_x = map.source_width / static_cast<double>(map.target.width());
  const double per_pixel_y = map.source_height / static_cast<double>(map.target.height());
  const double first_x = std::floor(map.source_x), first_y = std::floor(map.source_y);

  program_.use();
  glUniform1i(program_.location("u_values"), 0);
  glUniform1i(program_.location("u_steps"), 1);
  glUniform1i(program_.location("u_colors"), 2);
  // log2 in hardware and in Mesa is good to 10⁻⁵ at least.
  glUniform1f(program_.location("u_doubt"), has_extent(map.scale) ? 0.02f : 1.0f);
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
  glUniform2f(program_.location("u_hatch_shift"), static_cast<float>(map.hatch_shift_x),
              static_cast<float>(map.hatch_shift_y));
  glUniform1i(program_.location("u_scale_kind"), static_cast<int>(map.scale.kind));
  const auto scale = scale_uniform(map.scale);
  glUniform4f(program_.location("u_scale"), scale[0], scale[1], scale[2], scale[3]);

  glBindVertexArray(no_vertices_.name());
  glActiveTexture(GL_TEXTURE1);
  glBindTexture(GL_TEXTURE_2D, map.steps);
  glActiveTexture(GL_TEXTURE2);
  glBindTexture(GL_TEXTURE_2D, map.colors);
  glActiveTexture(GL_TEXTURE0);
  for (const MapTile& tile : map.texture->tiles) {
    // The pixels whose centres lie in the tile's cells.
    const auto edge_x = [&](double cell) {
      return static_cast<float>(
          std::ceil(static_cast<double>(map.target.x0) + (cell - map.source_x) / per_pixel_x - 0.5));
    };
    const auto edge_y = [&](double cell) {
      return static_cast<float>(
          std::ceil(static_cast<double>(map.target.y0) + (cell - map.source_y) / per_pixel_y - 0.5));
    };
    const Rect pixels{edge_x(tile.x), edge_y(tile.y), edge_x(tile.x + tile.width), edge_y(tile.y + tile.height)};
    const Rect quad = pixels.intersected(map.target);
    if (quad.empty()) continue;
    glUniform4f(program_.location("u_quad"), quad.x0, quad.y0, quad.x1, quad.y1);
    glUniform2i(program_.location("u_tile"), tile.x, tile.y);
    glBindTexture(GL_TEXTURE_2D, tile.texture.name());
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  }
}

}  // namespace headroom
