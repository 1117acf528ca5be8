// How near the origin weighted means of points can come. Pure function; safe from any thread.
#pragma once

#include <cstdint>
#include <span>

namespace headroom {

// Distance of the origin from the convex hull of `points`, row-major [points, dimensions]; NaN without a point and
// where a number is not finite, 0 where it is below 1e-5 of the longest point, which is also how near the answer is.
// Wolfe 1976, Finding the nearest point in a polytope, doi:10.1007/BF01580381.
[[nodiscard]] double hull_distance(std::span<const double> points, std::int64_t dimensions);

}  // namespace headroom
