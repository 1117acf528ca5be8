#include "app/plot/strip.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "app/plot/quantiles.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kHeadOpacity = 0.3f, kMostOpacity = 0.9f, kArrow = 4.0f;

// The left edge of the pixel column of a value, `width` pixels wide and inside the rectangle.
float column(const Rect& rect, const StripRange& range, double value, float width) {
  const double share = std::clamp((value - range.low) / (range.high - range.low), 0.0, 1.0);
  const float at = rect.x0 + std::round(static_cast<float>(share) * (rect.width() - 1.0f)) - std::floor(0.5f * width);
  return std::clamp(at, rect.x0, std::max(rect.x0, rect.x1 - width));
}

std::vector<StripMark> lay_out_marks(const Rect& rect, NumberView all, double selected, std::optional<double> threshold,
                                     const StripRange& range) {
  std::vector<StripMark> marks;
  if (rect.width() < 3.0f || rect.height() <= 0.0f || !std::isfinite(range.low)) return marks;
  // By column, from the left; most values come in order.
  std::vector<std::pair<float, int>> columns;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!std::isfinite(all[i])) continue;
    const float x = range.empty() ? std::round(rect.centre_x()) : column(rect, range, all[i], 1.0f);
    auto place = columns.end();
    if (!columns.empty() && columns.back().first >= x)
      place = std::ranges::lower_bound(columns, x, {}, &std::pair<float, int>::first);
    if (place == columns.end() || place->first != x) place = columns.insert(place, {x, 0});
    ++place->second;
  }
  const bool any = !columns.empty();
  for (const auto& [x, heads] : columns) {
    const float opacity = 1.0f - std::pow(1.0f - kHeadOpacity, static_cast<float>(heads));
    marks.push_back({{x, rect.y0, x + 1.0f, rect.y1}, std::min(opacity, kMostOpacity), StripMark::Role::Head});
  }
  const auto add = [&](double value, float width, StripMark::Role role) {
    if (!any || !std::isfinite(value)) return;
    const float x =
        range.empty() ? std::round(rect.centre_x()) - std::floor(0.5f * width) : column(rect, range, value, width);
    marks.push_back({{x, rect.y0, x + width, rect.y1}, 1.0f, role});
  };
  if (threshold) add(*threshold, 1.0f, StripMark::Role::Threshold);
  add(selected, 3.0f, StripMark::Role::Selected);
  return marks;
}

}  // namespace

StripRange strip_range(NumberView all, std::optional<double> threshold) {
  constexpr double kExtreme = 3.0, kWiden = 0.1;
  const std::vector<double> q = quantiles(all, std::array{0.0, 0.02, 0.98, 1.0});
  if (!std::isfinite(q[0])) return {0.0, 0.0, false, false};
  StripRange range{q[0], q[3], false, false};
  const double middle = q[2] - q[1];
  if (middle > 0.0 && q[3] - q[0] > kExtreme * middle) {
    range.low = std::max(q[0], q[1] - kWiden * middle);
    range.high = std::min(q[3], q[2] + kWiden * middle);
  }
  if (threshold && std::isfinite(*threshold)) {
    range.low = std::min(range.low, *threshold);
    range.high = std::max(range.high, *threshold);
  }
  range.clips_low = q[0] < range.low;
  range.clips_high = q[3] > range.high;
  return range;
}

std::vector<StripMark> lay_out_strip(const Rect& rect, NumberView all, double selected,
                                     std::optional<double> threshold) {
  return lay_out_marks(rect, all, selected, threshold, strip_range(all, threshold));
}

void draw_strip(Painter& painter, const Rect& rect, NumberView all, double selected, std::optional<double> threshold,
                const Theme& theme) {
  if (rect.empty()) return;
  painter.line({rect.x0, rect.centre_y()}, {rect.x1, rect.centre_y()}, theme.line);
  const StripRange range = strip_range(all, threshold);
  for (const StripMark& mark : lay_out_marks(rect, all, selected, threshold, range)) {
    switch (mark.role) {
      case StripMark::Role::Head: painter.fill_rect(mark.rect, theme.text3.faded(mark.opacity)); break;
      case StripMark::Role::Threshold: painter.fill_rect(mark.rect, theme.warn); break;
      case StripMark::Role::Selected: painter.fill_rect(mark.rect, theme.accent); break;
    }
  }
  const float y = rect.centre_y(), half = 0.75f * kArrow;
  const auto arrow = [&](float tip, float base) {
    const Vec2 points[] = {{tip, y}, {base, y - half}, {base, y + half}};
    painter.fill_polygon(points, theme.text3);
  };
  // Beyond the ends, in the gap to the neighbours, so that the lines at the ends stay free.
  if (range.clips_low) arrow(rect.x0 - kArrow - 1.0f, rect.x0 - 1.0f);
  if (range.clips_high) arrow(rect.x1 + kArrow + 1.0f, rect.x1 + 1.0f);
}

std::string strip_hint(const StripRange& range, int decimals) {
  const std::string low = "values below " + fixed_text(range.low, decimals) + " stand at the left end";
  const std::string high = "values above " + fixed_text(range.high, decimals) + " stand at the right end";
  if (range.clips_low && range.clips_high) return low + ", " + high;
  return range.clips_low ? low : range.clips_high ? high : std::string();
}

}  // namespace headroom
