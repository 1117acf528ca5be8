// A hand on a map, the only one or one of a pair: hover, wheel, pan, fit, pin, and the menu of the cell under it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/map/map_geometry.h"
#include "app/panels/panel.h"

namespace headroom {

// What is shown after so many notches of the wheel about the pointer.
using ZoomAbout = std::function<MapWindow(Vec2 pointer, double notches)>;

// Queues what the hand does as command lines; the cell under it, which the whole window hovers then.
std::optional<MapLayout::Cell> hand_on_map(PanelContext& context, std::string_view id, const MapLayout& layout,
                                           const ZoomAbout& zoomed);

// The menu of a right click, for the query and the key that were under it.
using CellMenu = std::function<std::vector<MenuItem>(const std::string& query, const std::string& key)>;
void draw_cell_menu(PanelContext& context, std::string_view id, const MapLayout& layout, const CellMenu& items);

}  // namespace headroom
