#include "app/panels/heads/layer_plots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "app/figures/head_levels.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/head_points.h"
#include "app/plot/plot_frame.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr std::size_t kMostDots = 4096, kMostLayerDiscs = 600;  // more heads than discs are points
constexpr float kTitle = 18.0f, kBelow = 8.0f;
constexpr float kGridPitch = 12.0f;  // of layers: closer ones have no lines

struct LayerPlot {
  PanelContext& context;
  const RunSnapshot& run;
  const HeadColumn& column;
  const LayerColumns& columns;
  PlotFrame frame;

  [[nodiscard]] float x_of(std::size_t layer, std::size_t head) const {
    const auto heads = static_cast<float>(run.heads.size());
    return columns.left + columns.pitch * static_cast<float>(layer) +
           columns.size * (static_cast<float>(head) + 0.5f) / heads;
  }
  [[nodiscard]] float middle_of(std::size_t layer) const {
    return columns.left + columns.pitch * static_cast<float>(layer) + 0.5f * columns.size;
  }
  [[nodiscard]] bool shows(double value) const {
    return std::isfinite(value) && (!frame.y.log || value > 0.0) && value >= std::min(frame.y.low, frame.y.high) &&
           value <= std::max(frame.y.low, frame.y.high);
  }
};

bool is_log(const QuantityInfo& info) { return info.log || info.name == "context_rms_relative_mean"; }

AxisSpec value_axis(const HeadColumn& column, bool log) {
  AxisSpec axis = column_axis(column, log);
  axis.least_gap = 20.0f;
  return axis;
}

void draw_bands(const LayerPlot& plot, std::optional<HeadRef> head, Color color) {
  const auto row = head ? row_of(plot.run, *head) : std::nullopt;
  if (!row) return;
  const std::size_t layer = *row / plot.run.heads.size();
  const float x = plot.columns.left + static_cast<float>(layer) * plot.columns.pitch;
  plot.context.painter().fill_rect({x, plot.frame.inner.y0, x + plot.columns.size, plot.frame.inner.y1}, color);
}

void draw_dot(const LayerPlot& plot, std::optional<HeadRef> head, Color color) {
  const auto row = head ? row_of(plot.run, *head) : std::nullopt;
  if (!row || !plot.shows(plot.column.values[*row])) return;
  const std::size_t heads = plot.run.heads.size();
  plot.context.painter().disc({plot.x_of(*row / heads, *row % heads), plot.frame.y.pixel(plot.column.values[*row])},
                              3.5f, color);
}

void draw_plot(LayerPlot& plot, std::optional<HeadRef> hovered) {
  PanelContext& context = plot.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const HeadsState& view = context.state.view.heads;
  draw_plot_ground(painter, plot.frame, theme);
  {
    DataClip clip(painter, plot.frame.inner);
    if (plot.columns.pitch >= kGridPitch)
      for (std::size_t layer = 0; layer < plot.run.layers.size(); ++layer) {
        const float x = std::round(plot.middle_of(layer));
        painter.line({x, plot.frame.inner.y0}, {x, plot.frame.inner.y1}, theme.grid);
      }
    draw_bands(plot, hovered, theme.text.faded(0.07f));
    draw_bands(plot, context.state.view.selection.head, theme.accent.faded(0.12f));
    const std::size_t heads = plot.run.heads.size();
    const std::vector<double> of_layers = layer_quantiles(plot.column.values, heads, std::array{0.5}).front();
    std::vector<Vec2> dots, medians;
    for (std::size_t layer = 0; layer < plot.run.layers.size(); ++layer) {
      const auto values = std::span(plot.column.values).subspan(layer * heads, heads);
      for (std::size_t head = 0; head < heads; ++head)
        if (plot.shows(values[head])) dots.push_back({plot.x_of(layer, head), plot.frame.y.pixel(values[head])});
      const double median = of_layers[layer];
      if (plot.shows(median)) {
        medians.push_back({plot.middle_of(layer), plot.frame.y.pixel(median)});
      } else if (medians.size() > 1) {
        painter.polyline(medians, theme.second, 2.0f);
        medians.clear();
      }
    }
    if (heads > 1 && dots.size() <= kMostLayerDiscs)
      for (const Vec2 dot : dots) painter.disc(dot, 1.75f, theme.text3);
    else if (heads > 1)
      painter.points(dots, theme.text3.faded(dots.size() > kMostDots ? 0.35f : 0.9f), 2.0f);
    if (medians.size() > 1) painter.polyline(medians, theme.second, 2.0f);
    if (medians.size() == 1) painter.disc(medians.front(), 3.0f, theme.second);
    const HeadLevels levels = head_levels(plot.run, plot.column.ref, view.threshold);
    if (levels.threshold && *levels.threshold > plot.frame.y.low && *levels.threshold < plot.frame.y.high) {
      const float y = plot.frame.y.pixel(*levels.threshold);
      painter.line({plot.frame.inner.x0, y}, {plot.frame.inner.x1, y}, theme.mark);
    }
    draw_dot(plot, hovered, theme.text);
    draw_dot(plot, context.state.view.selection.head, theme.accent);
  }
  draw_plot_axes(painter, plot.frame, theme);
}

std::string note_of(const LayerPlot& plot) {
  const HeadsState& view = plot.context.state.view.heads;
  std::string note = plot.run.heads.size() > 1 ? "dots: heads of the layer · line: median" : "line: the head";
  if (plot.column.ref.info->sink_null) note += " · ε = " + short_text(view.threshold);
  if (plot.frame.y.log) note += " · log axis";
  return note;
}

}  // namespace

std::vector<std::string> layer_plot_quantities(RunCache& memory, std::string_view first, std::size_t count) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    const HeadColumn& column = memory.column(name);
    if (names.size() < count && column.ref.info != nullptr && column.finite > 0 &&
        std::ranges::find(names, name) == names.end())
      names.emplace_back(name);
  };
  add(first);
  for (const char* name : {"sink_score", "context_rms_relative_mean", "effective_keys_mean", "logit_max"}) add(name);
  return names;
}

void draw_layer_plots(PanelContext& context, RunCache& memory, Rect area, const LayerColumns& columns,
                      std::span<const std::string> quantities, std::optional<HeadRef> hovered) {
  if (quantities.empty()) return;
  const RunSnapshot& run = *memory.run();
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const float height = std::min(150.0f, std::floor(area.height() / static_cast<float>(quantities.size())));
  const float right = columns.left + columns.pitch * static_cast<float>(run.layers.size() - 1) + columns.size;
  for (const std::string& name : quantities) {
    Rect part = area.cut_top(height);
    const HeadColumn& column = memory.column(name);
    if (column.ref.info == nullptr || part.height() < kTitle + 30.0f) return;
    const Rect title = part.cut_top(kTitle);
    part.cut_bottom(kBelow);
    AxisSpec layers = axis_spec(0.0, static_cast<double>(run.layers.size()));
    layers.labels = false;
    PlotRoom room;
    room.left = columns.left - part.x0, room.right = std::max(0.0f, part.x1 - right), room.bottom = 2.0f;
    room.top = 2.0f;
    LayerPlot plot{
        context, run, column, columns,
        lay_out_plot(part, layers, value_axis(column, is_log(*column.ref.info)), context.ui.measure(), room)};
    if (plot.frame.inner.empty()) return;
    const std::string heading = quantity_heading(column.ref), note = note_of(plot);
    const float wide = context.ui.width(heading, theme.plot_title());
    context.ui.label_at(columns.left, title.centre_y(), heading, theme.plot_title(), right - columns.left);
    const float note_width = context.ui.width(note, theme.hint());
    if (wide + note_width + 24.0f < right - columns.left)
      painter.text_at(right, title.centre_y(), note, theme.hint(), Painter::Align::Right);
    draw_plot(plot, hovered);
  }
}

}  // namespace headroom
