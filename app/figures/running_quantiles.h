// Running medians and quartiles over visible keys, of which the lines and bands of figures are made. Pure functions;
// safe from any thread.
#pragma once

#include <vector>

#include "app/plot/number_view.h"

namespace headroom {

inline constexpr double kRunningWindow = 1.33;

struct RunningQuantiles {
  std::vector<double> n, lower, median, upper;

  [[nodiscard]] bool empty() const { return n.empty(); }
};

// At 49 places evenly spaced in log n from `from` > 0 to the largest n: median and quartiles (type 7) of the finite
// values whose n lies within that factor, where there are at least 15. `visible` and `values` are as long as each
// other.
[[nodiscard]] RunningQuantiles running_quantiles(NumberView visible, NumberView values, double from);

}  // namespace headroom
