#include "app/plot/series.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/plot/token_text.h"

namespace headroom {
namespace {

constexpr float kGapFrom = 4.0f;  // bars as wide as this leave a gap
constexpr float kIndexDown = 10.0f, kNameDown = 24.0f, kIndexSize = 10.0f, kNameSize = 11.0f;

// The pixels of a bin's edges; an edge that a log axis cannot show is its low end.
std::pair<float, float> bin_pixels(const Axis& axis, double low, double high) {
  const auto pixel = [&](double value) {
    const float at = axis.pixel(value);
    return std::isnan(at) ? axis.from : at;
  };
  const float a = pixel(low), b = pixel(high);
  std::pair<float, float> out{std::min(a, b), std::max(a, b)};
  if (out.second - out.first >= kGapFrom) out.second -= 1.0f;
  return out;
}

// How long a bar is: a pixel where there is anything, the whole room where it is full.
float bar_length(double count, double full, float room) {
  if (!(count > 0.0) || !(full > 0.0)) return 0.0f;
  return std::min(room, std::max(1.0f, static_cast<float>(count / full * static_cast<double>(room))));
}

}  // namespace

std::vector<Rect> vertical_bars(const Histogram& histogram, const Axis& axis, const Rect& area, double full) {
  std::vector<Rect> bars;
  if (!(full > 0.0)) full = histogram.largest();
  for (std::size_t i = 0; i < histogram.bins(); ++i) {
    const auto [x0, x1] = bin_pixels(axis, histogram.edges[i], histogram.edges[i + 1]);
    bars.push_back({x0, area.y1 - bar_length(histogram.counts[i], full, area.height()), x1, area.y1});
  }
  return bars;
}

std::vector<Rect> horizontal_bars(const Histogram& histogram, const Axis& axis, const Rect& area, double full) {
  std::vector<Rect> bars;
  if (!(full > 0.0)) full = histogram.largest();
  for (std::size_t i = 0; i < histogram.bins(); ++i) {
    const auto [y0, y1] = bin_pixels(axis, histogram.edges[i], histogram.edges[i + 1]);
    bars.push_back({area.x0, y0, area.x0 + bar_length(histogram.counts[i], full, area.width()), y1});
  }
  return bars;
}

void draw_bars(Painter& painter, std::span<const Rect> bars, const Rect& area, Color color) {
  for (const Rect& bar : bars) {
    if (const Rect seen = bar.intersected(area); !seen.empty()) painter.fill_rect(seen, color);
  }
}

std::vector<PlacedGroup> lay_out_groups(const PlotFrame& frame, std::span<const BarGroup> groups,
                                        const TextMeasure& measure) {
  std::vector<PlacedGroup> out(groups.size());
  const Rect& in = frame.inner;
  if (in.empty() || groups.empty()) return out;
  const float slot = in.width() / static_cast<float>(groups.size());
  const float bar = std::clamp(std::floor(0.5f * (slot - 4.0f)), 1.0f, 14.0f);
  const double base = frame.y.log
                          ? frame.y.low
                          : std::clamp(0.0, std::min(frame.y.low, frame.y.high), std::max(frame.y.low, frame.y.high));
  const float ground = frame.y.pixel(base);
  LabelSpace space({in.x0, frame.outer.y0, frame.outer.x1, in.y1}, 1.0f);
  const auto bar_at = [&](float x, double value) {
    const float tip = frame.y.pixel(value);
    if (std::isnan(tip)) return Rect{x, ground, x, ground};
    return Rect{x, std::min(tip, ground), x + bar, std::max(tip, ground)}.intersected(in);
  };
  const auto below = [&](const std::string& text, Face face, float size, float centre, float y, std::string& shown) {
    shown = elide_middle(text, slot - 3.0f, measure, face, size);
    if (shown == "…" && text != shown) shown.clear();
    const Rect rect = text_rect_at(centre, y, measure.width(shown, face, size), size, Painter::Align::Centre);
    if (rect.y1 > frame.outer.y1 + 0.5f) shown.clear();
    return rect;
  };
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const float centre = in.x0 + (static_cast<float>(i) + 0.5f) * slot;
    PlacedGroup& group = out[i];
    group.a = bar_at(centre - bar, groups[i].a);
    group.b = bar_at(centre, groups[i].b);
    space.block(group.a), space.block(group.b);
    group.label_rect = below(groups[i].label, Face::Mono, kIndexSize, centre, in.y1 + kIndexDown, group.label);
    group.sublabel_rect = below(groups[i].sublabel, Face::Sans, kNameSize, centre, in.y1 + kNameDown, group.sublabel);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    PlacedGroup& group = out[i];
    const bool any = !group.a.empty() || !group.b.empty();
    if (groups[i].value.empty() || !any) continue;
    const float width = measure.width(groups[i].value, Face::Mono, kIndexSize);
    const float centre = in.x0 + (static_cast<float>(i) + 0.5f) * slot;
    const Rect& higher = group.b.empty() || (!group.a.empty() && group.a.y0 < group.b.y0) ? group.a : group.b;
    const Rect places[] = {text_rect_at(centre, higher.y0 - 8.0f, width, kIndexSize, Painter::Align::Centre),
                           text_rect_at(higher.x1 + 3.0f, higher.y0 + 5.0f, width, kIndexSize),
                           text_rect_at(higher.x0 - 3.0f, higher.y0 + 5.0f, width, kIndexSize, Painter::Align::Right)};
    if (const std::ptrdiff_t place = space.place_first(places); place >= 0) {
      group.value = groups[i].value;
      group.value_rect = places[place];
    }
  }
  return out;
}

void draw_groups(Painter& painter, const PlotFrame& frame, std::span<const BarGroup> groups, Color a, Color b,
                 const Theme& theme) {
  const TextStyle index = theme.tick(), name{Face::Sans, kNameSize, theme.text2};
  const TextStyle value{Face::Mono, kIndexSize, theme.text2};
  const auto text = [&](const Rect& rect, const std::string& shown, const TextStyle& style) {
    if (!shown.empty()) painter.text({rect.x0, rect.y0 + kTextAscent * style.size}, shown, style);
  };
  for (const PlacedGroup& group : lay_out_groups(frame, groups, painter.measure())) {
    if (!group.a.empty()) painter.fill_rect(group.a, a);
    if (!group.b.empty()) painter.fill_rect(group.b, b);
    text(group.label_rect, group.label, index);
    text(group.sublabel_rect, group.sublabel, name);
    text(group.value_rect, group.value, value);
  }
}

}  // namespace headroom
