// Columns of quantiles: a thin line from the 1st to the 99th percentile, a bar between the quartiles, a ring at the
// median. Layout is one thread at a time for each LabelSpace.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "app/figures/page_style.h"
#include "app/plot/label_layout.h"
#include "app/plot/painter.h"
#include "app/plot/quantiles.h"

namespace headroom {

inline constexpr std::array<double, 5> kStickAt = {0.01, 0.25, 0.5, 0.75, 0.99};

struct QuantileStick {
  std::array<double, 5> q{};  // at kStickAt
  std::int64_t rows = 0;      // 0: nothing is drawn
};

// `sticks[i]` stands at place i of `along`. What lies beyond the axis ends at its edge, an arrow there for a median
// that does; where the axis is logarithmic a quantile of 0 stands at its foot and is no such.
void draw_quantile_sticks(Painter& painter, const Page& page, LabelSpace& space, const Rect& inner, const Axis& along,
                          const Axis& up, const std::string& dataset, std::span<const QuantileStick> sticks);
// How many medians lie beyond such an axis.
[[nodiscard]] std::int64_t sticks_beyond(std::span<const QuantileStick> sticks, double low, double high);

}  // namespace headroom
