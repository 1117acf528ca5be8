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

constexpr float kHeight = 2.0f;    // millimetres
constexpr float kOverEnds = 4.2f;  // points, of a label beyond an end of its bar

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

RichText bar_label(const PageAxis& spec, double value) {
  const double power = spec.log && value > 0.0 ? std::log10(value) : 0.5;
  const bool decade = std::abs(power - std::round(power)) < 1e-5 && power < 0.5;
  return decade ? rich_power(static_cast<int>(std::lround(power))) : rich_number(short_text(value));
}

// The middle of a tick's label: at the tick, but no farther over an end of the bar than a page has room for.
float label_centre(const PageTick& tick, const Rect& box, const Page& page) {
  const float half = 0.5f * rich_width(page.measure, tick.label, page.style.text()), over = page.style.pt(kOverEnds);
  const float low = box.x0 - over + half, high = box.x1 + over - half;
  return low < high ? std::clamp(tick.place, low, high) : tick.place;
}

// Whether no label touches the next.
bool labels_apart(const std::vector<PageTick>& ticks, const Rect& box, const Page& page) {
  float taken = -1e9f;
  for (const PageTick& tick : ticks) {
    if (tick.label.empty()) continue;
    const float half = 0.5f * rich_width(page.measure, tick.label, page.style.text()),
                centre = label_centre(tick, box, page);
    if (centre - half < taken + 0.4f * page.style.size()) return false;
    taken = centre + half;
  }
  return true;
}

// Those that touch the label of an end give way to it.
void clear_beside_ends(std::vector<PageTick>& ticks, const Rect& box, const Page& page) {
  const auto half = [&](const PageTick& tick) {
    return 0.5f * rich_width(page.measure, tick.label, page.style.text()) + 0.2f * page.style.size();
  };
  for (std::size_t i = 1; i + 1 < ticks.size(); ++i)
    for (const PageTick* end : {&ticks.front(), &ticks.back()})
      if (std::abs(ticks[i].place - label_centre(*end, box, page)) < half(ticks[i]) + half(*end))
        ticks[i].label.clear();
}

// Between the ends every decade has a tick, and as many have labels as have room.
std::vector<PageTick> decades_between(const PageAxis& spec, const Axis& axis) {
  std::vector<PageTick> ticks;
  const auto add = [&](double value) {
    if (value > spec.low && value < spec.high && std::abs(axis.pixel(value) - axis.from) > 0.5f &&
        std::abs(axis.pixel(value) - axis.to) > 0.5f)
      ticks.push_back({value, axis.pixel(value), {}});
  };
  if (spec.log) {
    for (double e = std::ceil(std::log10(spec.low)); e <= std::log10(spec.high); e += 1.0) add(std::pow(10.0, e));
    return ticks;
  }
  for (double value = spec.linear; value < spec.high; value *= 10.0) add(-value), add(value);
  add(0.0);
  std::ranges::sort(ticks, {}, &PageTick::place);
  return ticks;
}

// Both ends are labelled, with what lies beyond them; of what is between as much as then has room.
std::vector<PageTick> bar_ticks(const PageAxis& spec, const PageBar& bar, const Rect& box, const Page& page) {
  const Axis axis = placed_axis(spec, box.x0, box.x1);
  PageTick first{spec.low, box.x0, bar_label(spec, spec.low)}, last{spec.high, box.x1, bar_label(spec, spec.high)};
  const bool decades = spec.linear > 0.0 || (spec.log && spec.high > 999.0 * spec.low);
  std::vector<PageTick> between;
  if (decades) {
    between = decades_between(spec, axis);
  } else {
    between = page_ticks(spec, box.x0, box.x1, true, page);
    if (!between.empty() && between.front().place < box.x0 + 0.5f) {
      if (!between.front().label.empty()) first.label = between.front().label;
      between.erase(between.begin());
    }
    if (!between.empty() && between.back().place > box.x1 - 0.5f) {
      if (!between.back().label.empty()) last.label = between.back().label;
      between.pop_back();
    }
  }
  if (bar.clips_low) first.label = rich("≤ ") + first.label;
  if (bar.clips_high) last.label = rich("≥ ") + last.label;
  between.insert(between.begin(), first);
  between.push_back(last);
  const std::ptrdiff_t count = std::ssize(between), middle = count / 2;
  for (std::ptrdiff_t every = 1; every < count; ++every) {
    std::vector<PageTick> ticks = between;
    for (std::ptrdiff_t i = 1; i + 1 < count; ++i) {
      // A scale on both sides of 0 is labelled from there, others from their end.
      const bool both = spec.linear > 0.0 || spec.low == -spec.high;
      const std::ptrdiff_t from = both ? std::abs(i - middle) : count - 1 - i;
      PageTick& tick = ticks[static_cast<std::size_t>(i)];
      if (from % every != 0)
        tick.label.clear();
      else if (decades)
        tick.label = bar_label(spec, tick.value);
    }
    if (labels_apart(ticks, box, page)) return ticks;
    // What is symmetric about 0 keeps more of its decades so.
    if (!(spec.linear > 0.0)) continue;
    clear_beside_ends(ticks, box, page);
    if (labels_apart(ticks, box, page)) return ticks;
  }
  for (std::ptrdiff_t i = 1; i + 1 < count; ++i) between[static_cast<std::size_t>(i)].label.clear();
  return between;
}

// Steps of colour; each reaches below the next, so that viewers show no seams.
void draw_steps(Painter& painter, const Rect& box, const PageBar& bar, const Page& page) {
  constexpr std::size_t kSteps = 128;
  for (std::size_t i = 0; i < kSteps; ++i) {
    const float from = static_cast<float>(i) / kSteps;
    painter.fill_rect({box.x0 + from * box.width(), box.y0, box.x1, box.y1}, table_color(bar, from + 0.5f / kSteps));
  }
  painter.stroke_rect(box, ink::kBlack, page.style.pt(0.4f));
}

// Of both ends, with what lies beyond them.
std::array<RichText, 2> end_labels(const PageBar& bar) {
  const auto text = [](float v) { return rich_number(short_text(static_cast<double>(v))); };
  return {rich(bar.clips_low ? "≤ " : "") + text(bar.scale.low),
          rich(bar.clips_high ? "≥ " : "") + text(bar.scale.high)};
}

}  // namespace

Color bar_color(const PageBar& bar, double value) {
  return table_color(bar, scale_position(bar.scale, static_cast<float>(value)));
}

PageBar quantity_bar(const QuantityRef& quantity, const std::vector<double>& own, const FigureChoice& choice) {
  const auto together = choice.together.find(quantity_text(quantity));
  const std::vector<double>& values = together != choice.together.end() ? together->second : own;
  const QuantityInfo& info = *quantity.info;
  PageBar bar;
  bar.title = symbol_of(quantity_title(quantity));
  bool positive = false;
  for (const double v : values) positive = positive || v > 0.0;
  ScaleKind kind = info.centred           ? (info.linear_to > 0.0 ? ScaleKind::Symlog : ScaleKind::Linear)
                   : info.log && positive ? ScaleKind::Log10
                                          : ScaleKind::Linear;
  // What is logarithmic by itself is not where it is to begin at 0.
  if (kind == ScaleKind::Log10 && choice.low && *choice.low <= 0.0) kind = ScaleKind::Linear;
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
  for (const double v : own) {
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
  draw_steps(painter, box, bar, page);
  const PageAxis spec = axis_of(bar);
  const Axis axis = placed_axis(spec, box.x0, box.x1);
  const float labels = box.y1 + style.pt(4.2f) + 0.72f * style.size();
  for (const PageTick& tick : bar_ticks(spec, bar, box, page)) {
    painter.line({tick.place, box.y1}, {tick.place, box.y1 + style.pt(2.2f)}, ink::kBlack, style.pt(0.4f));
    if (!tick.label.empty())
      draw_rich(painter, {label_centre(tick, box, page), labels}, tick.label, style.text(), Painter::Align::Centre);
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

float inline_bar_width(float length, const PageBar& bar, const Page& page) {
  const std::array<RichText, 2> labels = end_labels(bar);
  return rich_width(page.measure, labels[0], page.style.text()) + length +
         rich_width(page.measure, labels[1], page.style.text()) + page.style.pt(4.0f);
}

void draw_inline_bar(Painter& painter, Vec2 right_end, float length, const PageBar& bar, const Page& page) {
  const PageStyle& style = page.style;
  const std::array<RichText, 2> labels = end_labels(bar);
  const float gap = style.pt(2.0f), x1 = right_end.x - rich_width(page.measure, labels[1], style.text()) - gap;
  const float middle = right_end.y - 0.36f * style.size(), half = 0.5f * style.mm(1.7f);
  const Rect box{x1 - length, middle - half, x1, middle + half};
  draw_rich(painter, {box.x0 - gap, right_end.y}, labels[0], style.text(), Painter::Align::Right);
  draw_steps(painter, box, bar, page);
  draw_rich(painter, {box.x1 + gap, right_end.y}, labels[1], style.text());
}

void draw_hatch(Painter& painter, const Rect& rect, const Page& page) {
  const float step = page.style.mm(1.2f) * 1.41421356f;
  painter.push_clip(rect);
  for (float x = rect.x0 - rect.height(); x < rect.x1; x += step)
    painter.line({x, rect.y1}, {x + rect.height(), rect.y0}, ink::kHatch, page.style.pt(0.6f));
  painter.pop_clip();
}

}  // namespace headroom
