// Not a number and infinity, for what is not there and what has no bound.
#pragma once

#include <limits>

namespace headroom {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace headroom
