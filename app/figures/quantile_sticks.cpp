#include "app/figures/quantile_sticks.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "app/figures/page_beyond.h"

namespace headroom {
namespace {

constexpr std::size_t kMedianAt = 2;

// −1: below the axis; 1: above it.
int side_of(double value, double low, double high) { return value > high ? 1 : value < low && value != 0.0 ? -1 : 0; }

}  // namespace

void draw_quantile_sticks(Painter& painter, const Page& page, LabelSpace& space, const Rect& inner, const Axis& along,
                          const Axis& up, const std::string& dataset, std::span<const QuantileStick> sticks) {
  const PageStyle& style = page.style;
  const float step = inner.width() / static_cast<float>(sticks.size());
  const float half = 0.5f * std::min(style.pt(2.4f), 0.62f * step), dot = std::min(style.pt(1.45f), 0.42f * step);
  const auto level = [&](const QuantileStick& stick, std::size_t q) {
    return up.pixel(std::clamp(stick.q[q], up.low, up.high));
  };
  // Whether what reaches from one quantile to another has a part on the axis.
  const auto seen = [&](const QuantileStick& stick, std::size_t from, std::size_t to) {
    return (stick.q[to] >= up.low || stick.q[to] == 0.0) && stick.q[from] <= up.high;
  };
  const auto each = [&](const char* series, const auto& draw_one) {
    painter.begin_series({dataset, "", series});
    for (std::size_t i = 0; i < sticks.size(); ++i)
      if (sticks[i].rows > 0) draw_one(sticks[i], along.pixel(static_cast<double>(i)));
    painter.end_series();
  };
  each("1–99 %", [&](const QuantileStick& stick, float at) {
    if (!seen(stick, 0, 4)) return;
    painter.line({at, level(stick, 4)}, {at, level(stick, 0)}, ink::kSecond.mark.faded(0.65f), style.pt(0.6f));
    space.block(Rect{at - style.pt(0.3f), level(stick, 4), at + style.pt(0.3f), level(stick, 0)});
  });
  each("quartiles", [&](const QuantileStick& stick, float at) {
    if (!seen(stick, 1, 3)) return;
    const Rect bar{at - half, level(stick, 3), at + half, level(stick, 1)};
    painter.fill_rect(bar, ink::kSecond.mark);
    space.block(bar);
  });
  const auto on_axis = [&](const QuantileStick& stick) { return side_of(stick.q[kMedianAt], up.low, up.high) == 0; };
  each("median", [&](const QuantileStick& stick, float at) {
    if (on_axis(stick)) painter.disc({at, level(stick, kMedianAt)}, dot, ink::kSecond.mark);
  });
  for (std::size_t i = 0; i < sticks.size(); ++i)
    if (sticks[i].rows > 0 && on_axis(sticks[i]))
      painter.disc({along.pixel(static_cast<double>(i)), level(sticks[i], kMedianAt)}, 0.55f * dot, ink::kWhite);
  std::vector<BeyondMark> beyond;
  for (std::size_t i = 0; i < sticks.size(); ++i)
    if (const double median = sticks[i].q[kMedianAt]; sticks[i].rows > 0 && !on_axis(sticks[i]))
      beyond.push_back({along.pixel(static_cast<double>(i)), median, median > up.high});
  painter.begin_series({dataset, "", "beyond"});
  draw_all_beyond(painter, page, space, inner, beyond, ink::kSecond);
  painter.end_series();
}

std::int64_t sticks_beyond(std::span<const QuantileStick> sticks, double low, double high) {
  return std::ranges::count_if(sticks, [&](const QuantileStick& stick) {
    return stick.rows > 0 && side_of(stick.q[kMedianAt], low, high) != 0;
  });
}

}  // namespace headroom
