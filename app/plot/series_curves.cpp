#include "app/plot/series.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom {
namespace {

constexpr float kCloudStrong = 0.62f, kCloudFaint = 0.35f, kVeil = 0.45f;
// Far outside any window, and still exact in a float: a steep curve keeps its slope where it is seen.
constexpr float kFar = 1e6f;

bool on_axis(const Axis& axis, double value) { return std::isfinite(value) && (!axis.log || value > 0.0); }

bool both_finite(Vec2 p) { return std::isfinite(p.x) && std::isfinite(p.y); }

Vec2 held(Vec2 p) { return {std::clamp(p.x, -kFar, kFar), std::clamp(p.y, -kFar, kFar)}; }

// First, lowest, highest and last point of each pixel column, in order; `points` ascend in x.
std::vector<Vec2> thinned(const std::vector<Vec2>& points) {
  std::vector<Vec2> out;
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin, low = begin, high = begin;
    for (; end < points.size() && std::floor(points[end].x) == std::floor(points[begin].x); ++end) {
      if (points[end].y < points[low].y) low = end;
      if (points[end].y > points[high].y) high = end;
    }
    std::size_t keep[] = {begin, std::min(low, high), std::max(low, high), end - 1};
    for (std::size_t k = 0; k < 4; ++k) {
      if (k == 0 || keep[k] != keep[k - 1]) out.push_back(points[keep[k]]);
    }
    begin = end;
  }
  return out;
}

}  // namespace

std::vector<std::vector<Vec2>> curve_pieces(const PlotFrame& frame, NumberView x, NumberView y) {
  std::vector<std::vector<Vec2>> pieces;
  bool open = false;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    const bool on_axes = on_axis(frame.x, x[i]) && on_axis(frame.y, y[i]);
    const Vec2 point = on_axes ? frame.at(x[i], y[i]) : Vec2{};
    if (!on_axes || !both_finite(point)) {
      open = false;
      continue;
    }
    if (!open) pieces.emplace_back();
    open = true;
    pieces.back().push_back(held(point));
  }
  const float room = 4.0f * std::max(1.0f, frame.inner.width());
  for (std::vector<Vec2>& piece : pieces) {
    const auto by_x = [](Vec2 a, Vec2 b) { return a.x < b.x; };
    if (static_cast<float>(piece.size()) > room && std::is_sorted(piece.begin(), piece.end(), by_x))
      piece = thinned(piece);
  }
  return pieces;
}

void draw_curve(Painter& painter, const PlotFrame& frame, NumberView x, NumberView y, Color color, float width) {
  if (frame.inner.empty()) return;
  const DataClip clip(painter, frame.inner);
  for (const std::vector<Vec2>& piece : curve_pieces(frame, x, y)) {
    if (piece.size() == 1) {
      painter.disc(piece[0], 0.5f * std::max(2.0f, width), color);
    } else {
      painter.polyline(piece, color, width);
    }
  }
}

void draw_dashed_curve(Painter& painter, const PlotFrame& frame, NumberView x, NumberView y, Color color, float width,
                       float on, float off) {
  if (frame.inner.empty() || !(on > 0.0f) || !(off > 0.0f)) return;
  const DataClip clip(painter, frame.inner);
  for (const std::vector<Vec2>& piece : curve_pieces(frame, x, y))
    painter.dashed_polyline(piece, color, width, on, off);
}

std::vector<std::vector<Vec2>> band_polygons(const PlotFrame& frame, NumberView x, NumberView low, NumberView high) {
  struct Node {
    float x, top, bottom;
  };
  std::vector<std::vector<Vec2>> polygons;
  std::vector<Node> nodes;
  const auto close = [&] {
    if (nodes.size() > 1) {
      std::vector<Vec2> polygon;
      for (const Node& node : nodes) polygon.push_back({node.x, node.top});
      for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        if (node->bottom != node->top) polygon.push_back({node->x, node->bottom});
      }
      if (polygon.size() > 2) polygons.push_back(std::move(polygon));
    }
    nodes.clear();
  };
  const auto pixel_y = [&](double value) { return frame.y.pixel(frame.y.log && value <= 0.0 ? frame.y.low : value); };
  for (std::size_t i = 0; i < std::min({x.size(), low.size(), high.size()}); ++i) {
    if (!on_axis(frame.x, x[i]) || !std::isfinite(low[i]) || !std::isfinite(high[i])) {
      close();
      continue;
    }
    const Vec2 a = held({frame.x.pixel(x[i]), pixel_y(low[i])}), b = held({frame.x.pixel(x[i]), pixel_y(high[i])});
    if (!both_finite(a) || !both_finite(b)) {
      close();
      continue;
    }
    const Node node{a.x, std::min(a.y, b.y), std::max(a.y, b.y)};
    // Where the curves meet the outline would touch itself: one polygon ends there and the next begins.
    const bool pinched = node.top == node.bottom;
    const bool flat = pinched && !nodes.empty() && nodes.back().top == nodes.back().bottom;
    if (flat) nodes.clear();
    nodes.push_back(node);
    if (pinched && nodes.size() > 1) {
      close();
      nodes.push_back(node);
    }
  }
  close();
  return polygons;
}

void draw_band(Painter& painter, const PlotFrame& frame, NumberView x, NumberView low, NumberView high, Color color) {
  if (frame.inner.empty()) return;
  const DataClip clip(painter, frame.inner);
  for (const std::vector<Vec2>& polygon : band_polygons(frame, x, low, high)) painter.fill_polygon(polygon, color);
}

CloudPoints cloud_points(const PlotFrame& frame, NumberView x, NumberView y, std::span<const std::uint8_t> faint) {
  CloudPoints out;
  const Rect seen = frame.inner.inset(-0.01f);
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!on_axis(frame.x, x[i]) || !on_axis(frame.y, y[i])) continue;
    const Vec2 point = frame.at(x[i], y[i]);
    if (!both_finite(point) || !seen.contains(point)) continue;
    (i < faint.size() && faint[i] != 0 ? out.faint : out.strong).push_back(point);
  }
  return out;
}

void draw_cloud(Painter& painter, const PlotFrame& frame, NumberView x, NumberView y, Color color,
                std::span<const std::uint8_t> faint, float size) {
  if (frame.inner.empty()) return;
  const CloudPoints cloud = cloud_points(frame, x, y, faint);
  const DataClip clip(painter, frame.inner.inset(-0.5f * size));  // points on the frame are whole
  if (!cloud.faint.empty()) painter.points(cloud.faint, color.faded(kCloudFaint), size);
  if (!cloud.strong.empty()) painter.points(cloud.strong, color.faded(kCloudStrong), size);
}

std::ptrdiff_t nearest_point(const PlotFrame& frame, NumberView x, NumberView y, Vec2 pointer, float reach) {
  std::ptrdiff_t best = -1;
  float best_distance = reach;
  const Rect seen = frame.inner.inset(-0.01f);
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!on_axis(frame.x, x[i]) || !on_axis(frame.y, y[i])) continue;
    const Vec2 point = frame.at(x[i], y[i]), way = point - pointer;
    if (!seen.contains(point)) continue;
    if (const float distance = std::hypot(way.x, way.y); distance <= best_distance) {
      if (best < 0 || distance < best_distance) best = static_cast<std::ptrdiff_t>(i);
      best_distance = distance;
    }
  }
  return best;
}

void draw_veil(Painter& painter, const PlotFrame& frame, const Theme& theme, double low, double high, bool along_x) {
  const Axis& axis = along_x ? frame.x : frame.y;
  const auto pixel = [&](double value) {
    const float at = axis.pixel(value);
    return std::isnan(at) ? axis.from : at;  // not positive on a log axis: from its low end
  };
  const float a = pixel(std::min(low, high)), b = pixel(std::max(low, high));
  Rect veil = frame.inner;
  (along_x ? veil.x0 : veil.y0) = std::min(a, b);
  (along_x ? veil.x1 : veil.y1) = std::max(a, b);
  veil = veil.intersected(frame.inner);
  if (!veil.empty()) painter.fill_rect(veil, theme.bg.faded(kVeil));
}

}  // namespace headroom
