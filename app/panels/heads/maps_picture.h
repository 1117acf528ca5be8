// The thumbnails of many heads as one image, a value for each device pixel, so that the whole grid is one textured
// rectangle and a change of colours or scale touches no data. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/plot/geometry.h"

namespace headroom {

// A map in blocks: [blocks, blocks], row-major, NaN where nothing is visible; `key`: key 0's column, [blocks]. Without
// cells it is not there (yet) and is hatched.
struct Thumbnail {
  Rect square;  // logical pixels
  std::span<const float> cells, key;
  std::int64_t blocks = 0;
};

struct MapsPicture {
  Rect target;  // logical pixels; whole device pixels
  std::int32_t width = 0, height = 0;
  std::vector<float> values;  // [height, width]; NaN: nobody, masked; +∞: not there
};

// Where a logical edge lies in device pixels: as painters round.
[[nodiscard]] std::int32_t device_edge(float logical, float scale);

// `strip`: key 0's, with a free pixel right of it; 0: none. Where a pixel covers several blocks it has the largest of
// those that it touches; where blocks are larger than pixels each pixel has the one under its centre. Nothing is drawn
// outside of a thumbnail's square nor of the view.
[[nodiscard]] MapsPicture make_maps_picture(Rect view, float scale, std::span<const Thumbnail> thumbnails, float strip);

}  // namespace headroom
