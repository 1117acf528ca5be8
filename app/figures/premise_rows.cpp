#include "app/figures/premise_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "app/figures/head_series.h"
#include "app/figures/row_curve.h"

namespace headroom {

PremiseRows premise_rows(const LayerSnapshot& layer, std::int64_t head, const HeadSeries& series) {
  PremiseRows rows;
  const std::span<const float> uniform = layer.row_values("rows/uniform_rms_relative", head),
                               signs = layer.row_values("rows/sign_rms_relative", head);
  std::vector<std::pair<double, double>> line;
  for (std::size_t i = 0; i < std::min(uniform.size(), series.rows()); ++i)
    if (std::isfinite(uniform[i]) && uniform[i] > 0.0f)
      line.emplace_back(series.place[i], static_cast<double>(uniform[i]));
  std::ranges::stable_sort(line, {}, &std::pair<double, double>::first);
  for (const auto& [place, value] : line) rows.uniform.place.push_back(place), rows.uniform.value.push_back(value);
  const std::span<const float> lows = map_part(signs, 0, series.rows()), highs = map_part(signs, 1, series.rows());
  for (std::size_t i = 0; i < lows.size(); ++i)
    if (std::isfinite(lows[i]))
      rows.signs.push_back(
          {static_cast<std::int64_t>(i), series.place[i], static_cast<double>(lows[i]), static_cast<double>(highs[i])});
  const auto from = static_cast<double>(std::max<std::int64_t>(series.min_row, 1));
  if (lows.empty()) return rows;
  rows.low = row_medians(series, lows, from, series.by_position);
  rows.high = row_medians(series, highs, from, series.by_position);
  return rows;
}

}  // namespace headroom
