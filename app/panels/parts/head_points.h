// What plots of one point a head share: the axis of a quantity, the colours of layers, names beside points. Main thread
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "app/plot/color_map.h"
#include "app/plot/label_layout.h"
#include "app/plot/plot_frame.h"

namespace headroom {

// The linear part of a signed quantity that spans decades, of which a logarithmic axis is a symlog one; else 0.
[[nodiscard]] double linear_part(const HeadColumn& column, bool log);
// Holds all values; of a logarithmic axis those above 0. A linear one is what the quantity can be where that holds all
// values, else has 1-2-5 ends, with these shares of its length added at both.
[[nodiscard]] AxisSpec column_axis(const HeadColumn& column, bool log, double below = 0.0, double above = 0.0);

// Colours of layers, without the darkest third of the map, which would be lost on the panel and its greys.
[[nodiscard]] ColorScale layer_scale(const RunSnapshot& run, const Theme& theme);
// Side by side, `height` pixels high, with their indices below them: 14 pixels more.
void draw_layer_colours(PanelContext& context, Rect row, float height, const RunSnapshot& run, const ColorScale& scale);

// A name with a line to its point.
struct PointName {
  std::size_t point = 0;
  std::string text;
  TextStyle style;
};
// In this order; none where there is no room. Near their points, or where they cover the fewest of all. Points that are
// not finite have no place.
enum class NamePlaces : std::uint8_t { Near, Free };
void draw_point_names(Painter& painter, const Theme& theme, LabelSpace& space, std::span<const Vec2> points,
                      std::span<const PointName> names, NamePlaces where);
// The point nearest to the pointer within 8 pixels.
[[nodiscard]] std::optional<std::size_t> nearest_head(std::span<const Vec2> points, Vec2 pointer);

}  // namespace headroom
