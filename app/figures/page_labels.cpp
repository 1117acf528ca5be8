#include "app/figures/page_labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "app/plot/text_box.h"

namespace headroom {
namespace {

constexpr float kAscent = 0.78f, kDescent = 0.24f;  // of a line of text, in sizes
constexpr float kCrossing = 1.5f;                   // of a line to a label across a mark: worth as much more length

Rect label_box(Vec2 at, float width, float size) {
  return Rect::sized(at.x, at.y - kAscent * size, width, (kAscent + kDescent) * size);
}

float squared(Vec2 v) { return v.x * v.x + v.y * v.y; }

// Of a text: where it stands, and the ends of the line from it to what it names.
struct LedPlace {
  Vec2 at, from, to;
};

// Places all over the frame, those nearest to one of the points first.
std::vector<LedPlace> led_places(const Rect& frame, std::span<const Vec2> points, float width, float size) {
  std::vector<LedPlace> places;
  for (float y = frame.y0 + kAscent * size; y + kDescent * size <= frame.y1; y += 0.75f * size)
    for (float x = frame.x0; x + width <= frame.x1; x += 1.5f * size) {
      const Rect box = label_box({x, y}, width, size);
      LedPlace place{{x, y}, {}, {}};
      float nearest = std::numeric_limits<float>::infinity();
      for (const Vec2& point : points) {
        const Vec2 edge{std::clamp(point.x, box.x0, box.x1), std::clamp(point.y, box.y0, box.y1)};
        const float distance = squared(point - edge);
        if (distance < nearest) nearest = distance, place.from = edge, place.to = point;
      }
      places.push_back(place);
    }
  std::ranges::stable_sort(places, {}, [](const LedPlace& place) { return squared(place.to - place.from); });
  return places;
}

}  // namespace

bool try_label(Painter& painter, const Page& page, LabelSpace& space, const RichText& text, const TextStyle& style,
               std::span<const Vec2> places) {
  const float width = rich_width(page.measure, text, style);
  for (const Vec2& at : places) {
    if (!space.place(OrientedBox::of(label_box(at, width, style.size)))) continue;
    draw_rich(painter, at, text, style);
    return true;
  }
  return false;
}

void leave_out(const Page& page, const RichText& text) {
  if (page.left_out == nullptr) return;
  LeftOutLabels& all = *page.left_out;
  all.labels.resize(std::max(all.labels.size(), all.panel + 1));
  std::vector<std::string>& labels = all.labels[all.panel];
  std::string markup = markup_text(text);
  if (std::ranges::find(labels, markup) == labels.end()) labels.push_back(std::move(markup));
}

bool put_label(Painter& painter, const Page& page, LabelSpace& space, const RichText& text, const TextStyle& style,
               std::span<const Vec2> places) {
  const bool there = try_label(painter, page, space, text, style, places);
  if (!there) leave_out(page, text);
  return there;
}

bool put_led_label(Painter& painter, const Page& page, LabelSpace& space, const RichText& text, const TextStyle& style,
                   std::span<const Vec2> places, std::span<const Vec2> points) {
  if (try_label(painter, page, space, text, style, places)) return true;
  const float width = rich_width(page.measure, text, style), thick = page.style.pt(1.0f);
  // Near, and across as few marks as can be.
  const LedPlace* best = nullptr;
  float cost = std::numeric_limits<float>::infinity();
  const std::vector<LedPlace> all =
      points.empty() ? std::vector<LedPlace>() : led_places(space.frame(), points, width, style.size);
  for (const LedPlace& place : all) {
    const float length = std::sqrt(squared(place.to - place.from));
    if (length >= cost) break;
    if (!space.fits(OrientedBox::of(label_box(place.at, width, style.size))) ||
        space.crosses_label(place.from, place.to, thick))
      continue;
    const float across =
        length + kCrossing * style.size * static_cast<float>(space.crossed(place.from, place.to, thick));
    if (across < cost) cost = across, best = &place;
  }
  if (best != nullptr && try_label(painter, page, space, text, style, std::array{best->at})) {
    painter.line(best->from, best->to, style.color, page.style.pt(0.5f));
    space.lead(best->from, best->to, thick);
    return true;
  }
  leave_out(page, text);
  return false;
}

std::vector<Vec2> places_beside(Vec2 point, float width, float gap, const Page& page) {
  const float size = page.style.size(), level = point.y + 0.36f * size;
  const float right = point.x + gap, left = point.x - gap - width, centre = point.x - 0.5f * width;
  const float above = point.y - gap - kDescent * size, below = point.y + gap + kAscent * size;
  return {{right, level},       {left, level},       {centre, above},      {centre, below},
          {right, above + gap}, {left, above + gap}, {right, below - gap}, {left, below - gap}};
}

std::vector<Vec2> places_along(const Rect& inner, float y, float width, bool from_right, const Page& page) {
  const float size = page.style.size(), gap = page.style.pt(2.2f), last = inner.x1 - width - gap;
  std::vector<Vec2> places;
  constexpr int kSteps = 24;
  for (int i = 0; i <= kSteps; ++i) {
    const float share = static_cast<float>(from_right ? kSteps - i : i) / kSteps;
    const float x = inner.x0 + gap + share * std::max(0.0f, last - inner.x0 - gap);
    places.push_back({x, y - gap - kDescent * size});
    places.push_back({x, y + gap + kAscent * size});
  }
  return places;
}

std::vector<Vec2> places_at_line(std::span<const std::vector<Vec2>> lines, std::size_t line, float width,
                                 const Rect& inner, const Page& page) {
  const float size = page.style.size();
  std::vector<std::pair<float, Vec2>> ranked;  // how far the nearest other line is
  for (const Vec2& corner : lines[line]) {
    float nearest_above = corner.y - inner.y0, nearest_below = inner.y1 - corner.y;
    for (std::size_t other = 0; other < lines.size(); ++other) {
      if (other == line) continue;
      for (const Vec2& theirs : lines[other]) {
        if (std::abs(theirs.x - corner.x) > 0.6f * width) continue;
        if (theirs.y <= corner.y) nearest_above = std::min(nearest_above, corner.y - theirs.y);
        if (theirs.y >= corner.y) nearest_below = std::min(nearest_below, theirs.y - corner.y);
      }
    }
    for (const float lift : {2.0f, 5.0f, 9.0f}) {
      const float off = page.style.pt(lift), worse = page.style.pt(3.0f * lift);
      for (const float shift : {0.5f, 0.0f, 1.0f}) {
        const float x = corner.x - shift * width;
        ranked.push_back({nearest_above - worse, {x, corner.y - off - kDescent * size}});
        ranked.push_back({nearest_below - worse, {x, corner.y + off + kAscent * size}});
      }
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Vec2> places;
  for (const auto& [room, at] : ranked) places.push_back(at);
  return places;
}

void draw_points(Painter& painter, bool image, const Axis& along, const Axis& up, float beyond,
                 const std::function<void(Painter&)>& draw) {
  if (image)
    painter.rasterised({along.from - beyond, up.to - beyond, along.to + beyond, up.from + beyond}, draw);
  else
    draw(painter);
}

void draw_points(Painter& painter, const Page& page, bool image, const Axis& along, const Axis& up, float beyond,
                 std::span<const Vec2> places, float opacity,
                 const std::function<void(Painter&, Vec2, float opacity)>& mark) {
  const auto each = [&](Painter& to) {
    for (const Vec2& at : places) mark(to, at, opacity);
  };
  const float cell = page.style.pt(72.0f / 600.0f);
  const auto stacked = [&](Painter& to) {
    std::vector<std::pair<Vec2, int>> stacks;
    std::unordered_map<std::int64_t, std::size_t> found;
    for (const Vec2& at : places) {
      const auto x = static_cast<std::int64_t>(at.x / cell), y = static_cast<std::int64_t>(at.y / cell);
      const auto [place, fresh] = found.try_emplace((x << 32) + y, stacks.size());
      if (fresh)
        stacks.emplace_back(at, 1);
      else
        ++stacks[place->second].second;
    }
    for (const auto& [at, count] : stacks) mark(to, at, 1.0f - std::pow(1.0f - opacity, static_cast<float>(count)));
  };
  if (image)
    draw_points(painter, true, along, up, beyond, stacked);
  else
    draw_points(painter, false, along, up, beyond, each);
}

void draw_page_marker(Painter& painter, Vec2 at, int marker, float radius, Color color) {
  if (marker == 0) {
    painter.disc(at, radius, color);
  } else if (marker == 1) {
    const float half = 0.9f * radius;
    painter.fill_rect({at.x - half, at.y - half, at.x + half, at.y + half}, color);
  } else {
    const float half = 1.25f * radius;
    painter.fill_polygon(
        std::array<Vec2, 4>{{{at.x, at.y - half}, {at.x + half, at.y}, {at.x, at.y + half}, {at.x - half, at.y}}},
        color);
  }
}

}  // namespace headroom
