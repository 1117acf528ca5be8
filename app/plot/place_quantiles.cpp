#include "app/plot/place_quantiles.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/plot/quantiles.h"

namespace headroom {

PlaceQuantiles place_quantiles(std::span<const std::span<const double>> rows, std::size_t most) {
  std::vector<std::vector<double>> by_place(most);
  for (const std::span<const double> row : rows)
    for (std::size_t i = 0; i < std::min(most, row.size()); ++i)
      if (std::isfinite(row[i])) by_place[i].push_back(row[i]);
  while (!by_place.empty() && by_place.back().empty()) by_place.pop_back();
  constexpr std::array<double, 3> kShares = {kPlaceTail, 0.5, 1.0 - kPlaceTail};
  PlaceQuantiles found;
  for (const std::vector<double>& values : by_place) {
    const std::vector<double> q = quantiles(values, kShares);
    found.low.push_back(q[0]), found.median.push_back(q[1]), found.high.push_back(q[2]);
  }
  return found;
}

}  // namespace headroom
