// What a page must hold beside the sizes of its panels: columns below each other, and contents that say how high they
// are. Pure layout.
#pragma once

#include <span>

#include "app/figures/figure.h"
#include "core/base/result.h"

namespace headroom {

// Gives the panels of a figure with columns such shares of their rows that columns stand below each other, whatever
// their numbers take; nothing without columns. Errors of lay_out_figure().
[[nodiscard]] Result<void> align_columns(Figure& figure, const Page& page);
// InvalidArgument where text is higher than its panel, with the least height of the row that fits (millimetres).
[[nodiscard]] Result<void> check_contents(const Figure& figure, std::span<const PanelFrame> frames, const Page& page);

}  // namespace headroom
