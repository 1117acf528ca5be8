#include "app/panels/head/head_set.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/plot/quantiles.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kRow = 18.0f, kByLayer = 62.0f;

// Of those that the run has.
std::vector<std::string> set_quantities(const HeadPanelView& view) {
  static constexpr std::array kNames{"sink_score",    "context_rms_relative_mean", "effective_keys_mean",
                                     "value_drain",   "induction_score",           "lambda_mean",
                                     "delta_loss_off"};
  std::vector<std::string> names;
  for (const char* name : kNames)
    if (const HeadColumn& column = view.memory.column(name); column.ref.info != nullptr && column.finite > 0)
      names.emplace_back(name);
  return names;
}

std::vector<std::size_t> set_rows(const HeadPanelView& view) {
  std::vector<std::size_t> rows;
  for (const HeadRef head : view.context.state.view.heads.lasso)
    if (const auto row = row_of(view.run, head)) rows.push_back(*row);
  return rows;
}

void draw_counts_by_layer(HeadPanelView& view, Rect area, const std::vector<std::size_t>& rows) {
  const Theme& theme = view.context.theme();
  Painter& painter = view.context.painter();
  const std::size_t layers = view.run.layers.size();
  std::vector<std::size_t> counts(layers, 0);
  for (const std::size_t row : rows) ++counts[row / view.run.heads.size()];
  const std::size_t most = *std::ranges::max_element(counts);
  const TextStyle hint = theme.hint();
  const float left = std::ceil(view.context.ui.width("by layer", hint)) + 12.0f;
  if (area.width() < left + 60.0f || area.height() < 40.0f) return;
  const Rect labels = area.cut_bottom(16.0f);
  painter.text_at(area.x0, area.centre_y(), "by layer", hint);
  area.x0 += left;
  area.y0 += 6.0f;
  const float step = area.width() / static_cast<float>(layers);
  painter.fill_rect({area.x0, area.y1 - 1.0f, area.x1, area.y1}, theme.faint);
  for (std::size_t l = 0; l < layers; ++l) {
    if (counts[l] == 0) continue;
    const float height = std::round(area.height() * static_cast<float>(counts[l]) / static_cast<float>(most));
    const float x = area.x0 + step * static_cast<float>(l);
    const Rect bar{x, area.y1 - height, x + std::max(1.0f, step - (step >= 4.0f ? 1.0f : 0.0f)), area.y1};
    painter.fill_rect(bar, theme.accent);
    view.context.ui.tooltip(bar, "layer " + std::to_string(view.run.layers[l]) + "  " + std::to_string(counts[l]) +
                                     (counts[l] == 1 ? " head" : " heads"));
  }
  float free_from = area.x0 - 40.0f;
  for (const Tick& tick :
       index_ticks(0, static_cast<std::int64_t>(layers) - 1, static_cast<double>(area.width()), 34.0)) {
    const std::string text = std::to_string(view.run.layers[static_cast<std::size_t>(tick.value)]);
    const float half = 0.5f * view.context.ui.width(text, theme.tick());
    const float x =
        std::clamp(area.x0 + (static_cast<float>(tick.value) + 0.5f) * step, area.x0 + half, area.x1 - half);
    if (x - half < free_from) continue;
    painter.text_at(x, labels.centre_y(), text, theme.tick(), Painter::Align::Centre);
    free_from = x + half + 6.0f;
  }
}

}  // namespace

bool has_set(const HeadPanelView& view) {
  const ViewState& state = view.context.state.view;
  return shown_beside(state) && state.heads.lasso.size() >= 2 && set_rows(view).size() >= 2;
}

std::string set_hint(const HeadPanelView& view) {
  return "median and range of " + std::to_string(view.context.state.view.heads.lasso.size()) + " heads";
}

float set_height(const HeadPanelView& view) {
  return kRow * static_cast<float>(set_quantities(view).size()) + kByLayer;
}

void draw_set_section(HeadPanelView& view, Rect area) {
  const Theme& theme = view.context.theme();
  Painter& painter = view.context.painter();
  const std::vector<std::size_t> rows = set_rows(view);
  const float digits = std::ceil(view.context.ui.measure().width("000.000", Face::Mono, 12.0f));
  const float range_width = std::ceil(view.context.ui.measure().width("000.000 … 000.000", Face::Mono, 11.0f));
  const bool ranges = area.width() >= 90.0f + digits + range_width;
  const float median_right = ranges ? area.x1 - range_width - 10.0f : area.x1;
  float y = area.y0 + 0.5f * kRow;
  for (const std::string& name : set_quantities(view)) {
    const HeadColumn& column = view.memory.column(name);
    const QuantityInfo& info = *column.ref.info;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const std::size_t row : rows)
      if (std::isfinite(column.values[row]))
        low = std::min(low, column.values[row]), high = std::max(high, column.values[row]);
    const double median = median_of(column.values, rows);
    view.context.ui.label({area.x0, y + 4.3f}, info.title, theme.body(theme.text2),
                          std::max(0.0f, median_right - digits - area.x0));
    painter.text_at(median_right, y, number_text(info, median), {Face::Mono, 12.0f, theme.text}, Painter::Align::Right);
    if (ranges && low <= high)
      painter.text_at(area.x1, y, number_text(info, low) + " … " + number_text(info, high),
                      {Face::Mono, 11.0f, theme.text2}, Painter::Align::Right);
    view.context.facts.set("set." + name, median);
    y += kRow;
  }
  draw_counts_by_layer(view, {area.x0, y - 0.5f * kRow, area.x1, area.y1}, rows);
}

}  // namespace headroom
