// What panels and plots draw with, whatever shows it: a window, a record for tests, a page of a paper. Coordinates are
// logical pixels (UI scale 100 %), on a page points of 1/72 inch; on a screen the painter rounds edges to device
// pixels, so that hairlines are crisp at any scale. Main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/color_map.h"
#include "app/plot/geometry.h"
#include "app/plot/picture.h"
#include "app/plot/ticks.h"

namespace headroom {

enum class Face : std::uint8_t { Sans, SansMedium, SansSemibold, Mono, MonoSemibold, SansItalic, SansBold };

struct TextStyle {
  Face face = Face::Sans;
  float size = 12.0f;  // logical pixels
  Color color;
  float halo = 0.0f;  // of text_halo()
};

// Widths of text as it will be drawn, shaping and fall-back fonts included. Control characters have no width: panels
// make them visible first (plot/token_text.h). Not cut off, never wraps.
class TextMeasure {
 public:
  virtual ~TextMeasure() = default;
  [[nodiscard]] virtual float width(std::string_view text, Face face, float size) const = 0;
};

// A grid of values that is shown through a colour scale. The painter keeps the texture of an `id` until its
// `generation` changes or it has not been drawn for a while.
struct MapImage {
  std::uint64_t id = 0;  // from next_image_id(); one per thing shown
  std::uint64_t generation =
      0;  // of the values: another one wherever they differ; the vector may be a new one each frame
  std::int32_t width = 0, height = 0;
  std::shared_ptr<const std::vector<float>> values;  // row-major, [height, width]
};

[[nodiscard]] std::uint64_t next_image_id();

// What is drawn between begin_plot() and end_plot(), for files that carry their numbers with them: the axes lead from
// marks back to values.
struct PlotTag {
  std::string id;    // "a"; unique on a page
  std::string kind;  // "rms"
  std::optional<Axis> x, y;
};
// Marks of one quantity inside a plot, one drawing call each.
struct SeriesTag {
  std::string quantity;  // as the run file names it
  std::string head;      // "L17.H4"; empty: of several
  std::string name;      // what the marks are: "rows", "median"
};

enum class NanStyle : std::uint8_t { Masked, Hatched };  // masked: the colour `empty`; infinities are always hatched

struct MapShading {
  ColorScale scale;  // plot/color_map.h
  NanStyle nan = NanStyle::Masked;
  float cell_gap = 0.0f;  // logical pixels of `gap_color` between cells (atlas, large cells)
  Color gap_color;
};

class Painter {
 public:
  virtual ~Painter() = default;

  [[nodiscard]] virtual const TextMeasure& measure() const = 0;
  [[nodiscard]] virtual float scale() const = 0;  // device pixels per logical pixel

  // Forgets what was drawn in this frame, which begins again.
  virtual void clear() = 0;

  // Names what is drawn until end_panel(): tests hold the texts of a panel to its frame.
  virtual void begin_panel(std::string_view /*name*/, Rect /*frame*/) {}
  virtual void end_panel() {}

  virtual void begin_plot(const PlotTag& /*tag*/) {}
  virtual void end_plot() {}
  virtual void begin_series(const SeriesTag& /*tag*/) {}
  virtual void end_series() {}

  virtual void push_clip(Rect clip) = 0;  // intersected with the current one
  virtual void pop_clip() = 0;

  virtual void fill_rect(Rect rect, Color color, float radius = 0.0f) = 0;
  virtual void stroke_rect(Rect rect, Color color, float width = 1.0f, float radius = 0.0f) = 0;  // inside the rect
  virtual void line(Vec2 from, Vec2 to, Color color, float width = 1.0f) = 0;
  virtual void polyline(std::span<const Vec2> points, Color color, float width, bool closed = false) = 0;
  virtual void fill_polygon(std::span<const Vec2> points, Color color) = 0;  // simple polygon, any winding
  virtual void disc(Vec2 centre, float radius, Color color) = 0;
  virtual void ring(Vec2 centre, float radius, Color color, float width) = 0;
  // Squares of `size`, their centres at the points; made for up to 10⁶ of them.
  virtual void points(std::span<const Vec2> centres, Color color, float size) = 0;

  // `baseline`: where the text's baseline begins. `angle` turns it about that point, in radians, counter-clockwise on
  // the screen.
  virtual void text(Vec2 baseline, std::string_view text, const TextStyle& style, float angle = 0.0f) = 0;

  // White that reaches `style.halo` beyond the letters of such a text, over lines that pass below it: on a page, before
  // the text is drawn.
  virtual void text_halo(Vec2 /*baseline*/, std::string_view /*text*/, const TextStyle& /*style*/,
                         float /*angle*/ = 0.0f) {}

  // The cells of `source` (in cells of the image: x right, y down; may be fractions) fill `target`, each cell one flat
  // colour.
  virtual void map(Rect target, const MapImage& image, Rect source, const MapShading& shading) = 0;

  // What `draw` draws into `area`, as one picture where a page would else hold too many marks.
  virtual void rasterised(Rect /*area*/, const std::function<void(Painter&)>& draw) { draw(*this); }

  // The whole picture fills `target`.
  virtual void picture(Rect target, const RgbPicture& picture) = 0;

  // Dashes of `on` and gaps of `off` along all of the points; drawn with line() where the painter has nothing better.
  virtual void dashed_polyline(std::span<const Vec2> points, Color color, float width, float on, float off);
  void dashed_line(Vec2 from, Vec2 to, Color color, float width, float on, float off);
  // Text whose vertical centre is `y` (baseline = y + 0.36 · size), its left end, centre or right end at `x`.
  enum class Align : std::uint8_t { Left, Centre, Right };
  void text_at(float x, float y, std::string_view text, const TextStyle& style, Align align = Align::Left);
};

}  // namespace headroom
