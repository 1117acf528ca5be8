#include "app/panels/tokens/large_text.h"

#include <cstddef>

namespace headroom {

Rect LargeText::box(std::int64_t token) const {
  const std::int64_t line = lines.line_of(token);
  float x = area.x0;
  for (std::int64_t at = lines.starts[static_cast<std::size_t>(line)]; at < token; ++at)
    x += lines.width_of(at) + lines.style.gap;
  return {x, top_of(line), x + lines.width_of(token), top_of(line) + kLargeBox};
}

bool LargeText::in_view(std::int64_t token) const {
  const std::int64_t line = lines.line_of(token);
  return line >= first && line < last;
}

}  // namespace headroom
