#include "app/figures/page_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "app/figures/page_axes.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kHeight = 2.0f;  // millimetres

// A short name for beside the bar: the symbol that ends the title, else the title.
std::string symbol_of(const std::string& title) {
  const std::size_t blank = title.rfind(' ');
  if (blank == std::string::npos) return title;
  const std::string last = title.substr(blank + 1);
  return !last.empty() && (static_cast<unsigned char>(last[0]) >= 0x80 || last.size() <= 2) ? last : title;
}

PageAxis axis_of(const PageBar& bar) {
  PageAxis axis{static_cast<double>(bar.scale.low), static_cast<double>(bar.scale.high),
                bar.scale.kind == ScaleKind::Log10};
  if (bar.scale.kind == ScaleKind::Symlog) axis.linear = static_cast<double>(bar.scale.threshold);
  axis.whole = bar.whole;
  axis.high_label = !bar.whole && !axis.log;
  return axis;
}

Color table_color(const PageBar& bar, float place) {
  return color_table(
      bar.scale.map)[static_cast<std::size_t>(std::lround((bar.from + (1.0f - bar.from) * place) * 255.0f))];
}

}  // namespace

Color bar_color(const PageBar& bar, double value) {
  return table_color(bar, scale_position(bar.scale, static_cast<float>(value)));
}

PageBar quantity_bar(const QuantityRef& quantity, const std::vector<double>& values, const FigureChoice& choice) {
  const QuantityInfo& info = *quantity.info;
  PageBar bar;
  bar.title = symbol_of(quantity_title(quantity));
  bool positive = false;
  for (const double v : values) positive = positive || v > 0.0;
  ScaleKind kind = info.centred           ? (info.linear_to > 0.0 ? ScaleKind::Symlog : ScaleKind::Linear)
                   : info.log && positive ? ScaleKind::Log10
                                          : ScaleKind::Linear;
  if (choice.scale) kind = *choice.scale;
  RobustRange range;
  if (kind == ScaleKind::Log10)
    range = robust_log_range(values);
  else if (info.centred || kind == ScaleKind::Symlog)
    range = robust_signed_range(values);
  else if (info.natural)
    range = {info.natural->low, info.natural->high};
  else
    range = robust_range(values);
  if (choice.low) range.low = *choice.low;
  if (choice.high) range.high = *choice.high;
  for (const double v : values) {
    range.clips_low = range.clips_low || v < range.low;
    range.clips_high = range.clips_high || v > range.high;
  }
  bar.scale.map = info.centred ? diverging_map(choice.signed_colours, false) : sequential_map(choice.colours, false);
  bar.scale.kind = kind;
  bar.scale.low = static_cast<float>(range.low), bar.scale.high = static_cast<float>(range.high);
  if (info.linear_to > 0.0) bar.scale.threshold = static_cast<float>(info.linear_to);
  bar.clips_low = range.clips_low, bar.clips_high = range.clips_high;
  return bar;
}

float page_bar_below(const Page& page) { return page.style.pt(4.7f) + 0.72f * page.style.size(); }

float page_bar_height(const Page& page) {
  return page.style.mm(kHeight) + page_bar_below(page) + page.style.size() + page.style.pt(2.0f);
}

void draw_page_bar(Painter& painter, const Rect& area, const PageBar& bar, const Page& page) {
  const PageStyle& style = page.style;
  const float foot = area.y1 - page_bar_below(page);
  const Rect box{area.x0, foot - style.mm(kHeight), area.x1, foot};
  constexpr std::size_t kSteps = 128;
  // Each step reaches below the next, so that viewers show no seams.
  for (std::size_t i = 0; i < kSteps; ++i) {
    const float from = static_cast<float>(i) / kSteps;
    const Color color = table_color(bar, from + 0.5f / kSteps);
    painter.fill_rect({box.x0 + from * box.width(), box.y0, box.x1, box.y1}, color);
  }
  painter.stroke_rect(box, ink::kBlack, style.pt(0.4f));
  const PageAxis spec = axis_of(bar);
  const Axis axis = placed_axis(spec, box.x0, box.x1);
  const float labels = box.y1 + style.pt(4.2f) + 0.72f * style.size();
  const std::vector<PageTick> ticks = page_ticks(spec, box.x0, box.x1, true, page);
  for (const PageTick& tick : ticks) {
    painter.line({tick.place, box.y1}, {tick.place, box.y1 + style.pt(2.2f)}, ink::kBlack, style.pt(0.4f));
    RichText label = tick.label;
    if (label.empty()) continue;
    if (bar.clips_low && std::abs(tick.place - box.x0) < 0.5f) label = rich("≤ ") + label;
    if (bar.clips_high && std::abs(tick.place - box.x1) < 0.5f) label = rich("≥ ") + label;
    draw_rich(painter, {tick.place, labels}, label, style.text(), Painter::Align::Centre);
  }
  const bool names = box.y0 - area.y0 >= style.size();
  const float baseline = box.y0 - style.pt(2.2f);
  float taken = area.x0 - style.pt(100.0f);
  if (bar.null_level && *bar.null_level >= spec.low && *bar.null_level <= spec.high) {
    const float x = axis.pixel(*bar.null_level), half = style.pt(1.6f);
    painter.fill_polygon(std::array<Vec2, 3>{{{x - half, box.y0}, {x + half, box.y0}, {x, box.y0 + style.pt(2.8f)}}},
                         ink::kBlack);
    const float width = page.measure.width("uniform", Face::Sans, style.size());
    if (names) {
      const float left = std::clamp(x - 0.5f * width, box.x0, box.x1 - width);
      painter.text({left, baseline}, "uniform", style.text());
      taken = left + width;
    }
  }
  if (bar.threshold && *bar.threshold >= spec.low && *bar.threshold <= spec.high) {
    const float x = axis.pixel(*bar.threshold);
    painter.line({x, box.y0}, {x, box.y1}, ink::kBlack, style.pt(0.9f));
    const RichText text = rich("*ε* = " + short_text(*bar.threshold));
    const float width = rich_width(page.measure, text, style.text());
    const float left = std::clamp(x - 0.5f * width, box.x0, box.x1 - width);
    if (names && left > taken + style.pt(3.0f)) draw_rich(painter, {left, baseline}, text, style.text());
  }
}

void draw_hatch(Painter& painter, const Rect& rect, const Page& page) {
  const float step = page.style.mm(1.2f) * 1.41421356f;
  painter.push_clip(rect);
  for (float x = rect.x0 - rect.height(); x < rect.x1; x += step)
    painter.line({x, rect.y1}, {x + rect.height(), rect.y0}, ink::kHatch, page.style.pt(0.6f));
  painter.pop_clip();
}

}  // namespace headroom
