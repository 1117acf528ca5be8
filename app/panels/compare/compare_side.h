// The side panel of a comparison: heads by how much they differ, row distance by layer, loss. Main thread only.
#pragma once

#include <cstddef>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/change_text.h"
#include "app/panels/parts/compare_cache.h"

namespace headroom {

// One head that both runs measured.
struct ComparedHead {
  HeadRef head;
  double distance = 0.0;  // NaN: not known (yet)
  double sink_a = 0.0, sink_b = 0.0;
  double rho = 0.0, entropy = 0.0;  // mean ρ and entropy / ln n of B less those of A
  [[nodiscard]] double value(ComparedSort column) const;
};

// Heads of layers that both runs have, by magnitude, largest or smallest first, those without a number last.
[[nodiscard]] std::vector<ComparedHead> compared_heads(const RunSnapshot& a, const RunSnapshot& b,
                                                       const HeadDifferences& differences, ComparedSort sort,
                                                       bool descending = true);
// Heads of a run whose sink score is over the threshold.
[[nodiscard]] std::size_t heads_over(const RunSnapshot& run, double threshold);

// What the runs that the state compares are called; empty where there are not two.
[[nodiscard]] RunTitles compared_titles(const State& state);

extern const PanelInfo kComparedHeadsPanel;
void draw_compared_heads_panel(PanelContext& context, Rect frame);

}  // namespace headroom
