// Panels as the first frames of a map find them.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "core/maps/map_tiles.h"

namespace headroom::test {

// Draws two frames in which not one tile is there: the pointer belongs to what was drawn in the frame before. The
// tiles that were there are again afterwards.
template <typename Draw>
void without_tiles(std::unique_ptr<TileStore>& tiles, const Draw& draw) {
  auto kept = std::exchange(tiles, nullptr);
  for (int i = 0; i < 2; ++i) {
    tiles = std::make_unique<TileStore>(std::size_t{256} << 20, 1, [] {});
    draw();
  }
  tiles = std::move(kept);
}

}  // namespace headroom::test
