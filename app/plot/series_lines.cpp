#include "app/plot/series.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/token_text.h"

namespace headroom {
namespace {

constexpr float kOff = 3.0f;  // between a line and its label
constexpr float kEndLine = 8.0f, kEndGap = 2.0f, kEndText = 14.0f;

Rect box_at(float x0, float y0, float width, float size) {
  return Rect::sized(x0, y0, width, (kTextAscent + kTextDescent) * size);
}

// Places for a label beside a line through the frame, best first: near the ends, then along it.
std::vector<Rect> places_beside(const Rect& in, const PlacedLine& line, bool horizontal, float width, float size) {
  std::vector<Rect> places;
  const auto add = [&](float x, float y) {
    const Rect rect = box_at(x, y, width, size);
    if (rect.x0 >= in.x0 && rect.x1 <= in.x1 && rect.y0 >= in.y0 && rect.y1 <= in.y1) places.push_back(rect);
  };
  const float height = (kTextAscent + kTextDescent) * size;
  if (horizontal) {
    const float above = line.from.y - kOff - height, below = line.from.y + kOff;
    for (float x = in.x1 - width - kOff; x >= in.x0; x -= std::max(8.0f, 0.25f * width)) add(x, above), add(x, below);
    add(in.x0 + kOff, above), add(in.x0 + kOff, below);
  } else {
    const float right = line.from.x + kOff, left = line.from.x - kOff - width;
    for (float y = in.y0 + kOff; y + height <= in.y1; y += 0.5f * height) add(right, y), add(left, y);
  }
  return places;
}

}  // namespace

std::vector<PlacedLine> lay_out_lines(const PlotFrame& frame, std::span<const ReferenceLine> lines,
                                      const TextMeasure& measure, LabelSpace& space, float size) {
  std::vector<PlacedLine> out;
  const Rect& in = frame.inner;
  for (const ReferenceLine& line : lines) {
    PlacedLine placed;
    const float at = (line.horizontal ? frame.y : frame.x).pixel(line.value);
    const float from = line.horizontal ? in.y0 : in.x0, to = line.horizontal ? in.y1 : in.x1;
    // Half a pixel: a bound at the very end of the axis is on it.
    placed.visible = !in.empty() && std::isfinite(at) && at >= from - 0.5f && at <= to + 0.5f;
    if (placed.visible) {
      placed.from = line.horizontal ? Vec2{in.x0, at} : Vec2{at, in.y0};
      placed.to = line.horizontal ? Vec2{in.x1, at} : Vec2{at, in.y1};
      const Vec2 ends[] = {placed.from, placed.to};
      space.block_line(ends, line.width);
    }
    out.push_back(placed);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!out[i].visible || lines[i].label.empty()) continue;
    const float width = measure.width(lines[i].label, Face::Sans, size);
    const std::vector<Rect> places = places_beside(in, out[i], lines[i].horizontal, width, size);
    if (const std::ptrdiff_t place = space.place_first(places); place >= 0) {
      out[i].label = lines[i].label;
      out[i].label_rect = places[static_cast<std::size_t>(place)];
    }
  }
  return out;
}

void draw_lines(Painter& painter, const PlotFrame& frame, std::span<const ReferenceLine> lines, LabelSpace& space) {
  const std::vector<PlacedLine> placed = lay_out_lines(frame, lines, painter.measure(), space);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!placed[i].visible) continue;
    const ReferenceLine& line = lines[i];
    switch (line.style) {
      case LineStyle::Solid: painter.line(placed[i].from, placed[i].to, line.color, line.width); break;
      case LineStyle::Dashed: painter.dashed_line(placed[i].from, placed[i].to, line.color, line.width, 5, 3); break;
      case LineStyle::Dotted: painter.dashed_line(placed[i].from, placed[i].to, line.color, line.width, 2, 3); break;
    }
    if (!placed[i].label.empty()) {
      draw_text_in(painter, placed[i].label_rect, placed[i].label, {Face::Sans, 11.0f, line.color});
    }
  }
}

std::optional<Rect> lay_out_curve_name(const PlotFrame& frame, NumberView x, NumberView y, std::string_view name,
                                       const TextMeasure& measure, LabelSpace& space, float size) {
  const Rect& in = frame.inner;
  std::vector<Vec2> stops;  // along what is seen of the curve, every few pixels
  for (const std::vector<Vec2>& piece : curve_pieces(frame, x, y)) {
    space.block_line(piece, 2.0f);
    for (std::size_t i = 0; i < piece.size(); ++i) {
      if (in.contains(piece[i])) stops.push_back(piece[i]);
      if (i + 1 == piece.size()) break;
      const Vec2 way = piece[i + 1] - piece[i];
      const int steps = static_cast<int>(std::min(400.0f, std::hypot(way.x, way.y) / 8.0f));
      for (int k = 1; k < steps; ++k) {
        const Vec2 between = piece[i] + way * (static_cast<float>(k) / static_cast<float>(steps));
        if (in.contains(between)) stops.push_back(between);
      }
    }
  }
  if (stops.empty() || name.empty()) return std::nullopt;
  const float width = measure.width(name, Face::Sans, size), height = (kTextAscent + kTextDescent) * size;
  const std::size_t third = stops.size() / 3;
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const Vec2 p = stops[(third + i) % stops.size()];
    const Rect places[] = {box_at(p.x + kOff, p.y - kOff - height, width, size),
                           box_at(p.x - kOff - width, p.y + kOff, width, size),
                           box_at(p.x - kOff - width, p.y - kOff - height, width, size),
                           box_at(p.x + kOff, p.y + kOff, width, size),
                           box_at(p.x - 0.5f * width, p.y - kOff - height, width, size),
                           box_at(p.x - 0.5f * width, p.y + kOff, width, size)};
    for (const Rect& place : places) {
      const bool within = place.x0 >= in.x0 && place.x1 <= in.x1 && place.y0 >= in.y0 && place.y1 <= in.y1;
      if (within && space.place(OrientedBox::of(place))) return place;
    }
  }
  return std::nullopt;
}

void draw_curve_name(Painter& painter, const PlotFrame& frame, NumberView x, NumberView y, std::string_view name,
                     Color color, LabelSpace& space) {
  if (const auto place = lay_out_curve_name(frame, x, y, name, painter.measure(), space)) {
    draw_text_in(painter, *place, name, {Face::Sans, 11.0f, color});
  }
}

float end_label_room(std::span<const EndLabel> labels, const TextMeasure& measure, float size) {
  float widest = 0.0f;
  for (const EndLabel& label : labels) widest = std::max(widest, measure.width(label.text, Face::Sans, size));
  return widest > 0.0f ? kEndText + std::ceil(widest) + 1.0f : 0.0f;
}

std::vector<PlacedEnd> lay_out_ends(const PlotFrame& frame, std::span<const EndLabel> labels,
                                    const TextMeasure& measure, float size, float gap) {
  std::vector<PlacedEnd> out(labels.size());
  const Rect& in = frame.inner;
  if (in.empty()) return out;
  std::vector<float> wanted;
  for (const EndLabel& label : labels) {
    const float at = label.text.empty() || !std::isfinite(label.value) ? NAN : frame.y.pixel(label.value);
    wanted.push_back(std::isnan(at) ? NAN : std::clamp(at, in.y0, in.y1));
  }
  // The middle of a line of text is not the middle of its box.
  const Rect line = text_rect_at(0.0f, 0.0f, 1.0f, size);
  const float low = in.y0 - line.y0, high = in.y1 - line.y1;
  const std::vector<float> spread = spread_labels(wanted, gap, low, high);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::isnan(spread[i])) continue;
    const float x = in.x1 + kEndText;
    std::string text = elide_end(labels[i].text, frame.outer.x1 - x, measure, Face::Sans, size);
    if (text.empty()) continue;
    out[i] = {true,           {in.x1 + kEndGap, wanted[i]}, {in.x1 + kEndGap + kEndLine, spread[i]}, x, spread[i],
              std::move(text)};
  }
  return out;
}

void draw_ends(Painter& painter, const PlotFrame& frame, std::span<const EndLabel> labels) {
  const std::vector<PlacedEnd> placed = lay_out_ends(frame, labels, painter.measure());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!placed[i].visible) continue;
    painter.line(placed[i].from, placed[i].to, labels[i].color, 2.0f);
    painter.text_at(placed[i].x, placed[i].y, placed[i].text, {Face::Sans, 11.0f, labels[i].color});
  }
}

}  // namespace headroom
