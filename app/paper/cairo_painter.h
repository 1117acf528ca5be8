// Draws on a page with Cairo: vectors of a PDF, or pixels. One unit is one point; nothing is rounded to pixels. Main
// thread only.
#pragma once

#include <cairo.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/paper/cairo_fonts.h"
#include "app/paper/cairo_handles.h"
#include "app/plot/painter.h"
#include "app/text/font_library.h"

namespace headroom {

class CairoPainter final : public Painter {
 public:
  // `context` and `fonts` outlive it. `dots_per_inch`: of maps in a vector file, of the pixels else.
  CairoPainter(cairo_t* context, const FontLibrary& fonts, double dots_per_inch);

  // What a page cannot hold as it is, one sentence each.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  [[nodiscard]] const TextMeasure& measure() const override { return library_; }
  [[nodiscard]] float scale() const override { return static_cast<float>(dots_per_inch_ / 72.0); }
  void clear() override {}
  void push_clip(Rect clip) override;
  void pop_clip() override;
  void fill_rect(Rect rect, Color color, float radius = 0.0f) override;
  void stroke_rect(Rect rect, Color color, float width = 1.0f, float radius = 0.0f) override;
  void line(Vec2 from, Vec2 to, Color color, float width = 1.0f) override;
  void polyline(std::span<const Vec2> points, Color color, float width, bool closed = false) override;
  void dashed_polyline(std::span<const Vec2> points, Color color, float width, float on, float off) override;
  void fill_polygon(std::span<const Vec2> points, Color color) override;
  void disc(Vec2 centre, float radius, Color color) override;
  void ring(Vec2 centre, float radius, Color color, float width) override;
  void points(std::span<const Vec2> centres, Color color, float size) override;
  void text(Vec2 baseline, std::string_view text, const TextStyle& style, float angle = 0.0f) override;
  void text_halo(Vec2 baseline, std::string_view text, const TextStyle& style, float angle = 0.0f) override;
  void map(Rect target, const MapImage& image, Rect source, const MapShading& shading) override;
  void rasterised(Rect area, const std::function<void(Painter&)>& draw) override;
  void picture(Rect target, const RgbPicture& picture) override;

 private:
  static constexpr int kStampPhases = 8;
  void trace(std::span<const Vec2> points, bool closed);
  void trace(Rect rect, float radius);
  void stroke(Color color, float width);
  void fill(Color color);
  void glyphs(std::string_view text, std::span<const PlacedGlyph> run, std::size_t end, const TextStyle& style,
              bool halo);
  void draw_text(Vec2 baseline, std::string_view text, const TextStyle& style, float angle, bool halo);
  void box(const PlacedGlyph& glyph, std::string_view character, const TextStyle& style);
  void image(Rect target, std::span<const std::uint8_t> rgb, std::int32_t width, std::int32_t height);
  void stamp(Vec2 centre, float radius, Color color);

  cairo_t* context_;
  const FontLibrary& library_;
  CairoFonts fonts_;
  double dots_per_inch_;
  bool pixels_;              // of an image, not the marks of a vector file
  bool other_size_ = false;  // of the text before
  bool many_ = false;        // marks are drawn by the thousand: discs are stamped
  double stamp_radius_ = 0.0;
  std::vector<Rect> clips_;  // each inside the one before
  std::array<CairoSurface, std::size_t{kStampPhases} * kStampPhases>
      stamps_;  // of that radius, by the centre's place in its pixel
  std::vector<std::string> warnings_;
};

}  // namespace headroom
