// Draws an SVG: nine significant digits, texts as outlines with their words beside them, and the numbers behind the
// marks: each plot is a group that says its axes, each series a group of one element for each mark. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/paper/page_file.h"
#include "app/plot/painter.h"
#include "app/text/font_library.h"

namespace headroom {

class SvgPainter final : public Painter {
 public:
  // `fonts` outlives it.
  SvgPainter(const PageInfo& info, const FontLibrary& fonts);

  // The whole file; once, after the last mark.
  [[nodiscard]] std::string finish();
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  [[nodiscard]] const TextMeasure& measure() const override { return fonts_; }
  [[nodiscard]] float scale() const override { return static_cast<float>(dots_per_inch_ / 72.0); }
  void clear() override {}
  void begin_plot(const PlotTag& tag) override;
  void end_plot() override;
  void begin_series(const SeriesTag& tag) override;
  void end_series() override;
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
  // The element's content where every glyph comes from a font that can be part of the file, in the order of the text.
  [[nodiscard]] std::optional<std::string> spans(std::string_view text, const TextStyle& style);
  void image(Rect target, const std::string& png);
  void path(std::span<const Vec2> points, bool closed, const std::string& paint);

  const FontLibrary& fonts_;
  double dots_per_inch_;
  bool as_fonts_;
  std::string body_;
  std::size_t head_ = 0;                                  // of body_: where the fonts go
  std::map<std::uint32_t, std::set<char32_t>> embedded_;  // by number of the font
  int clips_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace headroom
