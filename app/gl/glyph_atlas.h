// Glyph pictures packed into textures that grow in pages. Texels are drawn one to one on device pixels. Main thread
// only, with a current context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "app/gl/gl_handle.h"
#include "app/text/font_library.h"

namespace headroom {

struct AtlasGlyph {
  GLuint texture = 0;  // 0: nothing to draw
  float u0 = 0, v0 = 0, u1 = 0, v1 = 0;
  int left = 0, top = 0, width = 0, height = 0;
  bool coloured = false;
};

class GlyphAtlas {
 public:
  explicit GlyphAtlas(const FontLibrary& fonts);

  // Valid until the next begin_frame(). A picture larger than a page is not drawn.
  [[nodiscard]] const AtlasGlyph& glyph(const GlyphKey& key);

  // A page with a white texel, for shapes that share a draw call with text.
  [[nodiscard]] GLuint white_texture() const { return pages_[0].texture.name(); }
  [[nodiscard]] static float white_coordinate();

  // Starts again with one page when there are too many.
  void begin_frame();
  [[nodiscard]] std::uint64_t restarts() const { return restarts_; }  // since when a place holds what it held
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Page {
    GlTexture texture;
    int shelf_y = 0, shelf_height = 0, next_x = 0;
  };
  void add_page();
  // Room for that many texels on the last page; false if it is full.
  [[nodiscard]] bool place(int width, int height, int& x, int& y);

  const FontLibrary& fonts_;
  std::vector<Page> pages_;
  std::uint64_t restarts_ = 0;
  std::unordered_map<GlyphKey, AtlasGlyph, GlyphKeyHash> glyphs_;
};

}  // namespace headroom
