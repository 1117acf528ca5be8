#include "app/figures/running_quantiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "app/plot/quantiles.h"

namespace headroom {
namespace {

constexpr std::size_t kWindowRows = 15;
constexpr int kWindowPlaces = 48;

}  // namespace

RunningQuantiles running_quantiles(NumberView visible, NumberView values, double from) {
  std::vector<std::pair<double, double>> rows;  // by n, so that a window is a range
  for (std::size_t i = 0; i < visible.size(); ++i)
    if (std::isfinite(values[i])) rows.emplace_back(visible[i], values[i]);
  RunningQuantiles result;
  if (rows.empty()) return result;
  std::ranges::stable_sort(rows, {}, &std::pair<double, double>::first);
  const double last = rows.back().first;
  if (!(from > 0.0) || from > last) return result;
  for (int i = 0; i <= kWindowPlaces; ++i) {
    const double n = from * std::pow(last / from, i / static_cast<double>(kWindowPlaces));
    const auto begin = std::ranges::lower_bound(rows, n / kRunningWindow, {}, &std::pair<double, double>::first);
    const auto end = std::ranges::upper_bound(rows, kRunningWindow * n, {}, &std::pair<double, double>::first);
    std::vector<double> window;
    for (auto row = begin; row < end; ++row) window.push_back(row->second);
    if (window.size() < kWindowRows) continue;
    const std::vector<double> found = quantiles(window, std::array{0.25, 0.5, 0.75});
    result.n.push_back(n);
    result.lower.push_back(found[0]), result.median.push_back(found[1]), result.upper.push_back(found[2]);
  }
  return result;
}

}  // namespace headroom
