#include "app/figures/page_axes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kStroke = 0.5f, kTick = 2.2f, kToLabel = 2.0f, kToTitle = 4.5f;
constexpr float kTextHeight = 0.72f;  // of digits, in sizes

std::vector<PageTick> placed(const Axis& axis, const std::vector<Tick>& ticks) {
  std::vector<PageTick> result;
  for (const Tick& tick : ticks)
    result.push_back({tick.value, axis.pixel(tick.value), tick.label.empty() ? RichText() : rich_number(tick.label)});
  return result;
}

// Digits 1, 2, 5 of each decade, or 1 alone of every `every`th: always so above four decades.
std::vector<PageTick> decade_ticks(const Axis& axis, bool all_digits, int every) {
  const bool powers = std::log10(axis.high / axis.low) > 4.0 || axis.high >= 1e6 || axis.low < 1e-4;
  if (std::log10(axis.high / axis.low) > 4.0) all_digits = false;
  std::vector<PageTick> ticks;
  for (int e = static_cast<int>(std::floor(std::log10(axis.low) - 1e-9));
       e <= static_cast<int>(std::floor(std::log10(axis.high) + 1e-9)); ++e)
    for (const int digit : {1, 2, 5}) {
      const double value = e >= 0 ? digit * std::pow(10.0, e) : digit / std::pow(10.0, -e);
      if (value < axis.low * (1.0 - 1e-9) || value > axis.high * (1.0 + 1e-9)) continue;
      if (digit != 1 && !all_digits) continue;
      if (!all_digits && e % every != 0) continue;
      ticks.push_back({value, axis.pixel(value), powers ? rich_power(e) : rich_number(short_text(value))});
      if (powers && digit != 1) ticks.back().label = rich(std::to_string(digit) + "·") + ticks.back().label;
    }
  return ticks;
}

float extent(const PageTick& tick, bool horizontal, const Page& page) {
  return horizontal ? rich_width(page.measure, tick.label, page.style.text()) : kTextHeight * page.style.size();
}

// Whether no label touches the next.
bool apart(const std::vector<PageTick>& ticks, bool horizontal, const Page& page) {
  const float gap = page.style.size() * (horizontal ? 0.55f : 0.35f);
  const PageTick* before = nullptr;
  for (const PageTick& tick : ticks) {
    if (tick.label.empty()) continue;
    if (before != nullptr && std::abs(tick.place - before->place) <
                                 0.5f * (extent(tick, horizontal, page) + extent(*before, horizontal, page)) + gap)
      return false;
    before = &tick;
  }
  return true;
}

// The last index is labelled too; a step that comes nearer than 0.6 steps to it gives way.
void add_last(std::vector<PageTick>& ticks, const Axis& axis, double last, bool first_too) {
  const auto label = [&](double value) {
    const bool whole = !axis.log && value == std::round(value);
    return PageTick{value, axis.pixel(value),
                    rich_number(whole ? grouped_text(std::llround(value)) : short_text(value))};
  };
  const double step = ticks.size() > 1 ? ticks[1].place - static_cast<double>(ticks[0].place) : 0.0;
  const float at = axis.pixel(last);
  if (!ticks.empty() && std::abs(ticks.back().value - last) < 1e-9 * std::max(1.0, std::abs(last))) ticks.pop_back();
  while (!axis.log && ticks.size() > 1 && std::abs(static_cast<double>(at - ticks.back().place)) < 0.6 * std::abs(step))
    ticks.pop_back();
  ticks.push_back(label(last));
  if (first_too && (ticks.empty() || ticks.front().value != std::ceil(axis.low)))
    ticks.insert(ticks.begin(), label(std::ceil(axis.low)));
}

void name_places(std::vector<PageTick>& ticks, const std::vector<std::int64_t>& names) {
  for (PageTick& tick : ticks) {
    const auto place = static_cast<std::size_t>(std::llround(std::max(tick.value, 0.0)));
    if (place < names.size() && !tick.label.empty()) tick.label = rich(std::to_string(names[place]));
  }
}

}  // namespace

Axis placed_axis(const PageAxis& axis, float from, float to) {
  return {axis.low, axis.high, axis.log, from, to, axis.linear};
}

RichText rich_power(int exponent) {
  if (exponent == 0) return rich("1");
  if (exponent == 1) return rich("10");
  return rich("10^{" + fixed_text(exponent, 0) + "}");
}

RichText rich_number(const std::string& text) {
  const std::size_t sign = text.find('e');
  if (sign == std::string::npos) return rich(text);
  const std::string digits = text.substr(0, sign), power = "10^{" + text.substr(sign + 1) + "}";
  if (digits == "1" || digits == "−1") return rich((digits == "1" ? "" : "−") + power);
  return rich(digits + "·" + power);
}

std::vector<PageTick> page_ticks(const PageAxis& spec, float from, float to, bool horizontal, const Page& page) {
  const Axis axis = placed_axis(spec, from, to);
  const double length = std::abs(static_cast<double>(to - from));
  const double least = static_cast<double>(page.style.size()) * (horizontal ? 2.2 : 2.0);
  if (!(length > 0.0) || !(spec.high > spec.low)) return {};
  if (spec.log) {
    for (const bool all : {true, false})
      for (const int every : {1, 2, 3, 5, 10, 20}) {
        std::vector<PageTick> ticks = decade_ticks(axis, all, every);
        if (spec.high_label) {
          // The end takes the place of what it would touch.
          while (!ticks.empty() &&
                 !apart({ticks.back(), {spec.high, to, rich_number(short_text(spec.high))}}, horizontal, page))
            ticks.pop_back();
          ticks.push_back({spec.high, to, rich_number(short_text(spec.high))});
        }
        // One number and the end do not say where the axis begins.
        const bool told =
            ticks.size() > 2 || (ticks.size() > 1 && (!spec.high_label || ticks.front().value <= spec.low));
        if (told && apart(ticks, horizontal, page)) return ticks;
        if (all) break;
      }
    // Less than a decade: linear steps.
  }
  // Nobody reads more numbers than that along an axis, and settle_height() tries pages of a hundred metres.
  constexpr double kMostNumbers = 100.0;
  for (double gap = std::max(least, length / kMostNumbers); gap < 3.0 * length; gap *= 1.25) {
    std::vector<Tick> steps = spec.linear > 0.0 ? symlog_ticks(spec.low, spec.high, spec.linear, length, gap)
                              : spec.whole ? index_ticks(static_cast<std::int64_t>(std::ceil(spec.low)),
                                                         static_cast<std::int64_t>(std::floor(spec.high)), length, gap)
                                           : linear_ticks(spec.low, spec.high, length, gap);
    std::vector<PageTick> ticks = placed(axis, steps);
    if (spec.whole)
      add_last(ticks, axis, std::floor(spec.high), true);
    else if (spec.high_label)
      add_last(ticks, axis, spec.high, false);
    if (spec.whole) name_places(ticks, spec.indices);
    if (apart(ticks, horizontal, page)) return ticks;
  }
  return {};
}

float left_of_axis(const PageAxis& y, float height, const Page& page) {
  if (y.bare) return page.style.pt(kTick);
  float widest = 0.0f;
  for (const PageTick& tick : page_ticks(y, height, 0.0f, false, page))
    widest = std::max(widest, rich_width(page.measure, tick.label, page.style.text()));
  return page.style.pt(kTick + kToLabel) + widest;
}

float beyond_axis(const PageAxis& x, float width, const Page& page) {
  float beyond = 0.0f;
  for (const PageTick& tick : page_ticks(x, 0.0f, width, true, page))
    beyond = std::max(beyond, tick.place + 0.5f * rich_width(page.measure, tick.label, page.style.text()) - width);
  return beyond;
}

float most_beyond_axis(const PageAxis& x, float width, const Page& page) {
  float widest = 0.0f;
  for (const float share : {0.5f, 0.75f, 1.0f, 1.5f})
    for (const PageTick& tick : page_ticks(x, 0.0f, share * width, true, page))
      widest = std::max(widest, rich_width(page.measure, tick.label, page.style.text()));
  return 0.5f * widest;
}

std::string layers_title(const std::vector<std::int64_t>& layers, std::int64_t all) {
  if (layers.empty() || std::ssize(layers) >= all) return "layer";
  const std::string of = " of " + std::to_string(all);
  if (layers.size() == 1) return "layer " + std::to_string(layers.front()) + of;
  if (layers.back() - layers.front() + 1 != std::ssize(layers)) return std::to_string(layers.size()) + of + " layers";
  return "layers " + std::to_string(layers.front()) + "–" + std::to_string(layers.back()) + of;
}

PageAxis layer_axis(const std::vector<std::int64_t>& layers, std::int64_t all) {
  PageAxis axis{-0.7, static_cast<double>(layers.size()) - 0.3};
  axis.whole = true, axis.indices = layers, axis.title = rich(layers_title(layers, all));
  return axis;
}

float below_axis(const PageAxis& x, const Page& page) {
  if (x.bare) return page.style.pt(kTick);
  const float labels = page.style.pt(kTick + kToLabel) + kTextHeight * page.style.size();
  return labels + (x.title.empty() ? 0.0f : page.style.pt(kToTitle) + page.style.title_size() * (kTextHeight + 0.28f));
}

void draw_x_axis(Painter& painter, const Rect& inner, const PageAxis& x, const Page& page) {
  const PageStyle& style = page.style;
  painter.line({inner.x0, inner.y1}, {inner.x1, inner.y1}, ink::kBlack, style.pt(kStroke));
  const float labels = inner.y1 + style.pt(kTick + kToLabel) + kTextHeight * style.size();
  for (const PageTick& tick : page_ticks(x, inner.x0, inner.x1, true, page)) {
    painter.line({tick.place, inner.y1}, {tick.place, inner.y1 + style.pt(kTick)}, ink::kBlack, style.pt(kStroke));
    if (x.bare) continue;
    draw_rich(painter, {tick.place, labels}, tick.label, style.text(), Painter::Align::Centre);
  }
  if (!x.title.empty() && !x.bare)
    draw_rich(painter, {inner.centre_x(), labels + style.pt(kToTitle) + kTextHeight * style.title_size()}, x.title,
              style.title(), Painter::Align::Centre);
}

void draw_y_axis(Painter& painter, const Rect& inner, const PageAxis& y, const Page& page) {
  const PageStyle& style = page.style;
  painter.line({inner.x0, inner.y0}, {inner.x0, inner.y1}, ink::kBlack, style.pt(kStroke));
  for (const PageTick& tick : page_ticks(y, inner.y1, inner.y0, false, page)) {
    painter.line({inner.x0 - style.pt(kTick), tick.place}, {inner.x0, tick.place}, ink::kBlack, style.pt(kStroke));
    if (y.bare) continue;
    draw_rich(painter, {inner.x0 - style.pt(kTick + kToLabel), tick.place + 0.5f * kTextHeight * style.size()},
              tick.label, style.text(), Painter::Align::Right);
  }
}

Range roomy_range(double low, double high, bool log) {
  if (!(high > low)) {
    const double room = log ? 1.1 : std::max(1e-9, 0.01 * std::abs(low));
    return log ? Range{low / room, low * room} : Range{low - room, low + room};
  }
  if (!log) {
    const double room = 0.02 * (high - low);
    return {low - room, high + room};
  }
  const double room = std::pow(high / low, 0.02);
  return {low / room, high * room};
}

}  // namespace headroom
