// A quantity of the rows of a head as a curve along the axis that these are plotted over (row_axis.h): one by one where
// they are few, then medians and quartiles. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "app/figures/running_quantiles.h"
#include "app/plot/number_view.h"

namespace headroom {

struct HeadSeries;

inline constexpr std::size_t kPositionBins = 24;  // pieces that medians over positions are of
inline constexpr double kMediansFrom = 16.0;      // visible keys

struct RowCurve {
  std::vector<double> place, lower, median, upper;  // of a single row: its value, and no quartiles (NaN)
  std::vector<std::int64_t> row;                    // −1: a median

  [[nodiscard]] bool empty() const { return place.empty(); }
  void add(double at, double value, double low, double high, std::int64_t of_row);
  // Where medians begin; NaN where there are none.
  [[nodiscard]] double first_median() const;
  // The last finite value; NaN where there is none.
  [[nodiscard]] double last() const;
};

// Medians and quartiles of the finite values, `n` of which is the place: over visible keys running ones from `from`
// (running_quantiles.h), over positions those of pieces of equal length. `values` are as long as the series.
[[nodiscard]] RunningQuantiles row_medians(const HeadSeries& series, NumberView values, double from, bool by_position);

// Over visible keys: rows one by one, by their place, up to the first of the medians from kMediansFrom. Over positions:
// medians of pieces of equal length where each has four rows, else all rows one by one. Rows that are not finite are
// gaps of the former, and do not count in the latter. Empty where `values` are not as long as the series.
[[nodiscard]] RowCurve row_curve(const HeadSeries& series, NumberView values);
// Along the axis of another series, as before and after a change: by positions or not.
[[nodiscard]] RowCurve row_curve(const HeadSeries& series, NumberView values, bool by_position);

}  // namespace headroom
