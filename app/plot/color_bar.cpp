#include "app/plot/color_bar.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "app/plot/label_layout.h"
#include "app/plot/ticks.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kBarTickSize = 10.0f, kBarTitleSize = 11.0f, kBarTitleLine = 15.0f, kBarLabelGap = 6.0f,
                kBarTickMark = 3.0f;
constexpr float kLeastGapVertical = 26.0f, kLeastGapHorizontal = 34.0f;

struct Candidate {
  double value;
  std::string label;
};

// "0.1", "10⁻⁴"; plain where it is short.
std::string decade_text(double value, int exponent, bool powers) {
  const std::string magnitude = powers ? power_text(exponent) : short_text(std::abs(value));
  return (value < 0.0 ? "−" : "") + magnitude;
}

bool is_decade(double value) {
  const double exponent = std::log10(std::abs(value));
  return value != 0.0 && std::abs(exponent - std::round(exponent)) < 1e-6;
}

std::string end_text(const ColorScale& scale, double value) {
  if (scale.kind == ScaleKind::Log10 && is_decade(value))
    return power_text(static_cast<int>(std::lround(std::log10(value))));
  // Through a float 0.6 is 0.60000002: three digits are what a label shows.
  return short_text(value);
}

// Values with labels in the order of their importance: the ends, zero, decades from the outside in, or 1-2-5 steps.
std::vector<Candidate> candidates(const ColorBarSpec& spec, float length, float least_gap) {
  const ColorScale& scale = spec.scale;
  const double high = static_cast<double>(scale.high), threshold = static_cast<double>(scale.threshold);
  const double low = scale.kind == ScaleKind::Symlog ? -high : static_cast<double>(scale.low);
  std::vector<Candidate> out;
  if (!std::isfinite(low) || !std::isfinite(high) || !(high > low)) return out;
  out.push_back({high, (spec.clips_high ? "≥ " : "") + end_text(scale, high)});
  out.push_back({low, (spec.clips_low ? "≤ " : "") + end_text(scale, low)});
  if (scale.kind == ScaleKind::Linear) {
    const auto ticks = spec.whole
                           ? index_ticks(std::llround(std::ceil(low)), std::llround(std::floor(high)),
                                         static_cast<double>(length), static_cast<double>(least_gap))
                           : linear_ticks(low, high, static_cast<double>(length), static_cast<double>(least_gap));
    for (const Tick& tick : ticks) out.push_back({tick.value, tick.label});
    return out;
  }
  const bool symlog = scale.kind == ScaleKind::Symlog;
  const double inner = symlog ? threshold : low;
  if (symlog) out.push_back({0.0, "0"});
  if (!(inner > 0.0)) return out;
  const int top = static_cast<int>(std::floor(std::log10(high) + 1e-6));
  const int bottom = static_cast<int>(std::ceil(std::log10(inner) - 1e-6));
  const bool powers = !symlog || inner < 0.999e-3 || high > 1e4;
  // Every m-th decade where all of them would be too near, so that what stays is evenly spaced.
  const float per_decade = length / static_cast<float>(std::max(1, symlog ? 2 * (top - bottom + 1) : top - bottom));
  const int every = std::max(1, static_cast<int>(std::ceil(least_gap * 0.6f / per_decade)));
  for (int e = top; e >= bottom; --e) {
    if ((top - e) % every != 0) continue;
    const double value = std::pow(10.0, e);
    out.push_back({value, decade_text(value, e, powers)});
    if (symlog) out.push_back({-value, decade_text(-value, e, powers)});
  }
  return out;
}

float pixel_of(const ColorBarSpec& spec, const Rect& bar, double value) {
  const float position = scale_position(spec.scale, static_cast<float>(value));
  return spec.vertical ? bar.y1 - position * bar.height() : bar.x0 + position * bar.width();
}

std::vector<Rect> bars_on(const Histogram& histogram, const ColorBarSpec& spec, const ColorBarLayout& layout,
                          double full) {
  std::vector<Rect> bars;
  for (std::size_t i = 0; i < histogram.bins(); ++i) {
    float x0 = pixel_of(spec, layout.bar, histogram.edges[i]), x1 = pixel_of(spec, layout.bar, histogram.edges[i + 1]);
    if (x1 - x0 >= 4.0f) x1 -= 1.0f;
    const double share = full > 0.0 ? histogram.counts[i] / full : 0.0;
    const float height = share > 0.0 ? std::max(1.0f, static_cast<float>(share) * layout.histogram.height()) : 0.0f;
    bars.push_back(Rect{x0, layout.histogram.y1 - height, x1, layout.histogram.y1}.intersected(layout.histogram));
  }
  return bars;
}

void place_marks(ColorBarLayout& layout, const ColorBarSpec& spec, const TextMeasure& measure) {
  const Rect& bar = layout.bar;
  const float length = spec.vertical ? bar.height() : bar.width();
  // Half of the air between labels on either side of each.
  LabelSpace space(layout.outer, 0.0f);
  const float air_x = spec.vertical ? 0.0f : 5.0f, air_y = spec.vertical ? 2.0f : 0.0f;
  if (!layout.title.empty()) space.block(layout.title_rect);
  const float top = layout.title.empty() ? layout.outer.y0 : layout.title_rect.y1 + 0.5f;
  for (Candidate& each : candidates(spec, length, spec.vertical ? kLeastGapVertical : kLeastGapHorizontal)) {
    ColorBarLayout::Mark mark{each.value, pixel_of(spec, bar, each.value), std::move(each.label), {}};
    const float width = measure.width(mark.label, Face::Mono, kBarTickSize);
    const Rect rect = spec.vertical
                          ? text_rect_at(bar.x1 + kBarLabelGap, mark.pixel, width, kBarTickSize)
                          : text_rect_at(mark.pixel, bar.y1 + 9.0f, width, kBarTickSize, Painter::Align::Centre);
    // Along the bar a label may move to stay inside; across it there is room or there is none.
    mark.label_rect = moved_into(rect, spec.vertical ? Rect{rect.x0, top, rect.x1, layout.outer.y1}
                                                     : Rect{layout.outer.x0, rect.y0, layout.outer.x1, rect.y1});
    const bool again = std::any_of(layout.marks.begin(), layout.marks.end(), [&](const ColorBarLayout::Mark& other) {
      return std::abs(other.pixel - mark.pixel) < 1.0f;
    });
    if (again || !space.fits(OrientedBox::of(mark.label_rect))) continue;
    space.block(mark.label_rect.inset(-air_x, -air_y));
    layout.marks.push_back(std::move(mark));
  }
  std::sort(layout.marks.begin(), layout.marks.end(),
            [](const ColorBarLayout::Mark& a, const ColorBarLayout::Mark& b) { return a.value < b.value; });
}

}  // namespace

ColorBarLayout lay_out_color_bar(const Rect& outer, const ColorBarSpec& spec, const TextMeasure& measure) {
  ColorBarLayout layout;
  layout.outer = outer;
  Rect rest = outer;
  if (spec.vertical) {
    if (!spec.title.empty()) {
      layout.title = elide_end(spec.title, outer.width(), measure, Face::Sans, kBarTitleSize);
      const float width = measure.width(layout.title, Face::Sans, kBarTitleSize);
      layout.title_rect = text_rect_at(outer.x0, outer.y0 + 5.0f, width, kBarTitleSize);
      rest.cut_top(kBarTitleLine);
    }
    layout.bar = rest.cut_left(spec.thickness);
  } else {
    if (spec.histogram != nullptr) layout.histogram = rest.cut_top(spec.histogram_height);
    layout.bar = rest.cut_top(spec.thickness);
  }
  if (layout.bar.empty()) return layout;
  place_marks(layout, spec, measure);
  if (!spec.vertical && spec.histogram != nullptr) {
    const double full = spec.histogram->largest();
    layout.bars = bars_on(*spec.histogram, spec, layout, full);
    if (spec.chosen != nullptr) layout.chosen_bars = bars_on(*spec.chosen, spec, layout, full);
  }
  const auto on_bar = [&](const std::optional<double>& value) -> std::optional<float> {
    return value && std::isfinite(*value) ? std::optional(pixel_of(spec, layout.bar, *value)) : std::nullopt;
  };
  layout.threshold = on_bar(spec.threshold);
  layout.null_level = on_bar(spec.null_level);
  return layout;
}

void draw_color_bar(Painter& painter, const Rect& outer, const ColorBarSpec& spec, const Theme& theme) {
  const ColorBarLayout layout = lay_out_color_bar(outer, spec, painter.measure());
  const Rect& bar = layout.bar;
  if (bar.empty()) return;
  for (const Rect& each : layout.bars) {
    if (!each.empty()) painter.fill_rect(each, theme.text3);
  }
  for (const Rect& each : layout.chosen_bars) {
    if (!each.empty()) painter.fill_rect(each, theme.accent);
  }
  const ColorTable& table = color_table(spec.scale.map);
  const float length = spec.vertical ? bar.height() : bar.width();
  const int strips = std::clamp(static_cast<int>(std::ceil(length)), 1, 256);
  for (int i = 0; i < strips; ++i) {
    const float from = static_cast<float>(i) / static_cast<float>(strips);
    const float to = static_cast<float>(i + 1) / static_cast<float>(strips);
    const Color color = table[static_cast<std::size_t>(
        std::lround(255.0f * (strips > 1 ? static_cast<float>(i) / static_cast<float>(strips - 1) : 0.5f)))];
    const Rect strip = spec.vertical ? Rect{bar.x0, bar.y1 - to * length, bar.x1, bar.y1 - from * length}
                                     : Rect{bar.x0 + from * length, bar.y0, bar.x0 + to * length, bar.y1};
    painter.fill_rect(strip, color);
  }
  const auto across = [&](float pixel, float before, float after, Color color, float width) {
    const Vec2 from = spec.vertical ? Vec2{bar.x0 - before, pixel} : Vec2{pixel, bar.y0 - before};
    const Vec2 to = spec.vertical ? Vec2{bar.x1 + after, pixel} : Vec2{pixel, bar.y1 + after};
    painter.line(from, to, color, width);
  };
  for (const ColorBarLayout::Mark& mark : layout.marks) {
    const float edge = spec.vertical ? bar.width() : bar.height();
    across(mark.pixel, -edge, kBarTickMark, theme.faint, 1.0f);
    painter.text({mark.label_rect.x0, mark.label_rect.y0 + kTextAscent * kBarTickSize}, mark.label, theme.tick());
  }
  if (layout.threshold) {
    const float before = layout.histogram.empty() ? 2.0f : layout.histogram.height();
    across(*layout.threshold, before, 2.0f, theme.halo, 3.0f);
    across(*layout.threshold, before, 2.0f, theme.mark, 1.0f);
  }
  if (layout.null_level) {
    const float at = *layout.null_level, half = 4.0f, tall = 6.0f;
    const Vec2 down[] = {{at - half, bar.y0 - tall + 1.0f}, {at + half, bar.y0 - tall + 1.0f}, {at, bar.y0 + 1.0f}};
    const Vec2 right[] = {{bar.x0 - tall + 1.0f, at - half}, {bar.x0 - tall + 1.0f, at + half}, {bar.x0 + 1.0f, at}};
    painter.fill_polygon(spec.vertical ? right : down, theme.warn);
  }
  if (!layout.title.empty()) {
    painter.text({layout.title_rect.x0, layout.title_rect.y0 + kTextAscent * kBarTitleSize}, layout.title,
                 theme.hint());
  }
}

float color_bar_width(const ColorBarSpec& spec, const TextMeasure& measure) {
  const ColorBarLayout layout = lay_out_color_bar({0.0f, 0.0f, 1000.0f, 400.0f}, spec, measure);
  float right = std::max(spec.thickness, layout.title_rect.x1);
  for (const ColorBarLayout::Mark& mark : layout.marks) right = std::max(right, mark.label_rect.x1);
  return std::ceil(right);
}

double color_bar_value(const ColorBarLayout& layout, const ColorBarSpec& spec, Vec2 pointer) {
  const Rect& bar = layout.bar;
  if (bar.empty()) return std::nan("");
  const float position = spec.vertical ? (bar.y1 - pointer.y) / bar.height() : (pointer.x - bar.x0) / bar.width();
  return static_cast<double>(scale_value(spec.scale, position));
}

}  // namespace headroom
