#include "app/plot/painter.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace headroom {

std::uint64_t next_image_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void Painter::dashed_line(Vec2 from, Vec2 to, Color color, float width, float on, float off) {
  const Vec2 way = to - from;
  const float length = std::hypot(way.x, way.y);
  if (!(length > 0.0f) || !std::isfinite(length)) return;
  // More dashes than this are a mistake in the caller's coordinates, and look like a solid line.
  constexpr float kMostDashes = 20000.0f;
  if (!(on > 0.0f) || !(off > 0.0f) || length > kMostDashes * (on + off)) {
    line(from, to, color, width);
    return;
  }
  for (float start = 0.0f; start < length; start += on + off) {
    line(from + way * (start / length), from + way * (std::min(start + on, length) / length), color, width);
  }
}

void Painter::text_at(float x, float y, std::string_view string, const TextStyle& style, Align align) {
  if (align != Align::Left) {
    const float width = measure().width(string, style.face, style.size);
    x -= align == Align::Right ? width : 0.5f * width;
  }
  text({x, y + 0.36f * style.size}, string, style);
}

}  // namespace headroom
