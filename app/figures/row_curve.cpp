#include "app/figures/row_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "app/figures/head_series.h"
#include "app/figures/row_axis.h"
#include "app/plot/quantiles.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

// In the middle of each piece, of its finite values.
RunningQuantiles piece_quantiles(NumberView values) {
  RunningQuantiles result;
  const std::size_t count = values.size();
  for (std::size_t piece = 0; piece < kPositionBins; ++piece) {
    const std::size_t begin = piece * count / kPositionBins, end = (piece + 1) * count / kPositionBins;
    std::vector<double> own;
    for (std::size_t i = begin; i < end; ++i) own.push_back(values[i]);
    const std::vector<double> found = quantiles(own, std::array{0.25, 0.5, 0.75});
    if (!std::isfinite(found[1])) continue;
    result.n.push_back(0.5 * static_cast<double>(begin + end - 1));
    result.lower.push_back(found[0]), result.median.push_back(found[1]), result.upper.push_back(found[2]);
  }
  return result;
}

}  // namespace

void RowCurve::add(double at, double value, double low, double high, std::int64_t of_row) {
  place.push_back(at), median.push_back(value), lower.push_back(low), upper.push_back(high), row.push_back(of_row);
}

double RowCurve::first_median() const {
  const auto found = std::ranges::find(row, -1);
  return found == row.end() ? kNaN : place[static_cast<std::size_t>(found - row.begin())];
}

double RowCurve::last() const {
  for (std::size_t i = median.size(); i-- > 0;)
    if (std::isfinite(median[i])) return median[i];
  return kNaN;
}

RunningQuantiles row_medians(const HeadSeries& series, NumberView values, double from, bool by_position) {
  return by_position ? piece_quantiles(values) : running_quantiles(series.visible, values, from);
}

RowCurve row_curve(const HeadSeries& series, NumberView values) {
  return row_curve(series, values, series.by_position);
}

RowCurve row_curve(const HeadSeries& series, NumberView values, bool by_position) {
  RowCurve curve;
  if (values.size() != series.rows()) return curve;
  RunningQuantiles running;
  if (!by_position || values.size() >= 4 * kPositionBins)
    running = row_medians(series, values, kMediansFrom, by_position);
  const double from = running.empty() ? kInfinity : by_position ? -1.0 : running.n.front();
  const std::vector<double> places = row_places(series, by_position);
  // Counts of visible keys begin anew in each chunk, and go back where keys are hidden.
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (places[i] < from && series.visible[i] > 0.0) rows.push_back(i);
  std::ranges::stable_sort(rows, {}, [&](std::size_t i) { return places[i]; });
  for (const std::size_t i : rows) curve.add(places[i], values[i], kNaN, kNaN, static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < running.n.size(); ++i)
    curve.add(running.n[i], running.median[i], running.lower[i], running.upper[i], -1);
  return curve;
}

}  // namespace headroom
