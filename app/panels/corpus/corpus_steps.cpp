#include "app/panels/corpus/corpus_steps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/plot/plot_frame.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr std::size_t kMostThinCurves = 400;  // heads in the background

void draw_step_slider(PanelContext& context, const CorpusView& view, Rect row) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const std::vector<std::int64_t>& steps = view.file.steps;
  const auto at = static_cast<std::size_t>(view.corpus.statistics->step);
  const std::string text = "step " + grouped_text(steps[at]) + " of " + grouped_text(steps.back()) + ", checkpoint " +
                           std::to_string(at + 1) + " of " + std::to_string(steps.size());
  const float named = std::min(0.6f * row.width(), ui.width(text, theme.value()) + 10.0f);
  ui.label_at(row.x0, row.centre_y(), text, theme.value(), named);
  row.cut_left(named);
  if (steps.size() < 2 || row.width() < 60.0f) return;
  const auto moved = ui.slider("step", row, static_cast<double>(at), 0.0, static_cast<double>(steps.size() - 1));
  if (!moved) return;
  const auto to = static_cast<std::size_t>(std::lround(std::clamp(*moved, 0.0, static_cast<double>(steps.size() - 1))));
  if (to != at) ui.run("corpus.step " + std::to_string(steps[to]));
}

// Of all heads' curves: what the axis has to hold, and their mean by step.
struct StepRange {
  double low = kInfinity, high = -kInfinity;
  std::vector<double> mean;
};
StepRange step_range(const CorpusCurves& curves, std::size_t steps, std::size_t heads) {
  StepRange made;
  for (const std::vector<double>* const all : {&curves.mean, &curves.low, &curves.high})
    for (const double value : *all)
      if (std::isfinite(value)) made.low = std::min(made.low, value), made.high = std::max(made.high, value);
  for (std::size_t s = 0; s < steps; ++s) {
    double sum = 0.0, count = 0.0;
    for (std::size_t head = 0; head < heads; ++head)
      if (const double value = curves.mean[s * heads + head]; std::isfinite(value)) sum += value, count += 1.0;
    made.mean.push_back(count > 0.0 ? sum / count : kNaN);
  }
  return made;
}

void draw_step_curves(PanelContext& context, const CorpusView& view, Rect area) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const CorpusCurves* const curves = view.corpus.curves.get();
  if (curves == nullptr || curves->quantity != quantity_text(view.ref)) {
    draw_note(context, area, view.corpus.reading ? "The curves are being read." : "The series has no such quantity.");
    return;
  }
  const std::vector<std::int64_t>& steps = view.file.steps;
  const std::size_t heads = view.file.layers.size() * view.file.heads.size();
  const auto& [low, high, mean] =
      kept_for(ui.kept_value("steps"), view.corpus.curves, [&] { return step_range(*curves, steps.size(), heads); });
  if (!(low <= high)) {
    draw_note(context, area, "No head has a number of this quantity at any step.");
    return;
  }
  const Range range = nice_range(low, high > low ? high : low + 1e-6, false);
  // Equal distances between checkpoints: steps are often powers.
  AxisSpec x = axis_spec(0.0, static_cast<double>(std::max<std::size_t>(steps.size() - 1, 1)));
  x.labels = false;
  x.grid = false;
  AxisSpec y = axis_spec(range.low, range.high);
  y.title = quantity_title(view.ref) + " by step, " + interval_kind_text(view);
  const PlotFrame frame = lay_out_plot(area, x, y, ui.measure(), {4.0f, 12.0f, {}, 20.0f});
  if (frame.inner.width() < 60.0f || frame.inner.height() < 36.0f) return;
  draw_plot_ground(painter, frame, theme);
  std::vector<double> places(steps.size());
  for (std::size_t s = 0; s < steps.size(); ++s) places[s] = static_cast<double>(s);
  const auto of_head = [&](const std::vector<double>& all, std::size_t head) {
    std::vector<double> own;
    for (std::size_t s = 0; s < steps.size(); ++s) own.push_back(all[s * heads + head]);
    return own;
  };
  const std::size_t every = (heads + kMostThinCurves - 1) / kMostThinCurves;
  for (std::size_t head = 0; head < heads; head += every)
    draw_curve(painter, frame, places, of_head(curves->mean, head), theme.text3.faded(0.5f), 1.0f);
  if (heads > 1) draw_curve(painter, frame, places, mean, theme.text, 2.0f);
  if (view.head) {
    draw_band(painter, frame, places, of_head(curves->low, *view.head), of_head(curves->high, *view.head),
              theme.accent.faded(0.22f));
    draw_curve(painter, frame, places, of_head(curves->mean, *view.head), theme.accent, 2.0f);
  }
  const float cursor = frame.x.pixel(static_cast<double>(view.corpus.statistics->step));
  painter.line({cursor, frame.inner.y0}, {cursor, frame.inner.y1}, theme.accent, 1.0f);
  draw_plot_axes(painter, frame, theme);
  // Steps below their checkpoints, where they do not touch.
  float end = frame.inner.x0 - 100.0f;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const std::string text = short_text(static_cast<double>(steps[s]));
    const float width = ui.width(text, theme.tick()), at = frame.x.pixel(places[s]);
    const float left = std::clamp(at - 0.5f * width, area.x0, area.x1 - width);
    painter.line({at, frame.inner.y1}, {at, frame.inner.y1 + 3.0f}, theme.line, 1.0f);
    if (left < end + 8.0f) continue;
    painter.text_at(left, frame.inner.y1 + 11.0f, text, theme.tick());
    end = left + width;
  }
  const Interaction hit = ui.interact("steps", frame.inner, Cursor::Hand);
  if (!hit.hovered) return;
  const auto to = static_cast<std::size_t>(
      std::lround(std::clamp(frame.x.value(ui.input.pointer.x), 0.0, static_cast<double>(steps.size() - 1))));
  std::string tip = "step " + grouped_text(steps[to]) + "\nmean of all heads  " + view.number(mean[to]);
  if (view.head) {
    const std::size_t at = to * heads + *view.head;
    tip += "\n" + head_text(view.head_at(*view.head)) + "  " + view.number(curves->mean[at]);
    if (std::isfinite(curves->low[at]))
      tip += ", " + view.number(curves->low[at]) + " … " + view.number(curves->high[at]);
  }
  ui.tooltip({frame.x.pixel(places[to]) - 8.0f, frame.inner.y0, frame.x.pixel(places[to]) + 8.0f, frame.inner.y1}, tip);
  if (hit.clicked) ui.run("corpus.step " + std::to_string(steps[to]));
}

}  // namespace

Rect draw_corpus_steps(PanelContext& context, const CorpusView& view, Rect body) {
  if (!view.corpus.statistics || view.corpus.statistics->step < 0) return body;
  context.facts.set("corpus.step",
                    static_cast<double>(view.file.steps[static_cast<std::size_t>(view.corpus.statistics->step)]));
  draw_step_slider(context, view, body.cut_top(measure::kPanelControl));
  body.cut_top(4.0f);
  if (body.height() < 230.0f) return body;
  draw_step_curves(context, view, body.cut_top(std::round(0.46f * body.height())));
  body.cut_top(8.0f);
  return body;
}

}  // namespace headroom
