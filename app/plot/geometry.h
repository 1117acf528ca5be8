// Points, rectangles and colours of the plane that everything is drawn in: logical pixels at UI scale 100 %, y down.
// Plain values; safe from any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

struct Vec2 {
  float x = 0.0f, y = 0.0f;
  friend Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
  friend Vec2 operator-(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
  friend Vec2 operator*(Vec2 a, float s) { return {a.x * s, a.y * s}; }
  friend bool operator==(Vec2, Vec2) = default;
};

// Half open: [x0, x1) × [y0, y1).
struct Rect {
  float x0 = 0.0f, y0 = 0.0f, x1 = 0.0f, y1 = 0.0f;

  [[nodiscard]] static Rect sized(float x, float y, float width, float height) { return {x, y, x + width, y + height}; }
  [[nodiscard]] float width() const { return x1 - x0; }
  [[nodiscard]] float height() const { return y1 - y0; }
  [[nodiscard]] float centre_x() const { return 0.5f * (x0 + x1); }
  [[nodiscard]] float centre_y() const { return 0.5f * (y0 + y1); }
  [[nodiscard]] Vec2 centre() const { return {centre_x(), centre_y()}; }
  [[nodiscard]] bool empty() const { return x1 <= x0 || y1 <= y0; }
  [[nodiscard]] bool contains(Vec2 p) const { return p.x >= x0 && p.x < x1 && p.y >= y0 && p.y < y1; }
  [[nodiscard]] Rect inset(float dx, float dy) const { return {x0 + dx, y0 + dy, x1 - dx, y1 - dy}; }
  [[nodiscard]] Rect inset(float d) const { return inset(d, d); }
  [[nodiscard]] Rect shifted(float dx, float dy) const { return {x0 + dx, y0 + dy, x1 + dx, y1 + dy}; }
  [[nodiscard]] Rect intersected(const Rect& o) const {
    return {std::max(x0, o.x0), std::max(y0, o.y0), std::min(x1, o.x1), std::min(y1, o.y1)};
  }
  [[nodiscard]] bool overlaps(const Rect& o) const { return x0 < o.x1 && o.x0 < x1 && y0 < o.y1 && o.y0 < y1; }

  // Takes a strip off this rectangle and returns it; never more than there is.
  Rect cut_top(float h) {
    h = std::min(h, std::max(0.0f, height()));
    Rect r{x0, y0, x1, y0 + h};
    y0 += h;
    return r;
  }
  Rect cut_bottom(float h) {
    h = std::min(h, std::max(0.0f, height()));
    Rect r{x0, y1 - h, x1, y1};
    y1 -= h;
    return r;
  }
  Rect cut_left(float w) {
    w = std::min(w, std::max(0.0f, width()));
    Rect r{x0, y0, x0 + w, y1};
    x0 += w;
    return r;
  }
  Rect cut_right(float w) {
    w = std::min(w, std::max(0.0f, width()));
    Rect r{x1 - w, y0, x1, y1};
    x1 -= w;
    return r;
  }
  friend bool operator==(const Rect&, const Rect&) = default;
};

// The last whole device pixel at or before `value`, in logical pixels; `scale` device pixels are one logical pixel.
[[nodiscard]] inline float whole_pixel(float value, double scale) {
  return static_cast<float>(std::floor(static_cast<double>(value) * scale + 1e-3) / scale);
}

// sRGB, straight alpha.
struct Color {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;

  [[nodiscard]] static constexpr Color hex(std::uint32_t rgb) {
    return {static_cast<std::uint8_t>(rgb >> 16), static_cast<std::uint8_t>(rgb >> 8), static_cast<std::uint8_t>(rgb),
            255};
  }
  // Its alpha times `opacity`.
  [[nodiscard]] Color faded(float opacity) const {
    return {r, g, b, static_cast<std::uint8_t>(std::lround(std::clamp(opacity, 0.0f, 1.0f) * static_cast<float>(a)))};
  }
  friend bool operator==(Color, Color) = default;
};

// Linear in sRGB: t = 0 is a, t = 1 is b.
[[nodiscard]] inline Color mix(Color a, Color b, float t) {
  const auto channel = [t](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(
        std::lround(static_cast<float>(x) + t * (static_cast<float>(y) - static_cast<float>(x))));
  };
  return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b), channel(a.a, b.a)};
}

// The points inside a polygon (at least three corners; even-odd rule); points that are not finite are outside.
// Positions in `points`, ascending.
[[nodiscard]] std::vector<std::size_t> points_inside(std::span<const Vec2> polygon, std::span<const Vec2> points);

}  // namespace headroom
