// A tile of a map as an image to draw.
#pragma once

#include <cstdint>

#include "app/plot/painter.h"
#include "app/session/state.h"

namespace headroom {

// Tiles never change: the serial is both their id, apart from those of next_image_id(), and their generation.
[[nodiscard]] inline MapImage tile_image(const Tile& tile) {
  return {(std::uint64_t{1} << 63) | tile.serial, tile.serial, tile.columns, tile.rows, tile.values};
}

}  // namespace headroom
