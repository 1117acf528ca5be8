#include "app/gl/glyph_atlas.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace headroom {
namespace {

constexpr int kPageSize = 1024, kGutter = 1, kWhite = 4;
constexpr std::size_t kMaxPages = 12;  // 4 MiB each

// RGBA with the coverage as alpha over white.
std::vector<std::uint8_t> texels_of(const GlyphPicture& picture) {
  if (picture.coloured) return picture.pixels;
  std::vector<std::uint8_t> texels(picture.pixels.size() * 4, 255);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) texels[4 * i + 3] = picture.pixels[i];
  return texels;
}

}  // namespace

GlyphAtlas::GlyphAtlas(const FontLibrary& fonts) : fonts_(fonts) { add_page(); }

float GlyphAtlas::white_coordinate() { return 0.5f * static_cast<float>(kWhite) / static_cast<float>(kPageSize); }

void GlyphAtlas::add_page() {
  Page page;
  page.texture = GlTexture::make();
  glBindTexture(GL_TEXTURE_2D, page.texture.name());
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, kPageSize, kPageSize, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  const std::vector<std::uint8_t> white(kWhite * kWhite * 4, 255);
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, kWhite, kWhite, GL_RGBA, GL_UNSIGNED_BYTE, white.data());
  glBindTexture(GL_TEXTURE_2D, 0);
  page.next_x = kWhite + kGutter;
  page.shelf_height = kWhite;
  pages_.push_back(std::move(page));
}

bool GlyphAtlas::place(int width, int height, int& x, int& y) {
  Page& page = pages_.back();
  if (page.next_x + width > kPageSize) {
    page.shelf_y += page.shelf_height + kGutter;
    page.shelf_height = 0;
    page.next_x = 0;
  }
  if (page.shelf_y + height > kPageSize) return false;
  x = page.next_x;
  y = page.shelf_y;
  page.next_x += width + kGutter;
  page.shelf_height = std::max(page.shelf_height, height);
  return true;
}

const AtlasGlyph& GlyphAtlas::glyph(const GlyphKey& key) {
  const auto [entry, fresh] = glyphs_.try_emplace(key);
  AtlasGlyph& glyph = entry->second;
  if (!fresh) return glyph;
  const GlyphPicture picture = fonts_.rasterise(key);
  if (picture.width <= 0 || picture.height <= 0 || picture.width > kPageSize || picture.height > kPageSize)
    return glyph;
  int x = 0, y = 0;
  if (!place(picture.width, picture.height, x, y)) {
    add_page();
    if (!place(picture.width, picture.height, x, y)) return glyph;  // as high as the page
  }
  const std::vector<std::uint8_t> texels = texels_of(picture);
  const GLuint texture = pages_.back().texture.name();
  glBindTexture(GL_TEXTURE_2D, texture);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glTexSubImage2D(GL_TEXTURE_2D, 0, x, y, picture.width, picture.height, GL_RGBA, GL_UNSIGNED_BYTE, texels.data());
  glBindTexture(GL_TEXTURE_2D, 0);
  constexpr float kTexel = 1.0f / static_cast<float>(kPageSize);
  glyph = {.texture = texture,
           .u0 = static_cast<float>(x) * kTexel,
           .v0 = static_cast<float>(y) * kTexel,
           .u1 = static_cast<float>(x + picture.width) * kTexel,
           .v1 = static_cast<float>(y + picture.height) * kTexel,
           .left = picture.left,
           .top = picture.top,
           .width = picture.width,
           .height = picture.height,
           .coloured = picture.coloured};
  return glyph;
}

void GlyphAtlas::begin_frame() {
  if (pages_.size() <= kMaxPages) return;
  glyphs_.clear();
  pages_.clear();
  ++restarts_;
  add_page();
}

std::size_t GlyphAtlas::bytes() const { return pages_.size() * kPageSize * kPageSize * 4; }

}  // namespace headroom
