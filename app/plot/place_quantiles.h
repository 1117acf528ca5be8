// How numbers of many heads lie at each place, such as the singular values of their circuits: what the window and
// figures draw as a band and its median. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headroom {

// By place from 0 on; NaN where no head has a number.
struct PlaceQuantiles {
  std::vector<double> low, median, high;
};
inline constexpr double kPlaceTail = 0.05;  // from this share to 1 − this share

// Of `rows`, one for each head, that may be shorter than others; up to the last place where one has a finite number,
// and `most` at most.
[[nodiscard]] PlaceQuantiles place_quantiles(std::span<const std::span<const double>> rows, std::size_t most);

}  // namespace headroom
