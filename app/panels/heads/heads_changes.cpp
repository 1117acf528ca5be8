#include "app/panels/heads/heads_changes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "app/plot/color_bar.h"
#include "app/plot/quantiles.h"
#include "app/session/enum_words.h"
#include "app/session/importance.h"
#include "core/base/number_text.h"

namespace headroom {

std::vector<MenuItem> way_menu(const std::string& quantity) {
  std::vector<MenuItem> items;
  for (const AblationWay way : kAblationWays) {
    MenuItem item;
    item.title = way_info(way).title;
    item.command = std::string("importance.colour ") + word_of(way);
    item.checked = quantity == way_info(way).quantity;
    items.push_back(std::move(item));
  }
  return items;
}

void draw_layer_sums(PanelContext& context, const RunSnapshot& run, const HeadColumn& column,
                     const AtlasLayout& layout) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  if (layout.counts.empty()) return;
  std::vector<double> sums(layout.rows, 0.0);
  for (std::size_t i = 0; i < column.values.size(); ++i) sums[i / layout.columns] += column.values[i];
  double largest = 0.0;
  for (const double sum : sums)
    if (std::isfinite(sum)) largest = std::max(largest, std::abs(sum));
  const float zero = std::round(layout.counts.centre_x()), half = 0.5f * layout.counts.width();
  painter.text_at(layout.counts.x1, layout.head_labels.centre_y(), "sum", theme.hint(), Painter::Align::Right);
  painter.fill_rect({zero, layout.grid.y0, zero + 1.0f, layout.grid.y1}, theme.faint);
  for (std::size_t row = 0; row < layout.rows; ++row) {
    if (!std::isfinite(sums[row]) || !(largest > 0.0)) continue;
    const Rect line = layout.row_rect(row);
    const float inset = std::min(3.0f, 0.15f * layout.cell_height);
    const float length = static_cast<float>(std::abs(sums[row]) / largest) * half;
    const bool rises = sums[row] > 0.0;
    painter.fill_rect(
        {rises ? zero : zero - length, line.y0 + inset, rises ? zero + length : zero, line.y1 - inset - layout.gap},
        rises ? theme.first : theme.second);
    context.ui.tooltip({layout.counts.x0, line.y0, layout.counts.x1, line.y1},
                       layer_title(run, run.layers[row]) + ": changes of its heads add up to " +
                           signed_text(sums[row], 4) + "; together they may do otherwise");
  }
}

void draw_change_bar(PanelContext& context, const HeadColumn& column, const ColorScale& scale, Rect area) {
  const Theme& theme = context.theme();
  const bool small = area.height() < 70.0f;
  std::size_t raise = 0, lower = 0;
  for (const double value : column.values) {
    raise += value > kSmallLossChange ? 1 : 0;
    lower += value < -kSmallLossChange ? 1 : 0;
  }
  context.facts.set("heads.raise", static_cast<double>(raise));
  context.facts.set("heads.lower", static_cast<double>(lower));
  const Histogram counts = symlog_histogram(column.sample, -static_cast<double>(scale.high),
                                            static_cast<double>(scale.high), static_cast<double>(scale.threshold), 40);
  ColorBarSpec spec;
  spec.scale = scale;
  spec.vertical = false;
  spec.thickness = 10.0f;
  if (!small) spec.histogram = &counts;
  spec.histogram_height = small ? 0.0f : 20.0f;
  const Rect text_row = area.cut_top(small ? 14.0f : 16.0f);
  draw_color_bar(context.painter(), area.cut_top((small ? 0.0f : 20.0f) + 10.0f + 18.0f), spec, theme);
  if (column.finite > 0)
    context.ui.label_at(text_row.x0, text_row.centre_y(),
                        std::to_string(raise) + " raise, " + std::to_string(lower) + " lower it by more than 0.01",
                        theme.hint(), text_row.width());
  if (area.height() >= 12.0f)
    context.ui.label({area.x0, area.y0 + 10.0f}, "nats; orange: the loss rises without it", theme.hint(), area.width());
}

}  // namespace headroom
