// A picture of colours, not of values: what the window looks like, small. Plain data and a pure function; safe from any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace headroom {

// RGB, 8 bits each, row-major, top row first. A painter keeps its texture until `generation` changes or it has not been
// drawn for a while.
struct RgbPicture {
  std::uint64_t id = 0;  // from next_image_id()
  std::uint64_t generation = 0;
  std::int32_t width = 0, height = 0;
  std::shared_ptr<const std::vector<std::uint8_t>> rgb;
};

// The same, as large as fits into `most_width` × `most_height` with its proportions, never larger than it is: each
// pixel the mean of those it stands for. Width and height of the result in `picture`; nothing of an empty one.
[[nodiscard]] RgbPicture shrunk(std::span<const std::uint8_t> rgb, std::int32_t width, std::int32_t height,
                                std::int32_t most_width, std::int32_t most_height);

}  // namespace headroom
