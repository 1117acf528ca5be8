// Where the panels of a figure stand on its page, and drawing all of it. Pure layout.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/figures/figure.h"

namespace headroom {

// In a row all inner rectangles share top and bottom; panels that stand below each other share the left edge of their
// letters. InvalidArgument where the page is too small, with the least size that fits (millimetres).
// The figure's height is set where it follows from its rows.
[[nodiscard]] Result<std::vector<PanelFrame>> lay_out_figure(Figure& figure, const Page& page);
// Makes a figure as high as its content needs where it says no height. InvalidArgument where one that was asked for is
// too low for it, or a page cannot be so high.
[[nodiscard]] Result<void> settle_height(Figure& figure, const Page& page);
void draw_figure(Painter& painter, const Figure& figure, std::span<const PanelFrame> frames, const Page& page);

// Of the whole figure, one paragraph for each panel, in the markup of rich_text.h, with the labels that had no room.
[[nodiscard]] std::string figure_caption(const Figure& figure, const LeftOutLabels& left_out);
// "panel a: no room for the labels L3.H2, median", for stderr.
[[nodiscard]] std::vector<std::string> left_out_notes(const Figure& figure, const LeftOutLabels& left_out);

}  // namespace headroom
