// The intervals of a corpus in the atlas: how wide each is as a bar in its cell, what the bars mean, how many heads are
// not settled, and which statistic the cells are coloured by. Main thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/panels/heads/heads_layout.h"
#include "app/panels/panel.h"
#include "app/plot/color_map.h"
#include "app/session/corpus_entry.h"

namespace headroom {

struct AtlasIntervals {
  CorpusIntervals of;
  double full = 0.0;  // half width of a bar that goes through the whole cell; wider ones do too
  IntervalCounts counts;
  std::optional<double> level;
  std::string level_name;  // session/head_threshold.h
};
// Nothing where no corpus is shown, or another statistic than the mean, or no head has an interval.
[[nodiscard]] std::optional<AtlasIntervals> atlas_intervals(const State& state);

// `values`: that the cells are coloured by, as they lie in [layers, heads]; `order`: by cell, the place of its head.
void draw_half_widths(PanelContext& context, const AtlasIntervals& intervals, const AtlasLayout& layout,
                      std::span<const std::size_t> order, std::span<const double> values, const ColorScale& scale);

// What the bars mean, and below it how many heads are not settled, where the rectangle has room for it.
inline constexpr float kIntervalLegend = 20.0f, kIntervalCounts = 34.0f;
void draw_interval_legend(PanelContext& context, const AtlasIntervals& intervals, Rect area);

// Whether the atlas' numbers are values of the quantity, which its threshold and the level of uniform attention are of:
// a spread over sequences, or a share of them, is none.
[[nodiscard]] bool atlas_of_values(const State& state);
// What is said where no threshold is marked on the colours: that it lies beyond them, or what the numbers are.
[[nodiscard]] std::string unmarked_note(const State& state);
// A further line of a head's tooltip: which statistic its number is; empty: the mean, or no statistic.
[[nodiscard]] std::string statistic_tip(const State& state);

// "mean ± 95 %", "largest"; the statistics, and the two kinds of intervals.
[[nodiscard]] std::string statistic_title(const State& state);
[[nodiscard]] std::vector<MenuItem> statistic_menu(const State& state);

}  // namespace headroom
