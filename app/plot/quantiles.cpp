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

// The ends a range would have, and the true extremes instead where they are hardly farther away.
struct Ends {
  double low, high;
};
Ends robust_ends(const std::vector<double>& sorted, double tail) {
  constexpr double kHardly = 0.2;
  Ends ends{of_sorted(sorted, tail), of_sorted(sorted, 1.0 - tail)};
  const double hardly = kHardly * (ends.high - ends.low);
  if (ends.low - sorted.front() <= hardly) ends.low = sorted.front();
  if (sorted.back() - ends.high <= hardly) ends.high = sorted.back();
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
  std::vector<double> sorted = finite_values(values);
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> out;
  for (const double each : p) out.push_back(of_sorted(sorted, each));
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

std::vector<RowBin> bins_over_visible(NumberView visible, NumberView values, double from, int bins_per_decade,
                                      std::int64_t least_rows) {
  struct Row {
    double n, value;
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < std::min(visible.size(), values.size()); ++i) {
    if (visible[i] >= from && visible[i] > 0.0 && std::isfinite(values[i])) rows.push_back({visible[i], values[i]});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.n < b.n; });
  const auto bin_of = [&](double n) {
    return std::floor(std::log10(n / std::max(from, 1.0)) * bins_per_decade + 1e-9);
  };

  std::vector<std::pair<std::size_t, std::size_t>> groups;  // [begin, end) in rows
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin;
    while (end < rows.size() && bin_of(rows[end].n) == bin_of(rows[begin].n)) ++end;
    const bool small =
        !groups.empty() && static_cast<std::int64_t>(groups.back().second - groups.back().first) < least_rows;
    if (small) {
      groups.back().second = end;
    } else {
      groups.emplace_back(begin, end);
    }
    begin = end;
  }
  if (groups.size() > 1 && static_cast<std::int64_t>(groups.back().second - groups.back().first) < least_rows) {
    groups[groups.size() - 2].second = groups.back().second;
    groups.pop_back();
  }

  std::vector<RowBin> out;
  for (const auto& [begin, end] : groups) {
    RowBin bin{rows[begin].n, rows[end - 1].n, 0.0, static_cast<std::int64_t>(end - begin), 0.0, 0.0, 0.0};
    std::vector<double> sorted;
    double logs = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      sorted.push_back(rows[i].value);
      logs += std::log(rows[i].n);
    }
    std::sort(sorted.begin(), sorted.end());
    bin.centre = std::clamp(std::exp(logs / static_cast<double>(end - begin)), bin.low, bin.high);
    bin.lower = of_sorted(sorted, 0.25), bin.median = of_sorted(sorted, 0.5), bin.upper = of_sorted(sorted, 0.75);
    out.push_back(bin);
  }
  return out;
}

std::vector<RowBin> bins_over_positions(NumberView values, std::size_t bins) {
  std::vector<RowBin> out;
  const std::size_t count = values.size(), pieces = std::min(bins, count);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t begin = piece * count / pieces, end = (piece + 1) * count / pieces;
    std::vector<double> sorted;
    for (std::size_t i = begin; i < end; ++i)
      if (std::isfinite(values[i])) sorted.push_back(values[i]);
    if (sorted.empty()) continue;
    std::sort(sorted.begin(), sorted.end());
    RowBin bin;
    bin.low = static_cast<double>(begin), bin.high = static_cast<double>(end - 1);
    bin.centre = 0.5 * (bin.low + bin.high);
    bin.rows = static_cast<std::int64_t>(sorted.size());
    bin.lower = of_sorted(sorted, 0.25), bin.median = of_sorted(sorted, 0.5), bin.upper = of_sorted(sorted, 0.75);
    out.push_back(bin);
  }
  return out;
}

RobustRange robust_range(NumberView values, double tail) {
  std::vector<double> sorted = finite_values(values);
  if (sorted.empty()) return {};
  std::sort(sorted.begin(), sorted.end());
  const Ends ends = robust_ends(sorted, tail);
  const Range nice = nice_range(ends.low, ends.high, false);
  return {nice.low, nice.high, sorted.front() < nice.low, sorted.back() > nice.high};
}

RobustRange robust_log_range(NumberView values, double tail, double decades) {
  std::vector<double> sorted = finite_values(values), positive;
  std::copy_if(sorted.begin(), sorted.end(), std::back_inserter(positive), [](double v) { return v > 0.0; });
  if (positive.empty()) return {1e-4, 1.0, !sorted.empty(), false};
  const double smallest = *std::min_element(sorted.begin(), sorted.end());
  for (double& v : positive) v = std::log10(v);
  std::sort(positive.begin(), positive.end());
  const Ends ends = robust_ends(positive, tail);
  const double high = std::pow(10.0, ends.high), low = std::pow(10.0, std::max(ends.low, ends.high - decades));
  const Range nice = nice_range(low, high, true);
  // Values were taken to logarithms and back: the ends are compared with a last place to spare.
  return {nice.low, nice.high,
          smallest<nice.low * (1.0 - 1e-12), std::pow(10.0, positive.back())> nice.high * (1.0 + 1e-12)};
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
