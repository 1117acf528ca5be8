// Order of display of text with right-to-left runs. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace headroom {

// Pieces of `text` in the order in which they stand from left to right; the base direction is left to right.
struct BidiRun {
  std::size_t begin = 0, end = 0;  // [begin, end) in `text`
  bool right_to_left = false;
};
[[nodiscard]] std::vector<BidiRun> bidi_runs(std::span<const char32_t> text);

}  // namespace headroom
