// Lines and polygons as triangles with soft edges. Pure functions of device pixels; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/plot/geometry.h"

namespace headroom {

struct MeshVertex {
  Vec2 at;
  float coverage = 1.0f;  // times the colour's alpha
};

struct Mesh {
  std::vector<MeshVertex> vertices;
  std::vector<std::uint32_t> indices;  // three a triangle
  void clear() {
    vertices.clear();
    indices.clear();
  }
};

// A line of `width` pixels along the points; corners are mitred where they are blunt, bevelled where they are sharp.
// Thinner than a pixel: one pixel wide and fainter.
void append_stroke(Mesh& mesh, std::span<const Vec2> points, float width, bool closed);

// The inside of a simple polygon of any winding, convex or not.
void append_polygon(Mesh& mesh, std::span<const Vec2> points);

// The inside of a convex polygon of any winding. Its edge is soft over a pixel, half of it inside: an edge between two
// rows of pixels stays sharp.
void append_convex(Mesh& mesh, std::span<const Vec2> points);

// Points of an arc that stays within a fraction of a pixel of the circle, both ends among them; angles in radians, from
// the x axis towards y.
void append_arc(std::vector<Vec2>& points, Vec2 centre, float radius, float from, float to);

// The polygon's corners, three a triangle. Linear in time for ribbons and areas under curves (monotone in x or in y),
// quadratic for others; what crosses itself is filled somehow.
[[nodiscard]] std::vector<std::uint32_t> triangulate(std::span<const Vec2> points);

}  // namespace headroom
