// p-values of many tests at once. Pure function; safe from any thread.
#pragma once

#include <span>
#include <vector>

namespace headroom {

// p of each test as it counts among all of them: rejecting those at most α keeps the expected share of false rejections
// below α (Benjamini and Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x: the largest k with p_(k) ≤ α k/m). NaN
// is no test and stays NaN.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace headroom
