// Order statistics of what plots show: quantiles, histograms, ranges of colour scales. Only
// finite values count. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "app/plot/number_view.h"

namespace headroom {

// Quantiles of the finite values, p in [0, 1], interpolated linearly between order statistics; NaN where there are
// none.
[[nodiscard]] double quantile(NumberView values, double p);
// The median of those at these places.
[[nodiscard]] double median_of(std::span<const double> values, std::span<const std::size_t> places);
[[nodiscard]] std::vector<double> quantiles(NumberView values, std::span<const double> p);

struct Histogram {
  std::vector<double> edges;  // one more than bins, ascending
  std::vector<double> counts;
  std::int64_t below = 0, above = 0;  // finite values outside the edges
  [[nodiscard]] std::size_t bins() const { return counts.size(); }
  [[nodiscard]] double largest() const;  // 0 if empty
  [[nodiscard]] double total() const;    // inside the edges
};
// Bins of equal width from low to high (log: equal ratio, low > 0); the last one holds `high` too. No bins if the range
// is empty or not finite. With `chosen`, only values whose flag is set; as long as values.
[[nodiscard]] Histogram histogram(NumberView values, double low, double high, std::size_t bins, bool log = false,
                                  std::span<const std::uint8_t> chosen = {});

// Bins of equal width on a scale that is linear within ± `linear` and logarithmic beyond (plot/ticks.h).
[[nodiscard]] Histogram symlog_histogram(NumberView values, double low, double high, double linear, std::size_t bins,
                                         std::span<const std::uint8_t> chosen = {});

// A range for a colour scale.
struct RobustRange {
  double low = 0.0, high = 1.0;
  bool clips_low = false, clips_high = false;  // values lie outside: the bar says "≤", "≥"
};
// From quantile `tail` to 1 − `tail` of the finite values, widened to 1-2-5 ends; the true extremes instead where they
// are hardly farther away (20 % of the range). Never empty: one value v gives a range round it, none gives 0 … 1.
[[nodiscard]] RobustRange robust_range(NumberView values, double tail = 0.01);
// The same for a log scale: positive values only, ends at 1, 2, 5 · 10ᵏ, at most `decades` decades below the top.
[[nodiscard]] RobustRange robust_log_range(NumberView values, double tail = 0.01, double decades = 6.0);
// The same with low = −high, for signed values: from the quantile 1 − tail of the magnitudes.
[[nodiscard]] RobustRange robust_signed_range(NumberView values, double tail = 0.01);

}  // namespace headroom
