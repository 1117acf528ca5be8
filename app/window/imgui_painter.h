// Painter of the window: ImGui draw lists for shapes and glyphs, own shaders for maps and points. Needs a current GL
// context, which outlives it. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "app/plot/painter.h"
#include "app/plot/theme.h"
#include "app/text/font_library.h"
#include "core/base/result.h"

namespace headroom {

class ImguiDrawLists;

// Layers are drawn in this order, whatever the order of the calls.
enum class Layer : std::uint8_t { Base, Overlay, Top };

class ImguiPainter final : public Painter {
 public:
  // `shader_folder`: with map.frag and the others. `report` gets one line per shader or GL error.
  [[nodiscard]] static Result<std::unique_ptr<ImguiPainter>> create(FontLibrary& fonts,
                                                                    const std::string& shader_folder,
                                                                    std::function<void(const std::string&)> report);
  ~ImguiPainter() override;
  ImguiPainter(const ImguiPainter&) = delete;
  ImguiPainter& operator=(const ImguiPainter&) = delete;

  // Colours of masked and hatched cells.
  void set_theme(const Theme& theme);

  // Empties all layers. The frame is `width` × `height` device pixels.
  void begin_frame(int width, int height, float scale);
  // Draws the layers into the bound framebuffer; may be called again until the next begin_frame().
  void render();
  // The frames to come are drawn by render_changes().
  void keep_frames();
  // Draws what differs from the frame that this drew last, above `ground`, into a framebuffer that still has that one;
  // `anew`: all of it, as where it has not. Every pixel is as render() on `ground` would have it. Returns the share of
  // the frame that it drew.
  float render_changes(Color ground, bool anew);

  // What is drawn from here on goes to `layer`, which has clip rectangles of its own; the clip of a layer is the frame
  // until something is pushed.
  void set_layer(Layer layer);
  [[nodiscard]] Layer layer() const;

  [[nodiscard]] const TextMeasure& measure() const override;
  [[nodiscard]] float scale() const override;
  void clear() override;  // widgets of Dear ImGui stay
  void push_clip(Rect clip) override;
  void pop_clip() override;
  void fill_rect(Rect rect, Color color, float radius = 0.0f) override;
  void stroke_rect(Rect rect, Color color, float width = 1.0f, float radius = 0.0f) override;
  void line(Vec2 from, Vec2 to, Color color, float width = 1.0f) override;
  void polyline(std::span<const Vec2> points, Color color, float width, bool closed = false) override;
  void fill_polygon(std::span<const Vec2> points, Color color) override;
  void disc(Vec2 centre, float radius, Color color) override;
  void ring(Vec2 centre, float radius, Color color, float width) override;
  void points(std::span<const Vec2> centres, Color color, float size) override;
  void text(Vec2 baseline, std::string_view text, const TextStyle& style, float angle = 0.0f) override;
  void map(Rect target, const MapImage& image, Rect source, const MapShading& shading) override;
  void picture(Rect target, const RgbPicture& picture) override;

  // What it costs: of the last render() the draw calls, vertices and indices; maps uploaded since the beginning; bytes
  // of textures now.
  struct Work {
    std::size_t draw_calls = 0, vertices = 0, indices = 0, widget_vertices = 0;
    std::uint64_t map_uploads = 0, map_uploaded_bytes = 0;
    std::size_t map_bytes = 0, glyph_bytes = 0;
  };
  [[nodiscard]] Work work() const;
  // For widgets of Dear ImGui above what is painted, between begin_frame() and render().
  [[nodiscard]] ImguiDrawLists& draw_lists();

 private:
  struct State;
  explicit ImguiPainter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headroom
