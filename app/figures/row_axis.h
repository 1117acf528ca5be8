// Along what the rows of a head are plotted: the keys nᵢ that they see, or, where rows do not see more and more keys
// (bidirectional layers, a window that most rows fill, a call whose rows see all of another sequence), their position.
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/figures/head_series.h"
#include "app/figures/page_axes.h"
#include "app/plot/plot_frame.h"

namespace headroom {

// Whether counts of visible keys do not tell the rows apart: more than half of them see the most, or they fall again.
[[nodiscard]] bool plots_by_position(std::span<const std::int64_t> visible);

// Where each row stands along the axis.
[[nodiscard]] std::vector<double> row_places(const HeadSeries& series, bool by_position);
// The axis from the first to the last row; titled where it is not nᵢ, which the panels' headings name.
[[nodiscard]] AxisSpec row_axis(const HeadSeries& series);
// The same of a figure; titled in either case.
[[nodiscard]] PageAxis page_row_axis(const HeadSeries& series);
// How few and how many keys its rows see, but for those beyond the rows of a call.
[[nodiscard]] Range visible_range(const HeadSeries& series);
// At least 2.
[[nodiscard]] double last_place(const HeadSeries& series);
// `count` places from one end of the axis to the other, and the keys that a row there sees.
[[nodiscard]] std::vector<double> place_grid(const HeadSeries& series, int count);
[[nodiscard]] double visible_at(const HeadSeries& series, double place);
// "over visible keys nᵢ" or "over position"; "over nᵢ" or "by row" where that is too long.
[[nodiscard]] std::string over_rows(const HeadSeries& series, bool narrow);

}  // namespace headroom
