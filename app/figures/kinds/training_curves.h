// Histories of trainings as lines: grouped by recipe and variant, over whose seeds there are means and ranges. Pure
// functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/figure_runs.h"
#include "app/figures/page_lines.h"

namespace headroom {

// Histories that differ in their seeds.
struct TrainingGroup {
  std::string recipe_sha256, recipe;
  std::string name, short_name;  // "DIFF V2", "V2"
  MarkColor ink, net_ink;
  LineDash dash, net_dash;
  std::vector<const FigureRun*> seeds;

  [[nodiscard]] const StoredHistory& curves(std::size_t seed) const { return seeds[seed]->history->curves; }
};

// At each step one value, or the mean of several seeds and their range.
struct TrainingLine {
  std::vector<double> step, y, low, high;  // low, high: NaN where not every seed is there, or there is one
  std::vector<std::int64_t> seeds;
};

// In the order given; colours by variant. InvalidArgument for more than four, which one plot cannot tell apart;
// Unsupported where a training is given twice: it is no second seed.
[[nodiscard]] Result<std::vector<TrainingGroup>> training_groups(std::span<const FigureRun> runs);
// From the first step after `after`; values that are not finite are left out.
[[nodiscard]] TrainingLine seed_line(const StepSeries& series, std::int64_t after);
// Means of `width` steps, at the middle of each.
[[nodiscard]] TrainingLine block_means(const StepSeries& series, std::int64_t width);
// Over the steps of all of them: mean, and the range where every line has the step.
[[nodiscard]] TrainingLine mean_line(const std::vector<TrainingLine>& lines);
// "seeds 1–3", "seed 1", "1 seed" where none is said.
[[nodiscard]] std::string seeds_text(const TrainingGroup& group);

}  // namespace headroom
