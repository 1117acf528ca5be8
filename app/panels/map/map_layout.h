// Where the parts of a map panel lie, and its window after a turn of the wheel. Pure functions; safe from any thread.
#pragma once

#include "app/panels/map/map_geometry.h"
#include "app/plot/geometry.h"
#include "app/session/state.h"

namespace headroom {

[[nodiscard]] MapLayout lay_out_map(const MapLayoutRequest& request);

// The window after `notches` of the wheel at `pointer` (a point of the map): cells grow by kWheelStep a notch, the map
// fills what room there is, and the place under the pointer stays unless an edge of the map forbids it. Whole pixels a
// cell from 4 pixels on.
[[nodiscard]] MapWindow zoomed_window(const MapLayoutRequest& request, Vec2 pointer, double notches);

}  // namespace headroom
