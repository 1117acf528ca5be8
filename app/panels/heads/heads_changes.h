// What the atlas has in place of a threshold where it shows signed changes of the loss. Main thread only.
#pragma once

#include <string>
#include <vector>

#include "app/panels/heads/heads_layout.h"
#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "app/plot/color_map.h"

namespace headroom {

// The ways to take a head away; checked: the one whose quantity it is.
[[nodiscard]] std::vector<MenuItem> way_menu(const std::string& quantity);

// The changes of a layer's heads added up, where all of them are there: to the right where they raise the loss. They
// stand where a threshold has its counts.
void draw_layer_sums(PanelContext& context, const RunSnapshot& run, const HeadColumn& column,
                     const AtlasLayout& layout);

// The colour bar of loss changes, how many heads raise and lower the loss.
void draw_change_bar(PanelContext& context, const HeadColumn& column, const ColorScale& scale, Rect area);

}  // namespace headroom
