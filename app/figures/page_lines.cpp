#include "app/figures/page_lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace headroom {
namespace {

constexpr float kColumn = 72.0f / 600.0f;  // points: narrower than any page shows
constexpr std::size_t kMostInColumn = 4;

constexpr float kToName = 2.2f;  // points from a line's end to its name

// Points along a line, close enough that the nearest of them stands for it.
std::vector<Vec2> dense(const std::vector<Vec2>& line) {
  constexpr float kStep = 2.5f;
  std::vector<Vec2> result;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!std::isfinite(line[i].y)) continue;
    result.push_back(line[i]);
    if (i + 1 == line.size() || !std::isfinite(line[i + 1].y)) continue;
    const Vec2 step = line[i + 1] - line[i];
    const int pieces = static_cast<int>(std::hypot(step.x, step.y) / kStep);
    for (int k = 1; k <= pieces; ++k)
      result.push_back(line[i] + step * (static_cast<float>(k) / static_cast<float>(pieces + 1)));
  }
  return result;
}

// The stretches of points between those that are not finite; none is empty.
std::vector<std::span<const Vec2>> finite_runs(const std::vector<Vec2>& points) {
  const auto finite = [](const Vec2& p) { return std::isfinite(p.x) && std::isfinite(p.y); };
  std::vector<std::span<const Vec2>> runs;
  for (std::size_t from = 0; from < points.size();) {
    std::size_t end = from;
    while (end < points.size() && finite(points[end])) ++end;
    if (end > from) runs.emplace_back(points.data() + from, end - from);
    from = end + 1;
  }
  return runs;
}

float distance_to(const Rect& box, const std::vector<Vec2>& points) {
  float least = std::numeric_limits<float>::infinity();
  for (const Vec2& p : points)
    least = std::min(
        least, std::hypot(std::max({box.x0 - p.x, 0.0f, p.x - box.x1}), std::max({box.y0 - p.y, 0.0f, p.y - box.y1})));
  return least;
}

// Of more than four corners in a row in one column: the first, the lowest, the highest and the last of them.
std::vector<Vec2> without_crowds(std::span<const Vec2> line, float column) {
  std::vector<Vec2> kept;
  for (std::size_t from = 0; from < line.size();) {
    std::size_t end = from;
    while (end < line.size() && std::floor(line[end].x / column) == std::floor(line[from].x / column)) ++end;
    if (end - from <= kMostInColumn) {
      kept.insert(kept.end(), line.begin() + static_cast<std::ptrdiff_t>(from),
                  line.begin() + static_cast<std::ptrdiff_t>(end));
    } else {
      const std::span<const Vec2> crowd = line.subspan(from, end - from);
      const auto [low, high] = std::ranges::minmax_element(crowd, {}, &Vec2::y);
      std::array<std::ptrdiff_t, 4> places = {0, low - crowd.begin(), high - crowd.begin(), std::ssize(crowd) - 1};
      std::ranges::sort(places);
      for (std::size_t i = 0; i < places.size(); ++i)
        if (i == 0 || places[i] != places[i - 1]) kept.push_back(crowd[static_cast<std::size_t>(places[i])]);
    }
    from = end;
  }
  return kept;
}

}  // namespace

void draw_page_line(Painter& painter, const std::vector<Vec2>& points, Color color, float width, LineDash dash,
                    const Page& page) {
  const float stroke = page.style.pt(width);
  for (const std::span<const Vec2> run : finite_runs(points)) {
    const std::vector<Vec2> line = without_crowds(run, page.style.pt(kColumn));
    if (run.size() == 1)
      painter.disc(run.front(), 0.9f * stroke, color);
    else if (dash.on > 0.0f)
      painter.dashed_polyline(line, color, stroke, page.style.pt(dash.on), page.style.pt(dash.off));
    else
      painter.polyline(line, color, stroke);
  }
}

void block_page_line(LabelSpace& space, const std::vector<Vec2>& points, float width) {
  for (const std::span<const Vec2> run : finite_runs(points)) space.block_line(run, width);
}

LineDash GreyDashes::of(Color ink) {
  constexpr std::array kDashes = {kSolidLine, kLongDash, kShortDash, kDots};
  constexpr float kApart = 0.16f;
  const auto linear = [](std::uint8_t level) {  // sRGB, IEC 61966-2-1
    const float value = static_cast<float>(level) / 255.0f;
    return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
  };
  const float lightness = std::cbrt(0.2126f * linear(ink.r) + 0.7152f * linear(ink.g) + 0.0722f * linear(ink.b));
  std::size_t dash = 0;
  while (dash + 1 < kDashes.size() && std::ranges::any_of(taken_, [&](const Taken& one) {
           return one.dash == dash && std::abs(one.lightness - lightness) < kApart;
         }))
    ++dash;
  taken_.push_back({lightness, dash});
  return kDashes[dash];
}

void draw_page_level(Painter& painter, const Rect& inner, const Axis& up, double value, const char* name, Color color,
                     LineDash dash, LabelSpace& space, const Page& page) {
  if (!(value >= up.low && value <= up.high)) return;
  const PageStyle& style = page.style;
  const float at = up.pixel(value);
  painter.begin_series({"", "", name});
  painter.dashed_line({inner.x0, at}, {inner.x1, at}, color, style.pt(0.7f), style.pt(dash.on), style.pt(dash.off));
  painter.end_series();
  space.block(Rect{inner.x0, at - style.pt(0.4f), inner.x1, at + style.pt(0.4f)});
}

void draw_page_band(Painter& painter, const Axis& along, const Axis& up, NumberView x, NumberView low, NumberView high,
                    Color color) {
  for (std::size_t from = 0; from < x.size();) {
    std::size_t end = from;
    while (end < x.size() && std::isfinite(low[end]) && std::isfinite(high[end])) ++end;
    if (end - from > 1) {
      std::vector<Vec2> outline;
      for (std::size_t i = from; i < end; ++i) outline.push_back({along.pixel(x[i]), up.pixel(high[i])});
      for (std::size_t i = end; i-- > from;) outline.push_back({along.pixel(x[i]), up.pixel(low[i])});
      painter.fill_polygon(outline, color);
    }
    from = end + 1;
  }
}

std::vector<Vec2> thinned_line(const std::vector<Vec2>& line) {
  const std::size_t step = std::max<std::size_t>(1, line.size() / 256);
  std::vector<Vec2> few;
  for (std::size_t i = 0; i < line.size(); i += step) few.push_back(line[i]);
  if (!line.empty()) few.push_back(line.back());
  return few;
}

std::vector<Vec2> placed_points(const Axis& along, const Axis& up, NumberView x, NumberView y) {
  constexpr float kNowhere = std::numeric_limits<float>::quiet_NaN();
  std::vector<Vec2> points;
  for (std::size_t i = 0; i < x.size(); ++i)
    points.push_back(std::isfinite(y[i]) ? Vec2{along.pixel(x[i]), up.pixel(y[i])} : Vec2{kNowhere, kNowhere});
  return points;
}

std::optional<Vec2> place_beside(LabelSpace& space, const std::vector<Vec2>& own,
                                 const std::vector<std::vector<Vec2>>& others, float width, const Page& page) {
  const float size = page.style.size(), height = 1.05f * size, far = page.style.pt(30.0f);
  const std::vector<Vec2> line = dense(own);
  std::vector<Vec2> rest;
  for (const std::vector<Vec2>& other : others) {
    const std::vector<Vec2> more = dense(other);
    rest.insert(rest.end(), more.begin(), more.end());
  }
  const Rect& frame = space.frame();
  std::optional<Rect> best;
  float least = std::numeric_limits<float>::infinity();
  for (float x = frame.x0; x + width <= frame.x1; x += page.style.pt(3.0f))
    for (float y = frame.y0; y + height <= frame.y1; y += page.style.pt(2.0f)) {
      const Rect box = Rect::sized(x, y, width, height);
      const float mine = distance_to(box, line);
      if (mine - 0.25f * far >= least) continue;
      const float theirs = std::min(far, distance_to(box, rest));
      const float score = mine - 0.25f * theirs;
      if (mine >= theirs || score >= least || !space.fits(OrientedBox::of(box))) continue;
      best = box, least = score;
    }
  if (!best) return {};
  space.block(*best);
  return Vec2{best->x0, best->y0 + 0.8f * size};
}

float end_name_room(const std::vector<RichText>& names, const Page& page) {
  float widest = 0.0f;
  for (const RichText& name : names) widest = std::max(widest, rich_width(page.measure, name, page.style.text()));
  return page.style.pt(kToName) + widest;
}

void draw_end_names(Painter& painter, const Rect& inner, const std::vector<EndName>& names, const Page& page) {
  const float size = page.style.size();
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return names[a].y < names[b].y; });
  std::vector<float> wanted;
  for (const std::size_t i : order)
    wanted.push_back(std::isfinite(names[i].y) ? std::clamp(names[i].y, inner.y0, inner.y1) : names[i].y);
  const std::vector<float> placed = spread_labels(wanted, 1.2f * size, inner.y0, inner.y1);
  for (std::size_t i = 0; i < order.size(); ++i)
    if (std::isfinite(placed[i]))
      draw_rich(painter, {inner.x1 + page.style.pt(kToName), placed[i] + 0.3f * size}, names[order[i]].text,
                page.style.text(names[order[i]].color));
}

}  // namespace headroom
