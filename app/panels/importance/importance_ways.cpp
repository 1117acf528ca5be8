#include "app/panels/importance/importance_ways.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/plot/series.h"
#include "app/session/enum_words.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

// Sum of a layer's changes; NaN before all of the layer is there, since a part would look like a small sum.
std::vector<double> sums_by_layer(const LossTable& table) {
  std::vector<double> sums(table.layers.size(), 0.0);
  for (std::size_t i = 0; i < table.delta.size(); ++i) sums[i / table.heads.size()] += table.delta[i];
  return sums;
}

// The widest axis that the discs and the sums need.
AxisSpec shared_axis(const LossSweeps& sweeps) {
  double low = 0.0, high = 0.0;
  const auto take = [&](double value) {
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  };
  for (const AblationWay way : kAblationWays)
    if (const LossTable* table = table_of(sweeps, way)) {
      for (const double delta : table->delta) take(delta);
      for (const double sum : sums_by_layer(*table)) take(sum);
    }
  AxisSpec axis = signed_axis(low, high, kSmallLossChange);
  axis.least_gap = 18.0f;
  return axis;
}

void draw_unfinished(PanelContext& context, const PlotFrame& frame, const LossTable& table) {
  const Theme& theme = context.theme();
  for (std::size_t begin = 0; begin < table.layers.size();) {
    const auto missing = [&](std::size_t layer) {
      const auto row = table.delta.begin() + static_cast<std::ptrdiff_t>(layer * table.heads.size());
      return std::all_of(row, row + static_cast<std::ptrdiff_t>(table.heads.size()),
                         [](double delta) { return std::isnan(delta); });
    };
    std::size_t end = begin;
    while (end < table.layers.size() && missing(end)) ++end;
    if (end > begin) {
      const Rect part = Rect{frame.x.pixel(static_cast<double>(table.layers[begin]) - 0.5), frame.inner.y0,
                             frame.x.pixel(static_cast<double>(table.layers[end - 1]) + 0.5), frame.inner.y1}
                            .intersected(frame.inner);
      draw_hatched(context, part);
      const std::string text = "not yet";
      const float width = context.ui.width(text, theme.hint()) + 12.0f;
      if (part.width() >= width && part.height() >= 20.0f) {
        const Rect box = Rect::sized(part.centre_x() - 0.5f * width, part.centre_y() - 9.0f, width, 18.0f);
        context.painter().fill_rect(box, theme.panel, measure::kRadius);
        context.painter().text_at(box.centre_x(), box.centre_y(), text, {Face::Sans, 11.0f, theme.text},
                                  Painter::Align::Centre);
      }
    }
    begin = std::max(end, begin + 1);
  }
}

void draw_way(PanelContext& context, const ImportanceView& view, AblationWay way, AxisSpec y, bool labels, Rect area) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const LossTable& table = *table_of(view.run->sweeps, way);
  const bool whole = table.done >= table.asked;
  Rect head = area.cut_top(16.0f);
  const TextStyle count = theme.hint();
  const std::string done = done_text(table) + (whole ? "" : " so far");
  TextStyle style = count;
  if (!whole) style.color = theme.accent;
  const float right = context.ui.width(done, style);
  const TextStyle title{Face::SansSemibold, 11.0f, theme.text};
  const float name = context.ui.width(way_info(way).title, title);
  const float left = labels ? 42.0f : 4.0f;
  if (head.width() - left >= name) painter.text_at(head.x0 + left, head.centre_y(), way_info(way).title, title);
  if (head.width() - left >= name + right + 12.0f)
    painter.text_at(head.x1, head.centre_y(), done, style, Painter::Align::Right);
  const auto first = static_cast<double>(table.layers.front()), last = static_cast<double>(table.layers.back());
  AxisSpec x = axis_spec(first - 0.5, last + 0.5);
  x.whole = true;
  y.labels = labels;
  PlotRoom room;
  if (labels) room.left = left;
  const PlotFrame frame = lay_out_plot(area, x, y, context.ui.measure(), room);
  if (frame.inner.width() < 24.0f || frame.inner.height() < 24.0f) return;
  draw_plot_ground(painter, frame, theme);
  LabelSpace space(frame.inner);
  const std::vector<ReferenceLine> lines{{true, 0.0, theme.text3, LineStyle::Solid, "", 1.0f}};
  draw_lines(painter, frame, lines, space);
  draw_unfinished(context, frame, table);
  std::vector<double> layers, discs, axis, sums = sums_by_layer(table);
  for (std::size_t i = 0; i < table.delta.size(); ++i) {
    layers.push_back(static_cast<double>(table.layers[i / table.heads.size()]));
    discs.push_back(table.delta[i]);
  }
  for (const std::int64_t layer : table.layers) axis.push_back(static_cast<double>(layer));
  draw_cloud(painter, frame, layers, discs, theme.text, {}, 3.0f);
  if (table.layers.size() > 1) draw_curve(painter, frame, axis, sums, theme.second, 1.5f);
  if (const auto selected = context.state.view.selection.head)
    if (const auto place = table.place({selected->layer, selected->head}); place && std::isfinite(table.delta[*place]))
      painter.ring(frame.at(layers[*place], table.delta[*place]), 4.0f, theme.accent, 1.5f);
  draw_plot_axes(painter, frame, theme);
  const Interaction hit = context.ui.interact(std::string("way ") + word_of(way), frame.inner, Cursor::Hand);
  if (!hit.hovered) return;
  const std::ptrdiff_t at = nearest_point(frame, layers, discs, context.ui.input.pointer, 7.0f);
  if (at < 0) return;
  const HeadRef hovered = table.head_at(static_cast<std::size_t>(at));
  context.hover.head = hovered;
  const Vec2 p = frame.at(layers[static_cast<std::size_t>(at)], discs[static_cast<std::size_t>(at)]);
  context.ui.tooltip(Rect::sized(p.x - 5.0f, p.y - 5.0f, 10.0f, 10.0f),
                     head_text(hovered) + "\n" + way_info(way).title + "  " +
                         signed_text(discs[static_cast<std::size_t>(at)], 4) + "\nall of its layer, summed  " +
                         signed_text(sums[static_cast<std::size_t>(at) / table.heads.size()], 4));
  if (hit.clicked) context.ui.run(select_command(context.state, hovered));
}

}  // namespace

void draw_importance_ways(PanelContext& context, const ImportanceView& view, Rect area) {
  const Theme& theme = context.theme();
  std::vector<AblationWay> ways;
  for (const AblationWay way : kAblationWays)
    if (table_of(view.run->sweeps, way)) ways.push_back(way);
  if (area.height() < 110.0f || ways.empty()) return;
  Rect title = area.cut_top(20.0f);
  const char* counts[] = {"", "The same heads, one way", "The same heads, two ways", "The same heads, three ways",
                          "The same heads, four ways"};
  const float used =
      context.ui.label_at(title.x0, title.centre_y(), counts[ways.size()], theme.plot_title(), title.width());
  if (title.width() > used + 80.0f)
    context.ui.label_at(title.x1, title.centre_y(),
                        "by layer · points: single heads · line: their sum · one symlog axis", theme.hint(),
                        title.width() - used - 14.0f, Painter::Align::Right);
  const Rect foot = area.cut_bottom(16.0f);
  context.ui.label_at(
      foot.x0, foot.centre_y(),
      "Single heads do not add up: two may stand in for each other. The line is a sum, not the loss with "
      "the layer off.",
      theme.hint(), foot.width());
  area.cut_bottom(2.0f);
  const AxisSpec y = shared_axis(view.run->sweeps);
  const float gap = 12.0f;
  float width = (area.width() - gap * static_cast<float>(ways.size() - 1)) / static_cast<float>(ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const Rect part = area.cut_left(width);
    area.cut_left(gap);
    context.ui.push_id(word_of(ways[i]));
    draw_way(context, view, ways[i], y, true, part);
    context.ui.pop_id();
  }
}

}  // namespace headroom
