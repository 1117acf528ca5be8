// Where the tokens of the large text lie: lines with room for arcs between them, of which some are in view. Main thread
// only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "app/panels/parts/token_lines.h"
#include "app/plot/geometry.h"

namespace headroom {

inline constexpr float kLargeLine = 41.0f, kLargeBox = 21.0f;  // from line to line; height of a token

struct LargeText {
  const TokenLines& lines;
  Rect area;                         // of the lines in view, a whole number of them
  std::int64_t first = 0, last = 0;  // lines [first, last)

  // Of any token; above or below `area` where its line is not in view.
  [[nodiscard]] Rect box(std::int64_t token) const;
  [[nodiscard]] bool in_view(std::int64_t token) const;
  // each(token, box) of those in view.
  template <typename Each>
  void for_each(const Each& each) const {
    for (std::int64_t line = first; line < last; ++line) {
      float x = area.x0;
      for (std::int64_t token = lines.starts[static_cast<std::size_t>(line)];
           token < lines.starts[static_cast<std::size_t>(line) + 1]; ++token) {
        const float width = lines.width_of(token);
        each(token, Rect{x, top_of(line), x + width, top_of(line) + kLargeBox});
        x += width + lines.style.gap;
      }
    }
  }

 private:
  // Weights stand above the tokens.
  [[nodiscard]] float top_of(std::int64_t line) const {
    return area.y0 + static_cast<float>(line - first + 1) * kLargeLine - kLargeBox - 3.0f;
  }
};

}  // namespace headroom
