#include "app/figures/step_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kMarkGap = 14.0f;  // between two marks of what lies off the axis
constexpr double kReached = 0.98;  // of the columns: what the axis reaches

// First and past-the-last index of a pixel column.
std::pair<std::size_t, std::size_t> indices_of(const StepSeries& series, const Axis& x, float from, float to) {
  const auto index = [&](float pixel) {
    const double step = std::ceil(x.value(pixel) - 1e-9);
    return series.index_of(step <= 0.0 ? 0 : static_cast<std::int64_t>(step));
  };
  return {index(from), index(to)};
}

// Called with the pixel of each column of the axis that has values, and their range.
template <typename Body>
void for_each_column(const StepSeries& series, const Axis& x, const Body& body) {
  const int columns = std::max(0, static_cast<int>(std::ceil(x.to - x.from)));
  auto [begin, ignored] = indices_of(series, x, x.from, x.from);
  for (int c = 0; c < columns; ++c) {
    // The last column holds the axis' end too.
    const float from = x.from + static_cast<float>(c), to = c + 1 == columns ? x.to + 0.01f : from + 1.0f;
    const std::size_t end = std::max(begin, indices_of(series, x, from, to).second);
    if (end > begin) body(from + 0.5f, series.range(begin, end), begin, end);
    begin = end;
  }
}

bool shows_value(const Axis& axis, float value) { return std::isfinite(value) && (!axis.log || value > 0.0f); }

void draw_pieces(Painter& painter, const PlotFrame& frame, const std::vector<std::vector<Vec2>>& pieces, Color color,
                 float width, bool dotted) {
  const DataClip clip(painter, frame.inner);
  for (const std::vector<Vec2>& piece : pieces) {
    if (piece.size() == 1) {
      painter.disc(piece[0], 0.5f * std::max(2.0f, width), color);
    } else if (dotted) {
      for (std::size_t i = 1; i < piece.size(); ++i)
        if (i % 2 == 1 || piece.size() < 40) painter.dashed_line(piece[i - 1], piece[i], color, width, 2.0f, 3.0f);
    } else {
      painter.polyline(piece, color, width);
    }
  }
}

void draw_cross(Painter& painter, Vec2 at, Color color) {
  painter.line({at.x - 4.0f, at.y - 4.0f}, {at.x + 4.0f, at.y + 4.0f}, color, 2.0f);
  painter.line({at.x - 4.0f, at.y + 4.0f}, {at.x + 4.0f, at.y - 4.0f}, color, 2.0f);
}

void draw_triangle(Painter& painter, Vec2 top, float size, Color color) {
  const std::array<Vec2, 3> corners{{top, {top.x + size, top.y + 1.6f * size}, {top.x - size, top.y + 1.6f * size}}};
  painter.fill_polygon(corners, color);
}

std::optional<std::size_t> last_finite(const StepSeries& series) {
  for (std::size_t i = series.size(); i-- > 0;)
    if (std::isfinite(series.values()[i])) return i;
  return {};
}

}  // namespace

std::vector<std::vector<Vec2>> column_pieces(const PlotFrame& frame, const StepSeries& series) {
  std::vector<std::vector<Vec2>> pieces;
  if (series.empty() || frame.inner.empty()) return pieces;
  bool open = false;
  const auto add = [&](float x, float value) {
    if (!open) pieces.emplace_back();
    open = true;
    pieces.back().push_back({x, std::clamp(frame.y.pixel(static_cast<double>(value)), -1e6f, 1e6f)});
  };
  const auto [first, last] = indices_of(series, frame.x, frame.x.from, frame.x.to + 0.01f);
  // One point more on each side, so that a curve goes on to the edge.
  const std::size_t begin = first > 0 ? first - 1 : 0, end = std::min(series.size(), last + 1);
  if (static_cast<float>(end - begin) <= 2.0f * frame.inner.width()) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto step = static_cast<double>(series.step(i));
      if (!shows_value(frame.y, series.values()[i]) || (frame.x.log && step <= 0.0))
        open = false;
      else
        add(frame.x.pixel(step), series.values()[i]);
    }
    return pieces;
  }
  for_each_column(series, frame.x, [&](float pixel, LowHigh range, std::size_t, std::size_t) {
    if (range.empty() || !shows_value(frame.y, range.high)) {
      open = false;
      return;
    }
    const float low = frame.y.log && range.low <= 0.0f ? static_cast<float>(frame.y.low) : range.low;
    if (low == range.high) return add(pixel, low);
    // The nearer end first: the polyline does not cross the column twice.
    const float before = open ? pieces.back().back().y : frame.y.pixel(static_cast<double>(low));
    const float to_low = std::abs(frame.y.pixel(static_cast<double>(low)) - before);
    const float to_high = std::abs(frame.y.pixel(static_cast<double>(range.high)) - before);
    add(pixel, to_low <= to_high ? low : range.high);
    add(pixel, to_low <= to_high ? range.high : low);
  });
  return pieces;
}

Range step_range(const StepPlot& plot, const Axis& steps) {
  if (plot.natural) return *plot.natural;
  double low = std::numeric_limits<double>::infinity();
  std::vector<double> highs;
  for (const StepCurve& curve : plot.curves) {
    if (!curve.scales) continue;
    for_each_column(*curve.series, steps, [&](float, LowHigh range, std::size_t, std::size_t) {
      if (range.empty() || (plot.log_y && !(range.high > 0.0f))) return;
      if (!plot.log_y || range.low > 0.0f) low = std::min(low, static_cast<double>(range.low));
      highs.push_back(static_cast<double>(range.high));
    });
  }
  for (const Vec2 point : plot.points) highs.push_back(static_cast<double>(point.y));
  if (highs.empty() || !std::isfinite(low)) return {plot.log_y ? 0.1 : 0.0, 1.0};
  std::ranges::sort(highs);
  // A log axis has room for all of them.
  const auto reached =
      static_cast<std::size_t>(std::lround((plot.log_y ? 1.0 : kReached) * static_cast<double>(highs.size() - 1)));
  double high = std::max(highs[reached], low);
  if (plot.line && *plot.line > 0.0 && *plot.line < 100.0 * high) high = std::max(high, *plot.line);
  if (high <= low) high = low + std::max(1e-6, 0.1 * std::abs(low));
  return nice_range(low, high, plot.log_y);
}

std::optional<OffAxis> off_axis(const PlotFrame& frame, const std::vector<StepCurve>& curves) {
  std::optional<OffAxis> off;
  for (const StepCurve& curve : curves) {
    if (!curve.scales) continue;
    const auto& series = *curve.series;
    for_each_column(series, frame.x, [&](float pixel, LowHigh range, std::size_t begin, std::size_t end) {
      if (range.empty() || static_cast<double>(range.high) <= frame.y.high) return;
      if (!off) off.emplace();
      if (range.high > off->value || off->pixels.empty()) {
        off->value = range.high;
        for (std::size_t i = begin; i < end; ++i)
          if (series.values()[i] == range.high) {
            off->step = series.step(i);
            break;
          }
      }
      const auto near = [&](float x) { return std::abs(x - pixel) < kMarkGap; };
      if (std::ranges::none_of(off->pixels, near)) off->pixels.push_back(pixel);
    });
  }
  return off;
}

// Seeds as one band of their kind: lowest and highest of their columns.
void draw_step_band(Painter& painter, const PlotFrame& frame, const StepCurve& curve) {
  if (curve.band_low == nullptr) return;
  std::vector<double> steps, low, high;
  const StepSeries& above = *curve.band_high;
  for_each_column(*curve.band_low, frame.x, [&](float pixel, LowHigh range, std::size_t begin, std::size_t end) {
    const LowHigh upper = above.range(begin, end);
    if (range.empty() || upper.empty()) return;
    steps.push_back(frame.x.value(pixel));
    low.push_back(static_cast<double>(range.low));
    high.push_back(static_cast<double>(upper.high));
  });
  draw_band(painter, frame, steps, low, high, curve.color.faded(0.16f));
}

void draw_step_curve(Painter& painter, const PlotFrame& frame, const StepCurve& curve,
                     const std::vector<std::vector<Vec2>>& pieces, const Theme& theme) {
  if (!curve.name.empty() && curve.width > 1.5f && !curve.dotted)
    draw_pieces(painter, frame, pieces, theme.panel, curve.width + 1.5f, false);
  draw_pieces(painter, frame, pieces, curve.color, curve.width, curve.dotted);
  const auto last = curve.diverged ? last_finite(*curve.series) : std::nullopt;
  if (!last) return;
  const auto at = static_cast<double>(curve.series->step(*last));
  if (at < frame.x.low || at > frame.x.high) return;
  const double value = static_cast<double>(curve.series->values()[*last]);
  draw_cross(painter, frame.at(at, std::clamp(value, frame.y.low, frame.y.high)), curve.color);
}

void draw_step_points(Painter& painter, const PlotFrame& frame, const StepPlot& plot) {
  for (const Vec2 point : plot.points)
    if (static_cast<double>(point.x) >= frame.x.low && static_cast<double>(point.x) <= frame.x.high)
      painter.ring(frame.at(static_cast<double>(point.x), static_cast<double>(point.y)), 3.5f, plot.points_color, 1.5f);
}

void draw_step_marks(Painter& painter, const PlotFrame& frame, const std::vector<std::int64_t>& kept,
                     const std::optional<OffAxis>& off, const Theme& theme) {
  for (const std::int64_t step : kept) {
    const auto at = static_cast<double>(step);
    if (at >= frame.x.low && at <= frame.x.high && (!frame.x.log || at > 0.0))
      draw_triangle(painter, {frame.x.pixel(at), frame.inner.y1 - 6.0f}, 3.0f, theme.faint);
  }
  if (!off) return;
  for (const float pixel : off->pixels) draw_triangle(painter, {pixel, frame.inner.y0 + 2.0f}, 3.0f, theme.warn);
  const std::string text =
      "▲ up to " + short_text(static_cast<double>(off->value)) + ", step " + grouped_text(off->step);
  const TextStyle style = theme.hint();
  const float width = painter.measure().width(text, style.face, style.size);
  if (width + 16.0f >= frame.inner.width()) return;
  const Rect box = Rect::sized(frame.inner.x1 - width - 10.0f, frame.inner.y0 + 10.0f, width + 8.0f, 15.0f);
  painter.fill_rect(box, theme.panel.faded(0.85f), 2.0f);
  painter.text_at(box.x0 + 4.0f, box.centre_y(), text, style);
}

void draw_step_values(Painter& painter, const PlotFrame& frame, const StepPlot& plot, std::int64_t step,
                      const Theme& theme) {
  for (const StepCurve& curve : plot.curves) {
    if (curve.name.empty()) continue;
    const auto at = curve.series->nearest(step);
    if (!at || !shows_value(frame.y, curve.series->values()[*at])) continue;
    const auto value = static_cast<double>(curve.series->values()[*at]);
    const auto measured = static_cast<double>(curve.series->step(*at));
    if (value > frame.y.high || value < frame.y.low || measured > frame.x.high || (frame.x.log && measured <= 0.0))
      continue;
    painter.disc(frame.at(measured, value), 4.0f, theme.panel);
    painter.disc(frame.at(measured, value), 3.0f, curve.color);
  }
}

std::vector<EndLabel> step_ends(const StepPlot& plot) {
  std::vector<EndLabel> ends;
  for (const StepCurve& curve : plot.curves) {
    const auto last = curve.name.empty() ? std::nullopt : last_finite(*curve.series);
    if (!last) continue;
    const std::string text = curve.name + (curve.diverged ? " ✕ " + grouped_text(*curve.diverged) : std::string());
    ends.push_back({static_cast<double>(curve.series->values()[*last]), text, curve.color});
  }
  return ends;
}

}  // namespace headroom
