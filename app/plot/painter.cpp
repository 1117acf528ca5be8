#include "app/plot/painter.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>

namespace headroom {

std::uint64_t next_image_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void Painter::dashed_polyline(std::span<const Vec2> points, Color color, float width, float on, float off) {
  // More dashes than this are a mistake in the caller's coordinates, and look like a solid line.
  constexpr float kMostDashes = 20000.0f;
  const float period = on + off;
  // The pattern runs on over the corners.
  float phase = 0.0f;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Vec2 way = points[i] - points[i - 1];
    const float length = std::hypot(way.x, way.y);
    if (!(length > 0.0f) || !std::isfinite(length)) continue;
    if (!(on > 0.0f) || !(off > 0.0f) || length > kMostDashes * period) {
      line(points[i - 1], points[i], color, width);
      continue;
    }
    for (float start = -phase; start < length; start += period) {
      const float from = std::max(0.0f, start), to = std::min(length, start + on);
      if (to > from) line(points[i - 1] + way * (from / length), points[i - 1] + way * (to / length), color, width);
    }
    phase = std::fmod(phase + length, period);
  }
}

void Painter::dashed_line(Vec2 from, Vec2 to, Color color, float width, float on, float off) {
  dashed_polyline(std::array{from, to}, color, width, on, off);
}

void Painter::text_at(float x, float y, std::string_view string, const TextStyle& style, Align align) {
  if (align != Align::Left) {
    const float width = measure().width(string, style.face, style.size);
    x -= align == Align::Right ? width : 0.5f * width;
  }
  text({x, y + 0.36f * style.size}, string, style);
}

}  // namespace headroom
