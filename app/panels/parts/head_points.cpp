#include "app/panels/parts/head_points.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr float kNamePadding = 3.0f;
constexpr float kCovered = 3.5f;  // pixels round a point that its disc takes

}  // namespace

double linear_part(const HeadColumn& column, bool log) {
  return log && column.ref.info != nullptr ? column.ref.info->linear_to : 0.0;
}

AxisSpec column_axis(const HeadColumn& column, bool log, double below, double above) {
  if (const double linear = linear_part(column, log); linear > 0.0)
    return column.finite > 0 ? signed_axis(column.low, column.high, linear) : signed_axis(0.0, 0.0, linear);
  if (log) {
    const auto positive = std::ranges::upper_bound(column.sample, 0.0);
    if (positive == column.sample.end()) return axis_spec(0.01 * 0.93, 1.0 * 1.07, true);
    const Range range = nice_range(*positive, column.high, true);
    return axis_spec(range.low * 0.93, range.high * 1.07, true);
  }
  const std::optional<Range> natural = column.ref.info != nullptr ? column.ref.info->natural : std::nullopt;
  Range range{0.0, 1.0};
  if (natural && column.finite > 0 && column.low >= natural->low && column.high <= natural->high)
    range = *natural;
  else if (column.finite > 0)
    range = nice_range(column.low, column.high > column.low ? column.high : column.low + 1e-6, false);
  const double length = range.high - range.low;
  return axis_spec(range.low - below * length, range.high + above * length);
}

ColorScale layer_scale(const RunSnapshot& run, const Theme& theme) {
  const auto first = static_cast<float>(run.layers.front()), last = static_cast<float>(run.layers.back());
  const float span = std::max(1.0f, last - first);
  return {theme.sequential(), ScaleKind::Linear, first - 0.5f * span, first + span, 1e-3f};
}

void draw_layer_colours(PanelContext& context, Rect row, float height, const RunSnapshot& run,
                        const ColorScale& scale) {
  Painter& painter = context.painter();
  const TextStyle tick_style = context.theme().tick();
  const std::size_t layers = run.layers.size();
  const float width = row.width() / static_cast<float>(layers);
  for (std::size_t l = 0; l < layers; ++l) {
    const float x = row.x0 + static_cast<float>(l) * width;
    painter.fill_rect({x, row.y0, x + width - (width >= 4.0f ? 1.0f : 0.0f), row.y0 + height},
                      scale_color(scale, static_cast<float>(run.layers[l])));
  }
  float free_from = row.x0 - 1.0f;
  for (const Tick& tick :
       index_ticks(0, static_cast<std::int64_t>(layers) - 1, static_cast<double>(row.width()), 34.0)) {
    const auto l = static_cast<std::size_t>(tick.value);
    const std::string text = std::to_string(run.layers[l]);
    const float half = 0.5f * context.ui.width(text, tick_style);
    const float x = std::clamp(row.x0 + (static_cast<float>(l) + 0.5f) * width, row.x0 + half, row.x1 - half);
    if (x - half < free_from) continue;
    painter.text_at(x, row.y0 + height + 9.0f, text, tick_style, Painter::Align::Centre);
    free_from = x + half + 8.0f;
  }
}

void draw_point_names(Painter& painter, const Theme& theme, LabelSpace& space, std::span<const Vec2> points,
                      std::span<const PointName> names, NamePlaces where) {
  static const std::vector<Vec2> kNear = {{1.0f, 0.0f},   {1.0f, -0.5f}, {1.0f, 0.5f}, {-1.0f, 0.0f},
                                          {-1.0f, -0.5f}, {-1.0f, 0.5f}, {1.0f, 1.2f}, {-1.0f, 1.2f}},
                                 kFree = {{1.0f, -1.0f}, {1.0f, 1.0f}, {-1.0f, -1.0f},
                                          {-1.0f, 1.0f}, {1.0f, 0.0f}, {-1.0f, 0.0f}};
  static const std::vector<float> kNearSteps = {14.0f, 30.0f, 52.0f, 80.0f}, kFreeSteps = {16.0f, 34.0f, 60.0f};
  const bool near = where == NamePlaces::Near;
  const float height = near ? 14.0f : 16.0f;
  const auto covered = [&](const Rect& place) {
    const Rect round = place.inset(-kCovered);
    return std::ranges::count_if(points, [&](Vec2 p) { return std::isfinite(p.x) && round.contains(p); });
  };
  for (const PointName& name : names) {
    const Vec2 p = points[name.point];
    if (!std::isfinite(p.x)) continue;
    const float width = painter.measure().width(name.text, name.style.face, name.style.size) + 2.0f * kNamePadding;
    std::vector<Rect> places;
    for (const float away : near ? kNearSteps : kFreeSteps)
      for (const Vec2 way : near ? kNear : kFree)
        places.push_back(Rect::sized(way.x > 0.0f ? p.x + away : p.x - away - width, p.y + way.y * away - 0.5f * height,
                                     width, height));
    // Of the line to a place: from beside the point to the nearer end of the name.
    const auto lead = [&](const Rect& place) {
      const float end = place.x0 > p.x ? place.x0 : place.x1;
      return std::pair{Vec2{p.x + (end > p.x ? 4.0f : -4.0f), p.y}, Vec2{end, place.centre_y()}};
    };
    const auto crosses = [&](const Rect& place) {
      const auto [from, to] = lead(place);
      return space.crosses_label(from, to, 1.0f);
    };
    if (!near) std::ranges::stable_sort(places, {}, covered);
    std::ranges::stable_partition(places, std::not_fn(crosses));
    const std::ptrdiff_t at = space.place_first(places);
    if (at < 0) continue;
    const Rect place = places[static_cast<std::size_t>(at)];
    const auto [from, to] = lead(place);
    space.lead(from, to, 1.0f);
    painter.line(from, to, near ? theme.faint : theme.text3, 1.0f);
    painter.fill_rect(place, theme.panel.faded(0.75f), 2.0f);
    painter.text_at(place.x0 + kNamePadding, place.centre_y(), name.text, name.style);
  }
}

std::optional<std::size_t> nearest_head(std::span<const Vec2> points, Vec2 pointer) {
  std::optional<std::size_t> nearest;
  float best = 64.0f;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec2 away = points[i] - pointer;
    const float distance = away.x * away.x + away.y * away.y;
    if (distance < best) best = distance, nearest = i;
  }
  return nearest;
}

}  // namespace headroom
