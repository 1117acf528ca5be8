// What plots hold: curves, bands, clouds, reference lines, veils, bars, and names at the ends of curves. Each thing is
// a pure layout function, safe from any thread, and a drawing function, main thread only, that clips to the frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/label_layout.h"
#include "app/plot/number_view.h"
#include "app/plot/plot_frame.h"
#include "app/plot/quantiles.h"

namespace headroom {

// A curve's pieces in pixels: broken where a value is not finite or, on a log axis, not positive. Where x ascends and
// there are many more points than pixels, each pixel column keeps its first, lowest, highest and last point. A piece of
// one point is a point.
[[nodiscard]] std::vector<std::vector<Vec2>> curve_pieces(const PlotFrame& frame, NumberView x, NumberView y);
void draw_curve(Painter& painter, const PlotFrame& frame, NumberView x, NumberView y, Color color, float width = 2.0f);
void draw_dashed_curve(Painter& painter, const PlotFrame& frame, NumberView x, NumberView y, Color color, float width,
                       float on, float off);

// The area between two curves over the same x, as simple polygons: broken where any of the three is not finite; on a
// log axis values that are not positive stand at its low end.
[[nodiscard]] std::vector<std::vector<Vec2>> band_polygons(const PlotFrame& frame, NumberView x, NumberView low,
                                                           NumberView high);
void draw_band(Painter& painter, const PlotFrame& frame, NumberView x, NumberView low, NumberView high, Color color);

// 2 × 2 squares at 62 %, at 35 % where `faint` is set (rows with n_i < 64). `faint` empty: none. Values the axes cannot
// show are left out; those outside the range too.
struct CloudPoints {
  std::vector<Vec2> strong, faint;
};
[[nodiscard]] CloudPoints cloud_points(const PlotFrame& frame, NumberView x, NumberView y,
                                       std::span<const std::uint8_t> faint = {});
void draw_cloud(Painter& painter, const PlotFrame& frame, NumberView x, NumberView y, Color color,
                std::span<const std::uint8_t> faint = {}, float size = 2.0f);
// The index of the point nearest to `pointer` within `reach` pixels; −1: none. For hovering.
[[nodiscard]] std::ptrdiff_t nearest_point(const PlotFrame& frame, NumberView x, NumberView y, Vec2 pointer,
                                           float reach = 6.0f);

enum class LineStyle : std::uint8_t { Solid, Dashed, Dotted };  // dashed 5-3: constant bounds; dotted 2-3: null levels
struct ReferenceLine {
  bool horizontal = true;
  double value = 0.0;
  Color color = {};
  LineStyle style = LineStyle::Solid;
  std::string label = {};  // "ε = 0.3"; empty: none
  float width = 1.5f;
};
struct PlacedLine {
  Vec2 from, to;
  bool visible = false;  // the value lies on the axis
  std::string label;     // empty if it found no room
  Rect label_rect;
};
// Labels in the order given, beside their lines, where nothing is taken in `space`, which then holds them and the
// lines.
[[nodiscard]] std::vector<PlacedLine> lay_out_lines(const PlotFrame& frame, std::span<const ReferenceLine> lines,
                                                    const TextMeasure& measure, LabelSpace& space, float size = 11.0f);
void draw_lines(Painter& painter, const PlotFrame& frame, std::span<const ReferenceLine> lines, LabelSpace& space);

// The name of a curve beside it ("1/√n_i"): above or below, the first place along it (from a third of its length) where
// it touches neither the curve nor anything taken; nothing if there is none.
[[nodiscard]] std::optional<Rect> lay_out_curve_name(const PlotFrame& frame, NumberView x, NumberView y,
                                                     std::string_view name, const TextMeasure& measure,
                                                     LabelSpace& space, float size = 11.0f);
void draw_curve_name(Painter& painter, const PlotFrame& frame, NumberView x, NumberView y, std::string_view name,
                     Color color, LabelSpace& space);

// bg at 45 % over x values from low to high (rows that do not count); y's range likewise.
void draw_veil(Painter& painter, const PlotFrame& frame, const Theme& theme, double low, double high,
               bool along_x = true);

// Bars of a histogram, in its order. Vertical: values along `axis` in x, counts upwards from the lower edge of `area`.
// Horizontal: values along `axis` in y, counts to the right from the left edge: a margin of a plot on the same axis.
// The bar of `full` counts fills the area (0: the largest count does). Bars 4 px and wider leave a gap of 1.
[[nodiscard]] std::vector<Rect> vertical_bars(const Histogram& histogram, const Axis& axis, const Rect& area,
                                              double full = 0.0);
[[nodiscard]] std::vector<Rect> horizontal_bars(const Histogram& histogram, const Axis& axis, const Rect& area,
                                                double full = 0.0);
void draw_bars(Painter& painter, std::span<const Rect> bars, const Rect& area, Color color);

// Groups of two bars (before and after, A and B) on the frame's y axis from its low end or 0.
struct BarGroup {
  std::string label = {}, sublabel = {};  // below the axis: index, token; elided in the middle to the group's width
  double a = 0.0, b = 0.0;                // NaN: no bar
  std::string value = {};                 // above the higher bar ("+.06"); left out if it finds no room
};
struct PlacedGroup {
  Rect a, b;
  std::string label, sublabel, value;
  Rect label_rect, sublabel_rect, value_rect;
};
// Frames for groups are laid out with labels = false for x and room for two lines below (PlotRoom::bottom = 32).
[[nodiscard]] std::vector<PlacedGroup> lay_out_groups(const PlotFrame& frame, std::span<const BarGroup> groups,
                                                      const TextMeasure& measure);
void draw_groups(Painter& painter, const PlotFrame& frame, std::span<const BarGroup> groups, Color a, Color b,
                 const Theme& theme);

// Names at the right ends of curves, at least 13 px apart, in the order of their values, inside the frame's height; the
// frame leaves room for them (PlotRoom::right). Each with a short line in its colour.
struct EndLabel {
  double value = 0.0;  // of the curve's last point; not finite: no label
  std::string text = {};
  Color color = {};
};
struct PlacedEnd {
  bool visible = false;
  Vec2 from, to;             // the short line
  float x = 0.0f, y = 0.0f;  // for Painter::text_at, left
  std::string text;          // elided at its end to the outer rectangle
};
// The room that the names need at the right of the inner rectangle.
[[nodiscard]] float end_label_room(std::span<const EndLabel> labels, const TextMeasure& measure, float size = 11.0f);
[[nodiscard]] std::vector<PlacedEnd> lay_out_ends(const PlotFrame& frame, std::span<const EndLabel> labels,
                                                  const TextMeasure& measure, float size = 11.0f, float gap = 13.0f);
void draw_ends(Painter& painter, const PlotFrame& frame, std::span<const EndLabel> labels);

}  // namespace headroom
