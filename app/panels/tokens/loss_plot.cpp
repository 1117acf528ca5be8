#include "app/panels/tokens/loss_plot.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/panels/parts/kept.h"
#include "app/plot/plot_frame.h"

namespace headroom {
namespace {

constexpr std::size_t kMedianWidth = 33;
constexpr double kMostLoss = 12.0;
constexpr std::size_t kMostPoints = 20000;

// Medians by token, made once of a run.
const std::vector<double>& kept_medians(RunCache& memory, const Predictions& predictions) {
  return kept_for(memory.piece("median loss"), 0, [&] { return running_median(predictions.loss, kMedianWidth); });
}

}  // namespace

std::vector<double> running_median(std::span<const double> values, std::size_t width) {
  std::vector<double> medians(values.size(), std::nan("")), sorted;
  const std::size_t half = width / 2;
  for (std::size_t i = 0; i < values.size() + half; ++i) {
    if (i < values.size() && std::isfinite(values[i]))
      sorted.insert(std::ranges::upper_bound(sorted, values[i]), values[i]);
    if (i >= width && std::isfinite(values[i - width]))
      sorted.erase(std::ranges::lower_bound(sorted, values[i - width]));
    if (i < half || sorted.empty()) continue;
    const std::size_t middle = sorted.size() / 2;
    medians[i - half] = sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
  }
  return medians;
}

void draw_loss_along(PanelContext& context, RunCache& memory, const Predictions& predictions, std::int64_t token,
                     Rect area) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const std::vector<double>& losses = predictions.loss;
  if (losses.empty()) {
    context.ui.label_at(area.x0, area.y0 + 9.0f, "one token: nothing to predict", theme.hint(), area.width());
    return;
  }
  AxisSpec x, y;
  x.high = static_cast<double>(losses.size());
  x.whole = x.high_label = true;
  y.high = kMostLoss;
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure());
  if (frame.inner.width() < 20.0f || frame.inner.height() < 20.0f) return;
  draw_plot_ground(painter, frame, theme);
  {
    const DataClip clip(painter, frame.inner);
    std::vector<Vec2> points, line;
    const std::size_t step = std::max<std::size_t>(1, losses.size() / kMostPoints);
    for (std::size_t i = 0; i < losses.size(); i += step)
      if (std::isfinite(losses[i]))
        points.push_back(frame.at(static_cast<double>(i + 1), std::min(losses[i], kMostLoss - 0.05)));
    painter.points(points, theme.text3.faded(0.62f), 2.0f);
    const std::vector<double>& medians = kept_medians(memory, predictions);
    const auto thin = std::max<std::size_t>(1, medians.size() / static_cast<std::size_t>(2.0f * frame.inner.width()));
    for (std::size_t i = 0; i < medians.size(); i += thin)
      if (std::isfinite(medians[i])) line.push_back(frame.at(static_cast<double>(i + 1), medians[i]));
    if (line.size() > 1) painter.polyline(line, theme.second, 1.5f);
    const float at = std::round(frame.x.pixel(static_cast<double>(token)));
    painter.fill_rect({at, frame.inner.y0, at + 1.0f, frame.inner.y1}, theme.accent);
  }
  draw_plot_axes(painter, frame, theme);
  const Interaction hit = context.ui.interact("loss along", frame.inner, Cursor::Hand);
  if (!hit.clicked && !hit.dragging) return;
  const double share = static_cast<double>((context.ui.input.pointer.x - frame.inner.x0) / frame.inner.width());
  const auto there = std::clamp<std::int64_t>(std::llround(share * static_cast<double>(losses.size())), 0,
                                              static_cast<std::int64_t>(losses.size()));
  context.ui.run("pin " + std::to_string(there) + " -");
}

}  // namespace headroom
