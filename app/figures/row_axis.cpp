#include "app/figures/row_axis.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "app/plot/series.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

// Beyond the rows of a call nothing is seen.
double last_position(const HeadSeries& series) {
  std::size_t last = series.rows();
  while (last > 1 && series.visible[last - 1] <= 0.0) --last;
  return std::max(1.0, static_cast<double>(last) - 1.0);
}

}  // namespace

bool plots_by_position(std::span<const std::int64_t> visible) {
  std::size_t rows = visible.size();
  while (rows > 0 && visible[rows - 1] <= 0) --rows;
  if (rows < 2) return false;
  // A causal row that a what-if leaves with its own key alone may see fewer than the row before.
  for (std::size_t i = 1; i < rows; ++i)
    if (visible[i] < visible[i - 1] && visible.front() != 1) return true;
  const auto of_rows = visible.first(rows);
  return 2 * std::ranges::count(of_rows, std::ranges::max(of_rows)) > static_cast<std::ptrdiff_t>(rows);
}

std::vector<double> row_places(const HeadSeries& series, bool by_position) {
  if (!by_position) return series.visible;
  std::vector<double> places;
  for (std::size_t i = 0; i < series.rows(); ++i) places.push_back(static_cast<double>(i));
  return places;
}

double last_place(const HeadSeries& series) {
  if (series.by_position) return last_position(series);
  return std::max(2.0, *std::ranges::max_element(series.visible));
}

Range visible_range(const HeadSeries& series) {
  const auto [least, most] =
      std::ranges::minmax(std::span(series.visible).first(static_cast<std::size_t>(last_position(series)) + 1));
  return {least, most};
}

AxisSpec row_axis(const HeadSeries& series) {
  AxisSpec axis = axis_spec(series.by_position ? 0.0 : 1.0, last_place(series), !series.by_position);
  axis.high_label = true;
  if (!series.by_position) return axis;
  axis.whole = true;
  const auto [least, most] = visible_range(series);
  axis.title = "position of the row; " + (least == most ? "each sees " : "they see " + fixed_text(least, 0) + " to ") +
               fixed_text(most, 0) + " keys";
  return axis;
}

PageAxis page_row_axis(const HeadSeries& series) {
  PageAxis axis{series.by_position ? 0.0 : 1.0, last_place(series), !series.by_position};
  axis.whole = series.by_position, axis.high_label = !series.by_position;
  axis.title = rich(series.by_position ? "position of the row" : "visible keys *n*_{*i*}");
  return axis;
}

std::vector<double> place_grid(const HeadSeries& series, int count) {
  const double last = last_place(series);
  std::vector<double> places;
  for (int i = 0; i <= count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count);
    places.push_back(series.by_position ? share * last : std::pow(last, share));
  }
  return places;
}

double visible_at(const HeadSeries& series, double place) {
  if (!series.by_position) return place;
  const auto row = static_cast<std::size_t>(std::clamp(std::round(place), 0.0, last_position(series)));
  return series.visible[std::min(row, series.rows() - 1)];
}

std::string over_rows(const HeadSeries& series, bool narrow) {
  if (series.by_position) return narrow ? "by row" : "over position";
  return narrow ? "over nᵢ" : "over visible keys nᵢ";
}

}  // namespace headroom
