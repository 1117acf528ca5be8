// Rows of heads with a number per column: the table's body, and the lasso's list. Main thread only.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "core/run/head_filter.h"

namespace headroom {

struct HeadRowsOptions {
  std::vector<std::string> columns;
  std::string sort;  // "" for a list that is not to be sorted
  bool descending = true;
  bool histograms = false;  // above each column, with the chosen rows in accent
  bool medians = false;     // of the rows and of all, at the foot
  bool kind = true;
  const HeadFilter* filter = nullptr;  // its bounds stand in the histograms
  float row_height = 20.0f;
};

// `rows` in the order shown, rows of the memory's run. Only those in view are drawn; scrolling is by whole rows. The
// selected head is scrolled to when it changes.
void draw_head_rows(PanelContext& context, RunCache& memory, std::span<const std::size_t> rows,
                    const HeadRowsOptions& options, Rect area);

}  // namespace headroom
