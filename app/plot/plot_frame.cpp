#include "app/plot/plot_frame.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "app/plot/text_box.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kTickSize = 10.0f, kTitleSize = 11.0f, kTickMark = 3.0f, kLabelGap = 6.0f;
constexpr float kLabelLine = 16.0f, kTitleLine = 15.0f, kLeastInner = 8.0f;
constexpr float kLabelDown = 10.0f;  // from the axis to the middle of the labels below it
// Labels side by side need air to be read as two; labels above one another have it in their boxes.
constexpr float kAirX = 5.0f, kAirY = 1.0f;

struct AxisLabels {
  std::function<Rect(float pixel, const std::string& label)> rect;  // where a label stands
  float air_x, air_y;
  [[nodiscard]] bool touch(const AxisMark& a, const AxisMark& b) const {
    return !a.label.empty() && !b.label.empty() && a.label_rect.inset(-air_x, -air_y).overlaps(b.label_rect);
  }
};

std::vector<Tick> ticks_of(const Axis& axis, bool whole, double gap) {
  if (!whole || axis.log || !std::isfinite(axis.low) || !std::isfinite(axis.high)) return axis.ticks(gap);
  const double first = std::ceil(std::min(axis.low, axis.high) - 1e-9),
               last = std::floor(std::max(axis.low, axis.high) + 1e-9);
  const double length = std::abs(static_cast<double>(axis.pixel(last)) - static_cast<double>(axis.pixel(first)));
  if (!(std::max(std::abs(first), std::abs(last)) < 9e15)) return {};
  if (first == last) return {{first, grouped_text(static_cast<std::int64_t>(first))}};
  return index_ticks(static_cast<std::int64_t>(first), static_cast<std::int64_t>(last), length, gap);
}

// Marks of an axis; the ends' labels first, then steps so wide that no two labels touch.
std::vector<AxisMark> marks_of(const Axis& axis, const AxisSpec& spec, double gap, const AxisLabels& labels) {
  const double length = std::abs(static_cast<double>(axis.to) - static_cast<double>(axis.from));
  if (!spec.labels || !(length > 0.0) || !std::isfinite(axis.low) || !std::isfinite(axis.high)) return {};
  const auto mark = [&](double value, const std::string& label) {
    AxisMark made{value, axis.pixel(value), label, {}};
    if (!label.empty()) made.label_rect = labels.rect(made.pixel, label);
    return made;
  };
  std::vector<AxisMark> ends;
  if (spec.high_label) ends.push_back(mark(axis.high, short_text(axis.high)));
  if (spec.low_label) ends.push_back(mark(axis.low, short_text(axis.low)));
  if (ends.size() == 2 && labels.touch(ends[0], ends[1])) ends.pop_back();
  for (;; gap *= 1.25) {
    std::vector<AxisMark> marks;
    for (const Tick& tick : ticks_of(axis, spec.whole, gap)) marks.push_back(mark(tick.value, tick.label));
    bool apart = true;
    const AxisMark* before = nullptr;
    for (AxisMark& each : marks) {
      const bool crowded = std::any_of(ends.begin(), ends.end(), [&](const AxisMark& end) {
        return std::abs(each.pixel - end.pixel) < 0.5f || labels.touch(each, end);
      });
      if (crowded) each.label.clear();
      if (each.label.empty()) continue;
      apart = apart && (before == nullptr || !labels.touch(*before, each));
      before = &each;
    }
    if (!apart && gap <= 4.0 * length) continue;
    if (!apart) marks.clear();
    for (const AxisMark& end : ends) {
      std::erase_if(marks, [&](const AxisMark& each) { return std::abs(each.pixel - end.pixel) < 0.5f; });
      marks.push_back(end);
    }
    std::sort(marks.begin(), marks.end(), [](const AxisMark& a, const AxisMark& b) { return a.pixel < b.pixel; });
    return marks;
  }
}

}  // namespace

AxisSpec axis_spec(double low, double high, bool log) {
  AxisSpec spec;
  spec.low = low;
  spec.high = high;
  spec.log = log;
  return spec;
}

AxisSpec signed_axis(double low, double high, double linear) {
  // A little beyond the outermost value, in what the axis shows.
  const auto beyond = [linear](double value) { return symlog_value(symlog_place(value, linear) * 1.06, linear); };
  AxisSpec spec;
  spec.low = beyond(std::min(low, -2.0 * linear));
  spec.high = beyond(std::max(high, 2.0 * linear));
  spec.linear = linear;
  return spec;
}

Rect PlotFrame::right_margin(float gap, float width) const {
  return {inner.x1 + gap, inner.y0, std::max(inner.x1 + gap, std::min(inner.x1 + gap + width, outer.x1)), inner.y1};
}

Rect PlotFrame::top_margin(float gap, float height) const {
  return {inner.x0, std::min(inner.y0 - gap, std::max(inner.y0 - gap - height, outer.y0)), inner.x1, inner.y0 - gap};
}

PlotFrame lay_out_plot(Rect outer, const AxisSpec& x, const AxisSpec& y, const TextMeasure& measure,
                       const PlotRoom& room) {
  PlotFrame frame;
  frame.outer = outer;
  frame.inner = {outer.x0, outer.y0, outer.x0, outer.y0};
  frame.x_grid = x.grid, frame.y_grid = y.grid;
  frame.x = {x.low, x.high, x.log && !(x.linear > 0.0), outer.x0, outer.x0, x.linear};
  frame.y = {y.low, y.high, y.log && !(y.linear > 0.0), outer.y0, outer.y0, y.linear};
  const auto width = [&](const std::string& text) { return measure.width(text, Face::Mono, kTickSize); };

  const float top = outer.y0 + room.top + (y.title.empty() ? 0.0f : kTitleLine);
  // What the labels take below the axis: those of x, or the lower half of y's lowest.
  const float beside = x.labels ? kLabelLine : y.labels ? 6.0f : 1.0f;
  const float below = beside + (x.title.empty() ? 0.0f : kTitleLine);
  const float bottom = outer.y1 - room.bottom.value_or(below);
  if (!(bottom - top >= kLeastInner)) return frame;

  // The y labels say how much room the left needs; their places follow from it.
  frame.y.from = bottom, frame.y.to = top;
  float left = outer.x0;
  const AxisLabels y_labels{[&](float pixel, const std::string& label) {
                              return moved_into(
                                  text_rect_at(left - kLabelGap, pixel, width(label), kTickSize, Painter::Align::Right),
                                  {-1e9f, outer.y0, 1e9f, outer.y1});
                            },
                            0.0f, kAirY};
  const double y_gap = y.least_gap > 0.0f ? static_cast<double>(y.least_gap) : 26.0;
  frame.y_marks = marks_of(frame.y, y, y_gap, y_labels);
  float widest = 0.0f;
  for (const AxisMark& mark : frame.y_marks) widest = std::max(widest, width(mark.label));
  left = outer.x0 + room.left.value_or(widest > 0.0f ? std::ceil(widest) + kLabelGap : 1.0f);
  const float right = outer.x1 - room.right;
  if (!(right - left >= kLeastInner)) {
    frame.y_marks.clear();
    frame.y.from = frame.y.to = outer.y0;
    return frame;
  }
  frame.inner = {left, top, right, bottom};
  for (AxisMark& mark : frame.y_marks) {
    if (mark.label.empty()) continue;
    // A fixed room may be too small for what the labels say: a label that would be cut is not drawn.
    mark.label_rect = y_labels.rect(mark.pixel, mark.label);
    if (mark.label_rect.x0 < outer.x0) mark.label.clear();
  }

  frame.x.from = left, frame.x.to = right;
  const AxisLabels x_labels{
      [&](float pixel, const std::string& label) {
        return moved_into(text_rect_at(pixel, bottom + kLabelDown, width(label), kTickSize, Painter::Align::Centre),
                          {outer.x0, -1e9f, outer.x1, 1e9f});
      },
      kAirX, 0.0f};
  frame.x_marks = marks_of(frame.x, x, x.least_gap > 0.0f ? static_cast<double>(x.least_gap) : 40.0, x_labels);
  for (AxisMark& mark : frame.x_marks) {
    if (mark.label_rect.y1 > outer.y1 + 0.01f || mark.label_rect.y0 < bottom ||
        mark.label_rect.width() > outer.width()) {
      mark.label.clear();
    }
  }

  if (!x.title.empty()) {
    frame.x_title = elide_end(x.title, outer.width(), measure, Face::Sans, kTitleSize);
    const float at = bottom + beside + 7.0f;
    const Rect rect = text_rect_at(frame.inner.centre_x(), at, measure.width(frame.x_title, Face::Sans, kTitleSize),
                                   kTitleSize, Painter::Align::Centre);
    frame.x_title_rect = moved_into(rect, {outer.x0, -1e9f, outer.x1, 1e9f});
    if (rect.y1 > outer.y1 + 0.5f) frame.x_title.clear();
  }
  if (!y.title.empty()) {
    frame.y_title = elide_end(y.title, outer.width(), measure, Face::Sans, kTitleSize);
    frame.y_title_rect =
        text_rect_at(outer.x0, outer.y0 + 6.0f, measure.width(frame.y_title, Face::Sans, kTitleSize), kTitleSize);
    // The highest label stands half a line above the inner rectangle and may reach into the title's line.
    for (AxisMark& mark : frame.y_marks) {
      if (!mark.label.empty() && mark.label_rect.overlaps(frame.y_title_rect)) {
        mark.label_rect = mark.label_rect.shifted(0.0f, frame.y_title_rect.y1 - mark.label_rect.y0);
      }
    }
  }
  return frame;
}

void draw_plot_ground(Painter& painter, const PlotFrame& frame, const Theme& theme) {
  if (frame.inner.empty()) return;
  painter.fill_rect(frame.inner, theme.panel);
  const auto within = [](float pixel, float from, float to) { return pixel > from + 1.0f && pixel < to - 1.0f; };
  for (const AxisMark& mark : frame.x_marks) {
    if (!frame.x_grid || mark.label.empty() || !within(mark.pixel, frame.inner.x0, frame.inner.x1)) continue;
    painter.line({mark.pixel, frame.inner.y0}, {mark.pixel, frame.inner.y1}, theme.grid);
  }
  for (const AxisMark& mark : frame.y_marks) {
    if (!frame.y_grid || mark.label.empty() || !within(mark.pixel, frame.inner.y0, frame.inner.y1)) continue;
    painter.line({frame.inner.x0, mark.pixel}, {frame.inner.x1, mark.pixel}, theme.grid);
  }
}

void draw_plot_axes(Painter& painter, const PlotFrame& frame, const Theme& theme) {
  if (frame.inner.empty()) return;
  const Rect& in = frame.inner;
  painter.line({in.x0, in.y0}, {in.x0, in.y1}, theme.faint);
  painter.line({in.x0, in.y1}, {in.x1, in.y1}, theme.faint);
  const TextStyle style = theme.tick();
  for (const AxisMark& mark : frame.x_marks) {
    painter.line({mark.pixel, in.y1}, {mark.pixel, in.y1 + kTickMark}, theme.faint);
    if (!mark.label.empty()) draw_text_in(painter, mark.label_rect, mark.label, style);
  }
  for (const AxisMark& mark : frame.y_marks) {
    painter.line({in.x0 - kTickMark, mark.pixel}, {in.x0, mark.pixel}, theme.faint);
    if (!mark.label.empty()) draw_text_in(painter, mark.label_rect, mark.label, style);
  }
  if (!frame.x_title.empty()) draw_text_in(painter, frame.x_title_rect, frame.x_title, theme.hint());
  if (!frame.y_title.empty()) draw_text_in(painter, frame.y_title_rect, frame.y_title, theme.hint());
}

}  // namespace headroom
