#include "app/plot/quantiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

#include "app/plot/ticks.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

std::vector<double> finite_values(NumberView values) {
  std::vector<double> out;
  out.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (const double v = values[i]; std::isfinite(v)) out.push_back(v);
  }
  return out;
}

double of_sorted(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return kNaN;
  const double at = std::clamp(p, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const std::size_t k = std::min(static_cast<std::size_t>(at), sorted.size() - 1);
  if (k + 1 == sorted.size()) return sorted[k];
  return sorted[k] + (at - static_cast<double>(k)) * (sorted[k + 1] - sorted[k]);
}

// As of_sorted() of the values in order, whose order this changes; a map that is dragged asks in every frame.
double of_unsorted(std::vector<double>& values, double p) {
  if (values.empty()) return kNaN;
  const double at = std::clamp(p, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const std::size_t k = std::min(static_cast<std::size_t>(at), values.size() - 1);
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(values.begin(), place, values.end());
  if (k + 1 == values.size()) return *place;
  return *place + (at - static_cast<double>(k)) * (*std::min_element(place + 1, values.end()) - *place);
}

// The ends a range would have, and the true extremes instead where they are hardly farther away.
struct Ends {
  double low, high, smallest, largest;
};
Ends robust_ends(std::vector<double>& values, double tail) {
  constexpr double kHardly = 0.2;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double smallest = *least, largest = *most;
  Ends ends{of_unsorted(values, tail), of_unsorted(values, 1.0 - tail), smallest, largest};
  const double hardly = kHardly * (ends.high - ends.low);
  if (ends.low - smallest <= hardly) ends.low = smallest;
  if (largest - ends.high <= hardly) ends.high = largest;
  return ends;
}

}  // namespace

double quantile(NumberView values, double p) {
  std::vector<double> sorted = finite_values(values);
  std::sort(sorted.begin(), sorted.end());
  return of_sorted(sorted, p);
}

double median_of(std::span<const double> values, std::span<const std::size_t> places) {
  std::vector<double> chosen;
  chosen.reserve(places.size());
  for (const std::size_t place : places) chosen.push_back(values[place]);
  return quantile(chosen, 0.5);
}

std::vector<double> quantiles(NumberView values, std::span<const double> p) {
  std::vector<double> found = finite_values(values), out;
  std::ptrdiff_t from = 0;  // what lies before is in its place
  for (const double each : p) {
    if (!found.empty()) {
      const auto at = static_cast<std::ptrdiff_t>(std::clamp(each, 0.0, 1.0) * static_cast<double>(found.size() - 1));
      if (at < from) from = 0;
      // The order statistic and the next one: all that of_sorted() reads.
      std::nth_element(found.begin() + from, found.begin() + at, found.end());
      if (at + 1 < std::ssize(found))
        std::swap(found[static_cast<std::size_t>(at) + 1], *std::min_element(found.begin() + at + 1, found.end()));
      from = at;
    }
    out.push_back(of_sorted(found, each));
  }
  return out;
}

double Histogram::largest() const { return counts.empty() ? 0.0 : *std::max_element(counts.begin(), counts.end()); }

double Histogram::total() const { return std::accumulate(counts.begin(), counts.end(), 0.0); }

namespace {

// Counts by the edges that are there, so that a value on an edge is always in the bin above it.
Histogram counted(Histogram out, NumberView values, std::span<const std::uint8_t> chosen) {
  const std::size_t bins = out.edges.size() - 1;
  out.counts.assign(bins, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    if (!std::isfinite(v) || (!chosen.empty() && chosen[i] == 0)) continue;
    if (v < out.edges.front()) {
      ++out.below;
    } else if (v > out.edges.back()) {
      ++out.above;
    } else {
      const auto after = std::upper_bound(out.edges.begin(), out.edges.end(), v);
      out.counts[std::min(static_cast<std::size_t>(after - out.edges.begin()), bins) - 1] += 1.0;
    }
  }
  return out;
}

}  // namespace

Histogram histogram(NumberView values, double low, double high, std::size_t bins, bool log,
                    std::span<const std::uint8_t> chosen) {
  Histogram out;
  if (!std::isfinite(low) || !std::isfinite(high) || !(high > low) || bins == 0 || (log && !(low > 0.0))) return out;
  for (std::size_t i = 0; i <= bins; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(bins);
    out.edges.push_back(i == bins ? high : log ? low * std::pow(high / low, share) : low + share * (high - low));
  }
  return counted(std::move(out), values, chosen);
}

Histogram symlog_histogram(NumberView values, double low, double high, double linear, std::size_t bins,
                           std::span<const std::uint8_t> chosen) {
  Histogram out;
  if (!std::isfinite(low) || !std::isfinite(high) || !(high > low) || bins == 0 || !(linear > 0.0)) return out;
  const double from = symlog_place(low, linear), to = symlog_place(high, linear);
  for (std::size_t i = 0; i <= bins; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(bins);
    out.edges.push_back(i == 0 ? low : i == bins ? high : symlog_value(from + share * (to - from), linear));
  }
  return counted(std::move(out), values, chosen);
}

RobustRange robust_range(NumberView values, double tail) {
  std::vector<double> finite = finite_values(values);
  if (finite.empty()) return {};
  const Ends ends = robust_ends(finite, tail);
  const Range nice = nice_range(ends.low, ends.high, false);
  return {nice.low, nice.high, ends.smallest<nice.low, ends.largest> nice.high};
}

RobustRange robust_log_range(NumberView values, double tail, double decades) {
  std::vector<double> finite = finite_values(values), positive;
  std::copy_if(finite.begin(), finite.end(), std::back_inserter(positive), [](double v) { return v > 0.0; });
  if (positive.empty()) return {1e-4, 1.0, !finite.empty(), false};
  const double smallest = *std::min_element(finite.begin(), finite.end());
  for (double& v : positive) v = std::log10(v);
  const Ends ends = robust_ends(positive, tail);
  const double high = std::pow(10.0, ends.high), low = std::pow(10.0, std::max(ends.low, ends.high - decades));
  const Range nice = nice_range(low, high, true);
  // Values were taken to logarithms and back: the ends are compared with a last place to spare.
  return {nice.low, nice.high,
          smallest<nice.low * (1.0 - 1e-12), std::pow(10.0, ends.largest)> nice.high * (1.0 + 1e-12)};
}

RobustRange robust_signed_range(NumberView values, double tail) {
  std::vector<double> sorted = finite_values(values), magnitudes;
  for (const double v : sorted) magnitudes.push_back(std::abs(v));
  if (magnitudes.empty()) return {-1.0, 1.0, false, false};
  std::sort(magnitudes.begin(), magnitudes.end());
  double high = of_sorted(magnitudes, 1.0 - tail);
  if (magnitudes.back() <= 1.2 * high) high = magnitudes.back();
  high = high > 0.0 ? nice_range(high, high, true).high : magnitudes.back() > 0.0 ? magnitudes.back() : 1.0;
  const auto [smallest, largest] = std::minmax_element(sorted.begin(), sorted.end());
  return {-high, high, *smallest<-high, *largest> high};
}

}  // namespace headroom
