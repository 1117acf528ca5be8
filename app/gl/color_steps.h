// The edges of a colour scale: for each entry of its table the smallest value that shows it. With them a shader finds
// the same entry as scale_color(), whatever its own arithmetic. Pure functions; safe from any thread.
#pragma once

#include <array>

#include "app/plot/color_map.h"

namespace headroom {

// from[k]: the smallest float whose entry is k or more; −infinity for k = 0, +infinity where there is none.
struct ColorSteps {
  std::array<float, 257> from{};
};
[[nodiscard]] ColorSteps color_steps(const ColorScale& scale);

}  // namespace headroom
