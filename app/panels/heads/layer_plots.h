// Quantities by layer as plots whose columns are those of a grid above them: a dot for each head, the median of the
// layer as a line. Main thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"

namespace headroom {

// Up to `count` of them: `first`, then those that say most about a model, where they have values.
[[nodiscard]] std::vector<std::string> layer_plot_quantities(RunCache& memory, std::string_view first,
                                                             std::size_t count);

// Pixels: the left edge of the first layer, from one layer to the next, and how wide one is.
struct LayerColumns {
  float left = 0.0f, pitch = 0.0f, size = 0.0f;
};
void draw_layer_plots(PanelContext& context, RunCache& memory, Rect area, const LayerColumns& columns,
                      std::span<const std::string> quantities, std::optional<HeadRef> hovered);

}  // namespace headroom
