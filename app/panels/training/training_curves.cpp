#include "app/panels/training/training_curves.h"

#include <algorithm>
#include <any>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "app/panels/parts/head_parts.h"
#include "app/panels/training/training_parts.h"
#include "app/plot/series.h"
#include "core/base/format.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kMarkGap = 14.0f;   // between two marks of what lies off the axis
constexpr double kReached = 0.98;   // of the columns: what the axis reaches
constexpr float kTitleRow = 18.0f;  // above a plot
constexpr double kZoomPerNotch = 1.25;

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

// Curves in pixels are worked out again only where the data, the axes or the room are others: not for a cursor that
// moves.
struct KeptPieces {
  std::shared_ptr<const void> owner;
  const StepSeries* series = nullptr;
  Rect inner;
  std::array<double, 4> ends{};
  std::array<bool, 2> logs{};
  std::vector<std::vector<Vec2>> pieces;
};

const std::vector<std::vector<Vec2>>* pieces_of(Ui& ui, const std::string& id, const PlotFrame& frame,
                                                const StepSeries& series, const std::shared_ptr<const void>& owner) {
  std::any& kept = ui.kept_value(id);
  auto* known = std::any_cast<KeptPieces>(&kept);
  const std::array<double, 4> ends = {frame.x.low, frame.x.high, frame.y.low, frame.y.high};
  const std::array<bool, 2> logs = {frame.x.log, frame.y.log};
  if (known == nullptr || known->owner != owner || known->series != &series || known->inner != frame.inner ||
      known->ends != ends || known->logs != logs) {
    kept = KeptPieces{owner, &series, frame.inner, ends, logs, column_pieces(frame, series)};
    known = std::any_cast<KeptPieces>(&kept);
  }
  return &known->pieces;
}

// What the axis of a plot follows from, and what exceeds it: likewise.
struct KeptRange {
  std::vector<std::pair<const StepSeries*, std::shared_ptr<const void>>> of;
  std::vector<Vec2> points;
  std::array<double, 5> ends{};
  bool log = false;
  Range range{};
  std::optional<OffAxis> off;
};

KeptRange& range_of_plot(Ui& ui, const TrainingPlot& plot, const Axis& steps, bool& fresh) {
  KeptRange now;
  for (const TrainingCurve& curve : plot.curves) now.of.emplace_back(curve.series, curve.owner);
  now.points = plot.points;
  now.ends = {steps.low, steps.high, static_cast<double>(steps.from), static_cast<double>(steps.to),
              plot.line.value_or(-1.0)};
  now.log = steps.log;
  std::any& kept = ui.kept_value("range " + plot.id);
  auto* known = std::any_cast<KeptRange>(&kept);
  fresh = known == nullptr || known->of != now.of || known->points != now.points || known->ends != now.ends ||
          known->log != now.log;
  if (fresh) {
    now.range = training_range(plot, steps);
    kept = std::move(now);
    known = std::any_cast<KeptRange>(&kept);
  }
  return *known;
}

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

// Seeds as one band of their kind: lowest and highest of their columns.
void draw_band_of(Painter& painter, const PlotFrame& frame, const TrainingCurve& curve) {
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

void draw_cursor(PanelContext& context, const PlotFrame& frame, const TrainingPlot& plot) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  const DataClip clip(painter, {frame.inner.x0 - 5.0f, frame.inner.y0, frame.inner.x1 + 5.0f, frame.inner.y1});
  const auto line = [&](std::int64_t step, Color color) -> std::optional<float> {
    const auto at = static_cast<double>(step);
    if ((frame.x.log && at <= 0.0) || at < frame.x.low || at > frame.x.high) return {};
    const float x = frame.x.pixel(at);
    painter.line({x, frame.inner.y0}, {x, frame.inner.y1}, color, 1.0f);
    return x;
  };
  if (state.hover.step) line(*state.hover.step, theme.text3);
  const std::int64_t step = state.training_step();
  if (!line(step, theme.accent)) return;
  for (const TrainingCurve& curve : plot.curves) {
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

void take_pointer(PanelContext& context, const PlotFrame& frame, const TrainingPlot& plot) {
  Ui& ui = context.ui;
  const State& state = context.state;
  const Interaction hit = ui.interact("plot " + plot.id, frame.inner, Cursor::Crosshair);
  const auto step_at = [&](float x) {
    const double value = frame.x.value(std::clamp(x, frame.inner.x0, frame.inner.x1));
    return std::clamp<std::int64_t>(std::llround(value), 0, state.last_training_step());
  };
  if (hit.hovered || hit.held) context.hover.step = step_at(ui.input.pointer.x);
  if (hit.double_clicked) {
    ui.run("training.zoom all");
  } else if ((hit.held || hit.pressed) && step_at(ui.input.pointer.x) != state.training_step()) {
    ui.run("training.step " + std::to_string(step_at(ui.input.pointer.x)));
  }
  if (hit.wheel != 0.0f) {
    // The step under the pointer stays where it is.
    const double factor = std::pow(kZoomPerNotch, -static_cast<double>(hit.wheel));
    const double share = static_cast<double>((ui.input.pointer.x - frame.inner.x0) / frame.inner.width());
    const bool log = frame.x.log;
    const double a = log ? std::log(frame.x.low) : frame.x.low, b = log ? std::log(frame.x.high) : frame.x.high;
    const double at = a + share * (b - a), span = (b - a) * factor;
    double low = at - share * span, high = at + (1.0 - share) * span;
    if (log) low = std::exp(low), high = std::exp(high);
    low = std::max(0.0, std::floor(low));
    high = std::min(static_cast<double>(state.last_training_step()), std::ceil(high));
    if (log && low <= 1.0) low = 0.0;
    if (high - low >= 4.0) ui.run(format("training.zoom %.0f %.0f", low, high));
  }
  ui.context_menu("menu " + plot.id, frame.inner, [&] {
    const TrainingView& view = state.view.training;
    return std::vector<MenuItem>{
        {"Steps on a linear axis", "", "training.x linear", !view.log_steps, false, {}},
        {"Steps on a log axis", "", "training.x log", view.log_steps, false, {}},
        {"Each seed", "", "training.seeds each", !view.seed_range, true, {}},
        {"Seeds as their range", "", "training.seeds range", view.seed_range, false, {}},
        {"All steps", "", "training.zoom all", false, true, {}},
        {"Export the curves as a figure…", "", "figure.screen map", false, true, {}},
    };
  });
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

Range training_range(const TrainingPlot& plot, const Axis& steps) {
  if (plot.natural) return *plot.natural;
  double low = std::numeric_limits<double>::infinity();
  std::vector<double> highs;
  for (const TrainingCurve& curve : plot.curves) {
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

std::optional<OffAxis> off_axis(const PlotFrame& frame, const std::vector<TrainingCurve>& curves) {
  std::optional<OffAxis> off;
  for (const TrainingCurve& curve : curves) {
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

StepAxis step_axis(const State& state) {
  const TrainingView& view = state.view.training;
  StepAxis axis{0.0, static_cast<double>(std::max<std::int64_t>(1, state.last_training_step())), view.log_steps};
  if (view.range && view.range->first < axis.high) {
    axis.low = view.range->first;
    axis.high = std::min(axis.high, view.range->second);
  }
  if (axis.log) {
    axis.low = std::max(1.0, axis.low);
    axis.high = std::max(axis.high, axis.low + 1.0);
  }
  return axis;
}

void draw_training_plot(PanelContext& context, Rect area, const TrainingPlot& plot) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Rect title = area.cut_top(kTitleRow);
  const float named = ui.label_at(title.x0, title.centre_y(), plot.title, theme.plot_title(), title.width());
  const float hint_room = title.width() - named - 14.0f;
  if (hint_room > 60.0f)
    ui.label_at(title.x1, title.centre_y(), plot.hint, theme.hint(), hint_room, Painter::Align::Right);

  std::vector<EndLabel> ends;
  for (const TrainingCurve& curve : plot.curves) {
    if (curve.name.empty() || curve.series->empty()) continue;
    const auto last = last_finite(*curve.series);
    if (!last) continue;
    std::string text = curve.name;
    if (curve.diverged) text += " ✕ " + grouped_text(*curve.diverged);
    ends.push_back({static_cast<double>(curve.series->values()[*last]), text, curve.color});
  }
  PlotRoom room;
  room.left = 40.0f;
  room.right = std::min(std::max(14.0f, end_label_room(ends, ui.measure())), 0.34f * area.width());
  const StepAxis steps = step_axis(context.state);
  AxisSpec x = axis_spec(steps.low, steps.high, steps.log);
  x.whole = !steps.log;
  x.high_label = true;
  Axis axis{steps.low, steps.high, steps.log, area.x0 + 40.0f, area.x1 - room.right};
  if (axis.to - axis.from < 20.0f || area.height() < 44.0f) return;
  bool fresh = false;
  KeptRange& kept = range_of_plot(ui, plot, axis, fresh);
  const Range range = kept.range;
  AxisSpec y = axis_spec(range.low, range.high, plot.log_y);
  y.high_label = true;
  const PlotFrame frame = lay_out_plot(area, x, y, ui.measure(), room);
  if (frame.inner.empty()) return;
  draw_plot_ground(painter, frame, theme);
  for (const TrainingCurve& curve : plot.curves)
    if (curve.band_low != nullptr) draw_band_of(painter, frame, curve);
  LabelSpace space(frame.inner);
  if (plot.line && *plot.line >= frame.y.low && *plot.line <= frame.y.high) {
    const std::vector<ReferenceLine> lines = {{true, *plot.line, theme.text3, LineStyle::Dashed, plot.line_name, 1.0f}};
    draw_lines(painter, frame, lines, space);
  }
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const TrainingCurve& curve = plot.curves[i];
    const auto& pieces =
        *pieces_of(ui, "curve " + plot.id + " " + std::to_string(i), frame, *curve.series, curve.owner);
    if (!curve.name.empty() && curve.width > 1.5f && !curve.dotted)
      draw_pieces(painter, frame, pieces, theme.panel, curve.width + 1.5f, false);
    draw_pieces(painter, frame, pieces, curve.color, curve.width, curve.dotted);
    if (curve.diverged)
      if (const auto last = last_finite(*curve.series)) {
        const auto at = static_cast<double>(curve.series->step(*last));
        if (at >= frame.x.low && at <= frame.x.high) {
          const double value = static_cast<double>(curve.series->values()[*last]);
          draw_cross(painter, frame.at(at, std::clamp(value, frame.y.low, frame.y.high)), curve.color);
        }
      }
  }
  for (const Vec2 point : plot.points)
    if (static_cast<double>(point.x) >= frame.x.low && static_cast<double>(point.x) <= frame.x.high)
      painter.ring(frame.at(static_cast<double>(point.x), static_cast<double>(point.y)), 3.5f, plot.points_color, 1.5f);
  draw_plot_axes(painter, frame, theme);
  for (const std::int64_t step : kept_steps(context.state)) {
    const auto at = static_cast<double>(step);
    if (at >= frame.x.low && at <= frame.x.high && (!frame.x.log || at > 0.0))
      draw_triangle(painter, {frame.x.pixel(at), frame.inner.y1 - 6.0f}, 3.0f, theme.faint);
  }
  if (fresh) kept.off = off_axis(frame, plot.curves);
  if (const auto& off = kept.off) {
    for (const float pixel : off->pixels) draw_triangle(painter, {pixel, frame.inner.y0 + 2.0f}, 3.0f, theme.warn);
    const std::string text =
        "▲ up to " + short_text(static_cast<double>(off->value)) + ", step " + grouped_text(off->step);
    const float width = ui.width(text, theme.hint());
    if (width + 16.0f < frame.inner.width()) {
      const Rect box = Rect::sized(frame.inner.x1 - width - 10.0f, frame.inner.y0 + 10.0f, width + 8.0f, 15.0f);
      painter.fill_rect(box, theme.panel.faded(0.85f), 2.0f);
      painter.text_at(box.x0 + 4.0f, box.centre_y(), text, theme.hint());
    }
    context.facts.set("training." + plot.id + ".off", static_cast<double>(off->value));
  }
  draw_ends(painter, frame, ends);
  draw_cursor(context, frame, plot);
  take_pointer(context, frame, plot);
  context.facts.set("training." + plot.id + ".x0", static_cast<double>(frame.inner.x0));
  context.facts.set("training." + plot.id + ".x1", static_cast<double>(frame.inner.x1));
  context.facts.set("training." + plot.id + ".y", static_cast<double>(frame.inner.centre_y()));
}

}  // namespace headroom
