#include "app/plot/geometry.h"

namespace headroom {

std::vector<std::size_t> points_inside(std::span<const Vec2> polygon, std::span<const Vec2> points) {
  std::vector<std::size_t> inside;
  if (polygon.size() < 3) return inside;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const Vec2 at = points[p];
    if (!std::isfinite(at.x) || !std::isfinite(at.y)) continue;
    bool odd = false;
    for (std::size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
      const Vec2 a = polygon[i], b = polygon[j];
      if ((a.y > at.y) != (b.y > at.y) && at.x < (b.x - a.x) * (at.y - a.y) / (b.y - a.y) + a.x) odd = !odd;
    }
    if (odd) inside.push_back(p);
  }
  return inside;
}

}  // namespace headroom
