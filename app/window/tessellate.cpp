#include "app/window/tessellate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

namespace headroom {
namespace {

constexpr float kSamePoint = 1e-3f;  // pixels

float cross(Vec2 a, Vec2 b) { return a.x * b.y - a.y * b.x; }
float dot(Vec2 a, Vec2 b) { return a.x * b.x + a.y * b.y; }
float turn(Vec2 a, Vec2 b, Vec2 c) { return cross(b - a, c - b); }
bool finite(Vec2 p) { return std::isfinite(p.x) && std::isfinite(p.y); }

// Unit normal of the segment, to its right on a screen with y down.
Vec2 normal(Vec2 from, Vec2 to) {
  const Vec2 d = to - from;
  const float length = std::sqrt(dot(d, d));
  return length > 0.0f ? Vec2{-d.y / length, d.x / length} : Vec2{0.0f, 0.0f};
}

std::vector<Vec2> distinct(std::span<const Vec2> points, bool closed) {
  std::vector<Vec2> kept;
  kept.reserve(points.size());
  const auto same = [](Vec2 a, Vec2 b) { return std::abs(a.x - b.x) < kSamePoint && std::abs(a.y - b.y) < kSamePoint; };
  for (const Vec2 p : points) {
    if (finite(p) && (kept.empty() || !same(kept.back(), p))) kept.push_back(p);
  }
  while (closed && kept.size() > 1 && same(kept.front(), kept.back())) kept.pop_back();
  return kept;
}

// The four vertices across a line at `p`: soft edge, core, core, soft edge.
struct Across {
  float inner = 0.0f, outer = 0.0f, coverage = 1.0f;
  std::uint32_t add(Mesh& mesh, Vec2 p, Vec2 offset) const {
    const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
    mesh.vertices.push_back({p - offset * outer, 0.0f});
    mesh.vertices.push_back({p - offset * inner, coverage});
    mesh.vertices.push_back({p + offset * inner, coverage});
    mesh.vertices.push_back({p + offset * outer, 0.0f});
    return first;
  }
};

void join(Mesh& mesh, std::uint32_t a, std::uint32_t b) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    mesh.indices.insert(mesh.indices.end(), {a + i, a + i + 1, b + i + 1, a + i, b + i + 1, b + i});
  }
}

double signed_area(std::span<const Vec2> points) {
  double area = 0.0;
  for (std::size_t i = 0, j = points.size() - 1; i < points.size(); j = i++) {
    area += static_cast<double>(points[j].x) * static_cast<double>(points[i].y) -
            static_cast<double>(points[i].x) * static_cast<double>(points[j].y);
  }
  return 0.5 * area;
}

// Corners in the order of `along`, each with its chain, if the polygon is monotone along it; else empty.
struct ChainPoint {
  std::uint32_t index = 0;
  bool upper = false;
};

std::vector<ChainPoint> monotone_order(std::span<const Vec2> points, float Vec2::* along) {
  const std::size_t n = points.size();
  const auto at = [&](std::size_t i) { return points[i % n].*along; };
  std::size_t low = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (at(i) < at(low)) low = i;
  }
  std::size_t up = 0;  // steps forward that do not go back
  while (up + 1 < n && at(low + up + 1) >= at(low + up)) ++up;
  for (std::size_t i = up; i < n; ++i) {
    if (at(low + i + 1) > at(low + i)) return {};
  }
  std::vector<ChainPoint> order;
  order.reserve(n);
  std::size_t forward = 0, backward = n;  // backward runs from low + n down to low + up + 1
  while (order.size() < n) {
    const bool take_forward = forward <= up && (backward - 1 <= up || at(low + forward) <= at(low + backward - 1));
    if (take_forward) {
      order.push_back({static_cast<std::uint32_t>((low + forward) % n), false});
      ++forward;
    } else {
      --backward;
      order.push_back({static_cast<std::uint32_t>((low + backward) % n), true});
    }
  }
  return order;
}

void triangulate_monotone(std::span<const Vec2> points, std::span<const ChainPoint> order, bool positive, bool along_y,
                          std::vector<std::uint32_t>& out) {
  std::vector<ChainPoint> stack{order[0], order[1]};
  for (std::size_t i = 2; i < order.size(); ++i) {
    const ChainPoint next = order[i];
    const bool last = i + 1 == order.size();
    if (next.upper != stack.back().upper || last) {
      for (std::size_t k = 0; k + 1 < stack.size(); ++k) {
        out.insert(out.end(), {next.index, stack[k].index, stack[k + 1].index});
      }
      stack = {stack.back(), next};
      continue;
    }
    ChainPoint top = stack.back();
    stack.pop_back();
    while (!stack.empty()) {
      float bend = turn(points[stack.back().index], points[top.index], points[next.index]);
      if (along_y) bend = -bend;
      const bool inside = (bend > 0.0f) == (positive != next.upper);
      if (!inside && bend != 0.0f) break;
      out.insert(out.end(), {next.index, top.index, stack.back().index});
      top = stack.back();
      stack.pop_back();
    }
    stack.push_back(top);
    stack.push_back(next);
  }
}

// The triangles' areas add up to the polygon's.
bool covers(std::span<const Vec2> points, std::span<const std::uint32_t> triangles, double area) {
  double sum = 0.0;
  for (std::size_t i = 0; i + 2 < triangles.size(); i += 3) {
    sum +=
        std::abs(static_cast<double>(turn(points[triangles[i]], points[triangles[i + 1]], points[triangles[i + 2]])));
  }
  return std::abs(0.5 * sum - std::abs(area)) <= 1e-3 * std::abs(area) + 1e-3;
}

bool in_triangle(Vec2 p, Vec2 a, Vec2 b, Vec2 c) {
  return turn(a, b, p) >= 0.0f && turn(b, c, p) >= 0.0f && turn(c, a, p) >= 0.0f;
}

void clip_ears(std::span<const Vec2> points, bool positive, std::vector<std::uint32_t>& out) {
  std::vector<std::uint32_t> left(points.size());
  std::iota(left.begin(), left.end(), 0u);
  if (!positive) std::reverse(left.begin(), left.end());
  std::size_t at = 0, failed = 0;
  while (left.size() > 3) {
    const std::size_t n = left.size();
    const std::uint32_t a = left[(at + n - 1) % n], b = left[at % n], c = left[(at + 1) % n];
    const float bend = turn(points[a], points[b], points[c]);
    bool ear = bend > 0.0f;
    for (std::size_t i = 0; ear && i < n; ++i) {
      const std::uint32_t other = left[i];
      if (other == a || other == b || other == c || points[other] == points[a] || points[other] == points[c]) continue;
      ear = !in_triangle(points[other], points[a], points[b], points[c]);
    }
    if (ear || bend == 0.0f || failed > n) {
      if (bend != 0.0f) out.insert(out.end(), {a, b, c});
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(at % n));
      at = at % n;
      at = at == 0 ? left.size() - 1 : at - 1;
      failed = 0;
    } else {
      at = (at + 1) % n;
      ++failed;
    }
  }
  out.insert(out.end(), {left[0], left[1], left[2]});
}

}  // namespace

std::vector<std::uint32_t> triangulate(std::span<const Vec2> points) {
  std::vector<std::uint32_t> out;
  if (points.size() < 3) return out;
  const double area = signed_area(points);
  if (area == 0.0) return out;
  out.reserve(3 * (points.size() - 2));
  for (const bool along_y : {false, true}) {
    const auto order = monotone_order(points, along_y ? &Vec2::y : &Vec2::x);
    if (order.empty()) continue;
    triangulate_monotone(points, order, (area > 0.0) != along_y, along_y, out);
    if (covers(points, out, area)) return out;  // steps to and fro at one place may spoil the order
    out.clear();
  }
  clip_ears(points, area > 0.0, out);
  return out;
}

void append_polygon(Mesh& mesh, std::span<const Vec2> all_points) {
  // The inside is drawn as it is, so that no triangle turns over; a pixel that the edge halves is faded outside only.
  constexpr float kSoft = 0.5f, kMostMitre = 2.0f;
  const std::vector<Vec2> points = distinct(all_points, true);
  const std::vector<std::uint32_t> triangles = triangulate(points);
  if (triangles.empty()) return;
  const std::size_t n = points.size();
  const float outward = signed_area(points) > 0.0 ? -1.0f : 1.0f;  // normal() points to the right
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2 before = normal(points[(i + n - 1) % n], points[i]), after = normal(points[i], points[(i + 1) % n]);
    const Vec2 sum = before + after;
    const float mitre = std::min(2.0f / std::max(dot(sum, sum), 1e-6f), 0.5f * kMostMitre * kMostMitre);
    mesh.vertices.push_back({points[i], 1.0f});
    mesh.vertices.push_back({points[i], 0.5f});
    mesh.vertices.push_back({points[i] + sum * (outward * kSoft * mitre), 0.0f});
  }
  for (const std::uint32_t corner : triangles) mesh.indices.push_back(first + 3 * corner);
  for (std::size_t i = 0; i < n; ++i) {
    const auto a = first + static_cast<std::uint32_t>(3 * i + 1),
               b = first + static_cast<std::uint32_t>(3 * ((i + 1) % n) + 1);
    mesh.indices.insert(mesh.indices.end(), {a, b, b + 1, a, b + 1, a + 1});
  }
}

void append_convex(Mesh& mesh, std::span<const Vec2> all_points) {
  constexpr float kSoft = 0.5f;
  const std::vector<Vec2> points = distinct(all_points, true);
  const std::size_t n = points.size();
  if (n < 3) return;
  const float outward = signed_area(points) > 0.0 ? -1.0f : 1.0f;  // normal() points to the right
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2 before = normal(points[(i + n - 1) % n], points[i]), after = normal(points[i], points[(i + 1) % n]);
    const Vec2 sum = before + after;
    const Vec2 mitre = sum * (outward * kSoft * 2.0f / std::max(dot(sum, sum), 1.0f));
    mesh.vertices.push_back({points[i] - mitre, 1.0f});
    mesh.vertices.push_back({points[i] + mitre, 0.0f});
  }
  const auto corner = [&](std::size_t i) { return first + static_cast<std::uint32_t>(2 * (i % n)); };
  for (std::size_t i = 2; i < n; ++i) mesh.indices.insert(mesh.indices.end(), {corner(0), corner(i - 1), corner(i)});
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t a = corner(i), b = corner(i + 1);
    mesh.indices.insert(mesh.indices.end(), {a, b, b + 1, a, b + 1, a + 1});
  }
}

void append_arc(std::vector<Vec2>& points, Vec2 centre, float radius, float from, float to) {
  const float whole = std::clamp(std::ceil(4.5f * std::sqrt(radius)) * 2.0f, 12.0f, 256.0f);
  const float share = std::abs(to - from) / (2.0f * std::numbers::pi_v<float>);
  const int steps = std::max(1, static_cast<int>(std::ceil(whole * share)));
  for (int i = 0; i <= steps; ++i) {
    const float angle = from + (to - from) * static_cast<float>(i) / static_cast<float>(steps);
    points.push_back({centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
  }
}

void append_stroke(Mesh& mesh, std::span<const Vec2> all_points, float width, bool closed) {
  constexpr float kBluntest = -0.35f;  // cosine between the directions below which a corner is bevelled
  const std::vector<Vec2> points = distinct(all_points, closed);
  const std::size_t n = points.size();
  if (n < 2 || !(width > 0.0f)) return;
  if (n == 2) closed = false;
  const float half = 0.5f * std::max(width, 1.0f);
  const Across across{half - 0.5f, half + 0.5f, std::min(width, 1.0f)};
  const std::size_t segments = closed ? n : n - 1;
  const auto segment_normal = [&](std::size_t i) { return normal(points[i % n], points[(i + 1) % n]); };

  std::uint32_t previous = 0;
  for (std::size_t i = 0; i <= segments; ++i) {
    const Vec2 p = points[i % n];
    const bool has_before = closed || i > 0, has_after = closed || i < segments;
    const Vec2 before = has_before ? segment_normal((i + n - 1) % n) : segment_normal(i);
    const Vec2 after = has_after ? segment_normal(i % n) : before;
    std::uint32_t arriving = 0, leaving = 0;
    const float cosine = dot(before, after);
    if (cosine >= kBluntest) {
      const Vec2 sum = before + after;
      arriving = leaving = across.add(mesh, p, sum * (2.0f / dot(sum, sum)));
    } else {
      arriving = across.add(mesh, p, before);
      leaving = across.add(mesh, p, after);
      const std::uint32_t side = cross(before, after) > 0.0f ? 1 : 2;  // the outer one
      const auto centre = static_cast<std::uint32_t>(mesh.vertices.size());
      mesh.vertices.push_back({p, across.coverage});
      mesh.indices.insert(mesh.indices.end(), {centre, arriving + side, leaving + side});
    }
    if (i > 0) join(mesh, previous, arriving);
    previous = leaving;
  }
}

}  // namespace headroom
