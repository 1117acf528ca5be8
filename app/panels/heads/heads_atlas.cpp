// The atlas: one cell per head, layers down, coloured by a quantity.
#include "app/panels/heads/heads_atlas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/heads/heads_changes.h"
#include "app/panels/heads/heads_intervals.h"
#include "app/panels/heads/heads_layout.h"
#include "app/panels/heads/layer_strip.h"
#include "app/panels/panel.h"
#include "app/panels/parts/compare_cache.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/quick_layers.h"
#include "app/plot/color_bar.h"
#include "app/session/head_threshold.h"
#include "app/session/importance.h"
#include "core/base/number_text.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

constexpr float kNumberCellWidth = 44.0f, kNumberCellHeight = 14.0f;

// What the atlas needs of the other run where it shows row distances.
struct Distances {
  const RunEntry* b;
  ComparedLayers layers;
  std::shared_ptr<const HeadDifferences> known;  // null: there are none
};

struct Atlas {
  PanelContext& context;
  const RunSnapshot& run;
  const HeadColumn& column;
  ColumnRange range;
  AtlasLayout layout;
  std::vector<std::size_t> order;  // by cell: the row of the head, in [layers, heads] of the run
  std::size_t computed = 0, over = 0;
  std::optional<double> threshold;  // where the range holds it
  std::optional<Distances> distances;

  // What is shown is a signed change, which has no threshold: a layer has a sum.
  [[nodiscard]] bool changes() const { return column.ref.info != nullptr && column.ref.info->linear_to > 0.0; }
  [[nodiscard]] HeadRef head(AtlasCell cell) const {
    return head_of_row(run, order[cell.row * layout.columns + cell.column]);
  }
  [[nodiscard]] bool own_threshold() const { return column.ref.info != nullptr && column.ref.info->threshold; }
  // The row below which the dash of stale layers runs; nothing where no row is below it.
  [[nodiscard]] std::optional<std::size_t> dash() const {
    const std::optional<std::int64_t> layer = stale_below(context.state);
    const auto row = layer ? std::ranges::find(run.layers, *layer) : run.layers.end();
    if (row == run.layers.end() || row + 1 == run.layers.end()) return {};
    return static_cast<std::size_t>(row - run.layers.begin());
  }
  [[nodiscard]] double value(AtlasCell cell) const {
    return column.values[order[cell.row * layout.columns + cell.column]];
  }
  [[nodiscard]] bool measured(std::size_t row) const { return row < run.data.size() && run.data[row] != nullptr; }
  // The row has what is shown: of a distance both runs have the layer.
  [[nodiscard]] bool finished(std::size_t row) const {
    if (!measured(row) || !distances) return measured(row);
    return !distances->layers.stale(run.layers[row]) && distances->b->data &&
           distances->b->data->layer(run.layers[row]);
  }
};

// Heads of a layer in their order, or by value, largest first and those without one last.
std::vector<std::size_t> cell_order(const RunSnapshot& run, const HeadColumn& column, bool by_value) {
  std::vector<std::size_t> order(column.values.size());
  std::iota(order.begin(), order.end(), 0);
  if (!by_value) return order;
  const std::size_t heads = run.heads.size();
  for (std::size_t l = 0; l < run.layers.size(); ++l)
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(l * heads),
                     order.begin() + static_cast<std::ptrdiff_t>((l + 1) * heads), [&](std::size_t a, std::size_t b) {
                       const double x = column.values[a], y = column.values[b];
                       return std::isfinite(y) ? std::isfinite(x) && x > y : std::isfinite(x);
                     });
  return order;
}

void draw_atlas_controls(Atlas& atlas, Rect row) {
  const HeadsState& view = atlas.context.state.view.heads;
  Ui& ui = atlas.context.ui;
  row.x1 = std::min(row.x1, row.x0 + 460.0f);
  Rect left = row;
  const State& state = atlas.context.state;
  const bool corpus = state.corpus() != nullptr;
  if (row.width() >= 220.0f) {
    const Rect right = left.cut_right(corpus ? 110.0f : 84.0f);
    left.cut_right(measure::kGap);
    ui.combo("range", right, "",
             corpus                 ? statistic_title(state)
             : view.range_per_layer ? "per layer"
             : view.by_value        ? "by value"
                                    : "by layer",
             [view, corpus, &state] {
               const auto item = [](const char* title, const char* command, bool checked, bool line = false) {
                 MenuItem entry;
                 entry.title = title, entry.command = command, entry.checked = checked, entry.separator = line;
                 return entry;
               };
               std::vector<MenuItem> items = corpus ? statistic_menu(state) : std::vector<MenuItem>();
               items.insert(
                   items.end(),
                   {item("One colour range for all layers", "heads.range shared", !view.range_per_layer, corpus),
                    item("A colour range for each layer", "heads.range layer", view.range_per_layer),
                    item("Heads in their order", "heads.order index", !view.by_value, true),
                    item("Heads of a layer by value", "heads.order value", view.by_value)});
               return items;
             });
  }
  const std::string quantity = atlas_quantity(atlas.context.state.view);
  if (atlas.context.state.view.centre == CentreView::Importance) {
    ui.combo("colour", left, "loss change", way_info(atlas.context.state.view.importance.colour).title,
             [quantity] { return way_menu(quantity); });
    return;
  }
  const bool comparing = atlas.context.state.view.centre == CentreView::Compare;
  ui.combo("colour", left, "colour", column_heading(quantity), [quantity, comparing] {
    std::vector<MenuItem> menu = quantity_menu("heads.quantity", quantity);
    if (!comparing) return menu;
    MenuItem distance;
    distance.title = column_heading(kRowDistance), distance.detail = kRowDistance;
    distance.command = "heads.quantity " + distance.detail, distance.checked = quantity == kRowDistance;
    menu.insert(menu.begin(), std::move(distance));
    return menu;
  });
}

void draw_labels(const Atlas& atlas, float layer_width) {
  Painter& painter = atlas.context.painter();
  const Theme& theme = atlas.context.theme();
  const AtlasLayout& layout = atlas.layout;
  const State& state = atlas.context.state;
  const std::optional<HeadRef> selected = state.view.selection.head;
  const TextStyle strong{Face::MonoSemibold, 10.0f, theme.text};

  std::vector<std::size_t> rows = thinned_positions(layout.rows, layout.cell_height, 12.0f);
  std::optional<std::size_t> mine;
  if (selected)
    if (const auto row = row_of(atlas.run, *selected)) mine = *row / atlas.run.heads.size();
  if (mine) {
    std::erase_if(rows, [&](std::size_t r) {
      return r != *mine && std::abs(static_cast<float>(r) - static_cast<float>(*mine)) * layout.cell_height < 12.0f;
    });
    if (std::ranges::find(rows, *mine) == rows.end()) rows.push_back(*mine);
  }
  if (const Rect names{layout.layer_labels.x0, layout.grid.y0, layout.grid.x0, layout.grid.y1};
      layout.cell_height > 0.0f && atlas.context.ui.hovered(names)) {
    const float below = atlas.context.ui.input.pointer.y - layout.grid.y0;
    const std::size_t row =
        std::min(layout.rows - 1, static_cast<std::size_t>(std::max(0.0f, below / layout.cell_height)));
    Rect line = layout.row_rect(row);
    line.x0 = names.x0, line.x1 = names.x1;
    if (const std::string tip = layer_tip(state, atlas.run.layers[row]); !tip.empty())
      atlas.context.ui.tooltip(line, tip);
  }
  for (const std::size_t row : rows)
    painter.text_at(layout.grid.x0 - 6.0f, layout.row_rect(row).centre_y(), std::to_string(atlas.run.layers[row]),
                    mine == row ? strong : theme.tick(), Painter::Align::Right);

  const float y = layout.head_labels.centre_y();
  if (state.view.heads.by_value) {
    atlas.context.ui.label({layout.head_labels.x0, y + 4.0f}, "heads by value", theme.hint(),
                           layout.head_labels.width());
  } else {
    const float digits = atlas.context.ui.width(std::to_string(atlas.run.heads.back()), theme.tick());
    for (const std::size_t column : thinned_positions(layout.columns, layout.cell_width, digits + 6.0f)) {
      const std::string text = std::to_string(atlas.run.heads[column]);
      const float x = layout.cell(0, column).centre_x(), half = 0.5f * atlas.context.ui.width(text, theme.tick());
      if (x + half <= layout.head_labels.x1 + 12.0f) painter.text_at(x, y, text, theme.tick(), Painter::Align::Centre);
    }
  }
  // "layer" stands above the numbers of the layers, where it does not reach those of the heads.
  const float left = layout.layer_labels.x0 - 2.0f;
  const float first = layout.cell(0, 0).centre_x() -
                      0.5f * atlas.context.ui.width(std::to_string(atlas.run.heads.front()), theme.tick());
  if (left + layer_width <= (state.view.heads.by_value ? layout.grid.x0 : first) - 3.0f)
    painter.text_at(left, y, "layer", theme.hint());
}

// In cells as wide as that of an atlas that is shown alone.
void draw_cell_numbers(const Atlas& atlas) {
  for (std::size_t row = 0; row < atlas.layout.rows; ++row) {
    if (!atlas.finished(row)) continue;
    for (std::size_t column = 0; column < atlas.layout.columns; ++column) {
      const double value = atlas.column.values[atlas.order[row * atlas.layout.columns + column]];
      if (!std::isfinite(value)) continue;
      const Rect cell = atlas.layout.cell(row, column);
      const Color ink = text_on(scale_color(atlas.range.scale, static_cast<float>(value)));
      atlas.context.painter().text_at(std::round(cell.centre_x()), cell.centre_y(),
                                      number_text(*atlas.column.ref.info, value), {Face::Mono, 10.0f, ink},
                                      Painter::Align::Centre);
    }
  }
}

void draw_cells(Atlas& atlas) {
  Painter& painter = atlas.context.painter();
  const Theme& theme = atlas.context.theme();
  const State& state = atlas.context.state;
  const AtlasLayout& layout = atlas.layout;
  const std::size_t heads = layout.columns;

  // Rows that are finished, in one image; by layer each row is stretched to 0 … 1.
  auto values = std::make_shared<std::vector<float>>(layout.rows * heads, std::nanf(""));
  for (std::size_t row = 0; row < layout.rows; ++row) {
    double low = 0.0, high = 1.0;
    if (state.view.heads.range_per_layer) {
      low = std::numeric_limits<double>::infinity(), high = -low;
      for (std::size_t h = 0; h < heads; ++h) {
        const double value = atlas.column.values[row * heads + h];
        if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
      }
    }
    for (std::size_t h = 0; h < heads; ++h) {
      const double value = atlas.column.values[atlas.order[row * heads + h]];
      const bool scaled = state.view.heads.range_per_layer && std::isfinite(value);
      (*values)[row * heads + h] =
          static_cast<float>(scaled ? (high > low ? (value - low) / (high - low) : 0.5) : value);
    }
  }
  static const std::uint64_t image_id = next_image_id();
  MapImage image;
  image.id = image_id;
  image.generation =
      atlas.column.hash * 4 + (state.view.heads.range_per_layer ? 2 : 0) + (state.view.heads.by_value ? 1 : 0);
  image.width = static_cast<std::int32_t>(heads);
  image.height = static_cast<std::int32_t>(layout.rows);
  image.values = values;
  MapShading shading;
  shading.scale = atlas.range.scale;
  if (state.view.heads.range_per_layer) shading.scale = {theme.sequential(), ScaleKind::Linear, 0.0f, 1.0f, 1e-3f};
  // Distances that are still to come are empty, not missing.
  const bool coming = atlas.distances && !(atlas.distances->known && atlas.distances->known->finished());
  shading.nan = coming ? NanStyle::Masked : NanStyle::Hatched;
  shading.cell_gap = layout.gap;
  shading.gap_color = theme.panel;
  for (std::size_t begin = 0; begin < layout.rows;) {
    std::size_t end = begin;
    while (end < layout.rows && atlas.finished(end) == atlas.finished(begin)) ++end;
    const Rect part{layout.grid.x0, layout.row_rect(begin).y0, layout.grid.x1, layout.row_rect(end - 1).y1};
    if (atlas.finished(begin)) {
      painter.map(part, image, {0.0f, static_cast<float>(begin), static_cast<float>(heads), static_cast<float>(end)},
                  shading);
    } else if (layout.gap > 0.0f && (end - begin) * heads <= 2048) {
      for (std::size_t row = begin; row < end; ++row)
        for (std::size_t h = 0; h < heads; ++h) {
          const Rect cell = layout.cell(row, h);
          const Rect inside{cell.x0, cell.y0, cell.x1 - layout.gap, cell.y1 - layout.gap};
          painter.fill_rect(inside, theme.empty);
          painter.stroke_rect(inside, theme.line);
        }
    } else {
      painter.fill_rect(part, theme.empty);
      painter.stroke_rect(part, theme.line);
    }
    begin = end;
  }

  if (layout.cell_width >= kNumberCellWidth && layout.cell_height >= kNumberCellHeight &&
      state.layout.maximised == "heads" && atlas.column.ref.info != nullptr && !state.view.heads.range_per_layer)
    draw_cell_numbers(atlas);
  if (atlas.threshold) {
    std::vector<std::uint8_t> flags(atlas.order.size());
    for (std::size_t cell = 0; cell < flags.size(); ++cell)
      flags[cell] = atlas.column.values[atlas.order[cell]] > *atlas.threshold ? 1 : 0;
    const float width = layout.gap > 0.0f ? 1.5f : 1.0f, back = 0.5f * layout.gap;
    for (const Edge& edge : contour(layout, flags))
      painter.line({edge.from.x - back, edge.from.y - back}, {edge.to.x - back, edge.to.y - back}, theme.mark, width);
  }
  if (const auto row = atlas.dash()) {
    const float y = layout.row_rect(*row).y1 - 0.5f * layout.gap,
                x1 = layout.counts.empty() ? layout.grid.x1 : layout.counts.x1;
    painter.dashed_line({layout.layer_labels.x0, y}, {x1, y}, theme.warn, 1.5f, 5.0f, 3.0f);
  }
}

// Frames of the lasso, the hovered and the selected head.
void draw_frames(const Atlas& atlas) {
  Painter& painter = atlas.context.painter();
  const Theme& theme = atlas.context.theme();
  const State& state = atlas.context.state;
  const std::size_t heads = atlas.layout.columns;
  const auto cell_of = [&](HeadRef head) -> std::optional<Rect> {
    const auto row = row_of(atlas.run, head);
    if (!row) return {};
    const auto begin = atlas.order.begin() + static_cast<std::ptrdiff_t>(*row / heads * heads);
    const auto at = std::find(begin, begin + static_cast<std::ptrdiff_t>(heads), *row) - begin;
    Rect cell = atlas.layout.cell(*row / heads, static_cast<std::size_t>(at));
    cell.x1 -= atlas.layout.gap, cell.y1 -= atlas.layout.gap;
    return cell;
  };
  for (const HeadRef head : state.view.heads.lasso)
    if (const auto cell = cell_of(head)) painter.stroke_rect(*cell, theme.accent);
  if (state.hover.head)
    if (const auto cell = cell_of(*state.hover.head)) painter.stroke_rect(cell->inset(-1.0f), theme.text, 1.0f);
  if (state.view.selection.head)
    if (const auto cell = cell_of(*state.view.selection.head)) {
      painter.stroke_rect(cell->inset(-3.0f), theme.panel, 1.0f);
      painter.stroke_rect(cell->inset(-2.0f), theme.accent, 2.0f);
      if (cell->width() > 8.0f && cell->height() > 8.0f) painter.stroke_rect(*cell, theme.panel, 1.0f);
    }
}

void draw_counts(const Atlas& atlas) {
  Painter& painter = atlas.context.painter();
  const Theme& theme = atlas.context.theme();
  const AtlasLayout& layout = atlas.layout;
  if (layout.counts.empty() || !atlas.threshold) return;
  const std::string over = threshold_name(atlas.column.ref.info);
  painter.text_at(layout.counts.x1, layout.head_labels.centre_y(), "> " + over, theme.hint(), Painter::Align::Right);
  for (std::size_t row = 0; row < layout.rows; ++row) {
    const Rect line = layout.row_rect(row);
    if (layout.cell_height >= 4.0f)
      painter.fill_rect(
          {layout.counts.x0, std::floor(line.centre_y()), layout.counts.x1, std::floor(line.centre_y()) + 1.0f},
          theme.grid);
    std::size_t count = 0;
    for (std::size_t h = 0; h < layout.columns; ++h)
      if (atlas.column.values[row * layout.columns + h] > *atlas.threshold) ++count;
    const float share = static_cast<float>(count) / static_cast<float>(layout.columns);
    const float inset = std::min(3.0f, 0.15f * layout.cell_height);
    const Rect bar{layout.counts.x0, line.y0 + inset, layout.counts.x0 + share * layout.counts.width(),
                   line.y1 - inset - layout.gap};
    if (count > 0) painter.fill_rect(bar, theme.text3);
    atlas.context.ui.tooltip({layout.counts.x0, line.y0, layout.counts.x1, line.y1},
                             layer_title(atlas.run, atlas.run.layers[row]) + ": " + std::to_string(count) + " of " +
                                 std::to_string(layout.columns) + " heads over " + over);
  }
}

void draw_waiting(const Atlas& atlas) {
  // The most rows in one piece.
  std::size_t first = 0, rows = 0;
  for (std::size_t begin = 0; begin < atlas.layout.rows;) {
    std::size_t end = begin;
    while (end < atlas.layout.rows && !atlas.finished(end)) ++end;
    if (end - begin > rows) first = begin, rows = end - begin;
    begin = std::max(end, begin + 1);
  }
  if (rows == 0) return;
  Painter& painter = atlas.context.painter();
  const Theme& theme = atlas.context.theme();
  const std::size_t last = first + rows - 1;
  const bool complete =
      atlas.run.complete && (!atlas.distances || (atlas.distances->b->data && atlas.distances->b->data->complete));
  const std::string title = "not computed" + std::string(complete ? "" : " yet");
  const std::string layers = (first == last ? "layer " : "layers ") + std::to_string(atlas.run.layers[first]) +
                             (first == last ? "" : "–" + std::to_string(atlas.run.layers[last]));
  const float width =
      std::max(atlas.context.ui.width(title, theme.body(theme.text)), atlas.context.ui.width(layers, theme.hint())) +
      16.0f;
  const float y0 = atlas.layout.row_rect(first).y0, y1 = atlas.layout.row_rect(last).y1;
  if (width > atlas.layout.grid.width() || y1 - y0 < 44.0f) return;
  const Rect box = Rect::sized(std::round(atlas.layout.grid.centre_x() - 0.5f * width),
                               std::round(y0 + 0.4f * (y1 - y0) - 20.0f), width, 40.0f);
  painter.fill_rect(box, theme.panel, measure::kRadius);
  painter.text_at(box.x0 + 8.0f, box.y0 + 13.0f, title, theme.body(theme.text));
  painter.text_at(box.x0 + 8.0f, box.y0 + 29.0f, layers, theme.hint());
}

// The colour bar with the histogram, the threshold to be dragged, what is above it and where uniform attention lies.
void draw_bar(Atlas& atlas, Rect area) {
  PanelContext& context = atlas.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const HeadsState& view = context.state.view.heads;
  const QuantityInfo* info = atlas.column.ref.info;
  if (info == nullptr || area.height() < 40.0f) return;
  if (atlas.changes() && !view.range_per_layer) {
    draw_change_bar(context, atlas.column, atlas.range.scale, area);
    return;
  }
  const bool small = area.height() < 70.0f;
  const ColorScale scale = atlas.range.scale;
  const std::string epsilon =
      (atlas.own_threshold() ? "" : "ε ") + short_text(atlas.threshold.value_or(view.threshold));

  if (view.range_per_layer) {
    ColorBarSpec spec;
    spec.scale = {theme.sequential(), ScaleKind::Linear, 0.0f, 1.0f, 1e-3f};
    spec.vertical = false, spec.thickness = 10.0f, spec.histogram_height = 0.0f;
    area.cut_top(small ? 6.0f : 22.0f);
    draw_color_bar(painter, area.cut_top(28.0f), spec, theme);
    context.ui.label({area.x0, area.y0 + 12.0f}, "0 lowest, 1 highest head of each layer", theme.hint(), area.width());
    return;
  }

  const Histogram counts =
      histogram(atlas.column.sample, static_cast<double>(scale.low), static_cast<double>(scale.high), 40);
  ColorBarSpec spec;
  spec.scale = scale;
  spec.vertical = false, spec.thickness = 10.0f;
  spec.clips_low = atlas.range.clips_low, spec.clips_high = atlas.range.clips_high;
  spec.whole = info->whole;
  if (!small) spec.histogram = &counts;
  spec.histogram_height = small ? 0.0f : 20.0f;
  spec.threshold = atlas.threshold;
  const bool of_values = atlas_of_values(context.state);
  const double null = null_level(atlas.run, atlas.column.ref);
  if (of_values && null >= static_cast<double>(scale.low) && null <= static_cast<double>(scale.high))
    spec.null_level = null;

  Rect text_row = area.cut_top(small ? 14.0f : 16.0f);
  const Rect bar_area = area.cut_top((small ? 0.0f : 20.0f) + 10.0f + 18.0f);
  const ColorBarLayout bar = lay_out_color_bar(bar_area, spec, context.ui.measure());
  draw_color_bar(painter, bar_area, spec, theme);

  // The threshold moves where it is dragged; a click sets it.
  if (atlas.distances) {
    const auto& known = atlas.distances->known;
    if (known && !known->finished())
      context.ui.label_at(text_row.x1, text_row.centre_y(),
                          "among " + grouped_text(static_cast<std::int64_t>(known->known)) + " so far", theme.hint(),
                          text_row.width(), Painter::Align::Right);
    if (area.height() >= 12.0f) {
      const std::string text = atlas.dash() ? "below the dashes: not computed" : "mean over rows; 0 same, 1 disjoint";
      context.ui.label({area.x0, area.y0 + 10.0f}, text, theme.hint(), area.width());
    }
    return;
  }
  const bool counts_over = of_values && threshold_of(info, view), movable = counts_over && !atlas.own_threshold();
  const Rect handle{bar.bar.x0, bar.histogram.empty() ? bar.bar.y0 - 6.0f : bar.histogram.y0, bar.bar.x1,
                    bar.bar.y1 + 2.0f};
  const Interaction hit = movable ? context.ui.interact("threshold", handle, Cursor::ResizeHorizontal) : Interaction{};
  if (hit.held || hit.pressed) {
    const double wanted = color_bar_value(bar, spec, context.ui.input.pointer);
    const double step =
        std::pow(10.0, std::floor(std::log10(std::max(1e-12, static_cast<double>(scale.high - scale.low)))) - 2.0);
    const double rounded = std::round(wanted / step) * step;
    if (rounded != view.threshold) context.ui.run("heads.threshold " + full_text(rounded));
  }
  if (movable) context.ui.tooltip(handle, "Drag to set the threshold ε");

  std::string above;
  if (counts_over) above = std::to_string(atlas.over) + " of " + std::to_string(atlas.computed) + " above";
  const TextStyle count_style = theme.hint(), epsilon_style{Face::SansMedium, 11.0f, theme.text};
  float count_width = context.ui.width(above, count_style);
  if (count_width > text_row.width()) above.clear(), count_width = 0.0f;
  if (!above.empty()) painter.text_at(text_row.x1, text_row.centre_y(), above, count_style, Painter::Align::Right);
  const float epsilon_width = context.ui.width(epsilon, epsilon_style);
  const float room = text_row.x1 - count_width - measure::kGap - epsilon_width;
  if (atlas.threshold && bar.threshold && room >= text_row.x0)
    painter.text_at(std::clamp(*bar.threshold - 0.5f * epsilon_width, text_row.x0, room), text_row.centre_y(), epsilon,
                    epsilon_style);

  if (area.height() < 12.0f) return;
  const float y = area.y0 + 6.0f;
  if (!atlas.run.complete && atlas.run.finished_layers() < atlas.layout.rows) {
    const std::string so_far = std::to_string(atlas.run.finished_layers()) + " of " +
                               std::to_string(atlas.layout.rows) + " layers so far; the range " +
                               (info->natural ? "stays " : "is ") + short_text(static_cast<double>(scale.low)) + " … " +
                               short_text(static_cast<double>(scale.high));
    context.ui.label({area.x0, y + 4.0f}, so_far, theme.hint(), area.width());
  } else if (atlas.dash()) {
    context.ui.label({area.x0, y + 4.0f}, "below the dashes: from before the change", theme.hint(), area.width());
  } else if (spec.null_level) {
    const std::array<Vec2, 3> triangle = {
        {{area.x0, y - 3.0f}, {area.x0 + 8.0f, y - 3.0f}, {area.x0 + 4.0f, y + 4.0f}}};
    painter.fill_polygon(triangle, theme.warn);
    context.ui.label({area.x0 + 12.0f, y + 4.0f},
                     "uniform attention: " + readout_text(null) + " at n = " + grouped_text(atlas.run.length),
                     theme.hint(), area.width() - 12.0f);
  } else if (info->centred) {
    const auto below = std::ranges::count_if(atlas.column.values, [](double value) { return value < 0.0; });
    context.ui.label({area.x0, y + 4.0f}, std::to_string(below) + " of " + std::to_string(atlas.computed) + " below 0",
                     theme.hint(), area.width());
  } else if (!atlas.threshold) {
    context.ui.label({area.x0, y + 4.0f}, unmarked_note(context.state), theme.hint(), area.width());
  }
}

// From 0, the same in both runs, to the head that differs most.
ColumnRange distance_range(const HeadColumn& column, const Theme& theme) {
  ColumnRange range;
  range.scale.map = theme.sequential();
  range.scale.high = column.high > 0.0 ? static_cast<float>(nice_range(0.0, column.high, false).high) : 1.0f;
  return range;
}

std::string distance_tip(const Atlas& atlas, AtlasCell cell) {
  const HeadRef head = atlas.head(cell);
  const double value = atlas.value(cell);
  std::string tip = head_text(head);
  if (!std::isnan(value)) return tip + "\nrow distance  " + number_text(row_distance_info(), value);
  const Distances& distances = *atlas.distances;
  if (!atlas.measured(cell.row)) return tip + "\nA has not computed this layer.";
  if (distances.layers.stale(head.layer))
    return tip + "\nA quick what-if does not compute this layer; a complete run does.";
  if (!atlas.finished(cell.row)) return tip + "\nB has not computed this layer.";
  if (distances.known && distances.known->find(head.layer, head.head)) return tip + "\nIts distance is being computed.";
  return tip + "\nOne of the runs holds no map of this head.";
}

}  // namespace

void draw_atlas(PanelContext& context, RunCache& memory, Rect body) {
  const RunSnapshot& run = *memory.run();
  const State& state = context.state;
  std::optional<Distances> distances;
  if (const RunEntry *a = state.shown(), *b = state.other(); a && b && atlas_quantity(state.view) == kRowDistance)
    distances =
        Distances{b, ComparedLayers(*a, *b), context.compare_cache ? context.compare_cache->distances(state) : nullptr};
  const HeadColumn& column = distances ? memory.distances(distances->known, *state.shown(), *distances->b)
                                       : memory.column(atlas_quantity(state.view));
  Ui& ui = context.ui;
  body = body.inset(measure::kPadding, 8.0f);
  const Rect controls = body.cut_top(measure::kPanelControl);
  body.cut_top(8.0f);
  const float digits = ui.width(std::to_string(run.layers.back()), context.theme().tick());
  const std::optional<AtlasIntervals> intervals = atlas_intervals(state);
  Rect legend;
  if (intervals && body.height() >= 240.0f)
    legend = body.cut_bottom(kIntervalLegend +
                             (body.height() >= 420.0f && intervals->counts.cross > 0 ? kIntervalCounts : 0.0f));
  Atlas atlas{
      context,
      run,
      column,
      distances ? distance_range(column, context.theme()) : column_range(column, context.theme()),
      lay_out_atlas(body, run.layers.size(), run.heads.size(), digits, !distances, state.layout.maximised == "heads"),
      {},
      0,
      0,
      {},
      std::move(distances)};
  atlas.order = cell_order(run, column, state.view.heads.by_value);
  const auto threshold = atlas_of_values(state) ? threshold_of(column.ref.info, state.view.heads) : std::nullopt;
  if (threshold && !atlas.distances && *threshold >= static_cast<double>(atlas.range.scale.low) &&
      *threshold <= static_cast<double>(atlas.range.scale.high))
    atlas.threshold = threshold;
  for (std::size_t l = 0; l < run.layers.size(); ++l)
    if (atlas.finished(l)) atlas.computed += run.heads.size();
  for (const double value : column.values)
    if (threshold && std::isfinite(value) && value > *threshold) ++atlas.over;
  context.facts.set("heads.count_over", static_cast<double>(atlas.over));
  context.facts.set("heads.threshold", threshold.value_or(std::nan("")));
  context.facts.set("heads.quantity", atlas_quantity(state.view));

  draw_atlas_controls(atlas, controls);
  if (column.ref.info == nullptr) {
    draw_note(context, body, "There is no quantity of this name.", "Choose one above.");
    return;
  }
  if (atlas.layout.grid.empty()) return;
  draw_labels(atlas, ui.width("layer", context.theme().hint()));
  draw_cells(atlas);
  if (intervals) draw_half_widths(context, *intervals, atlas.layout, atlas.order, column.values, atlas.range.scale);
  if (intervals && !legend.empty()) draw_interval_legend(context, *intervals, legend);
  draw_counts(atlas);
  if (atlas.changes()) draw_layer_sums(context, run, column, atlas.layout);
  draw_waiting(atlas);

  const Interaction hit = ui.interact("cells", atlas.layout.grid, Cursor::Hand);
  if (hit.hovered) {
    if (const std::optional<AtlasCell> cell = atlas.layout.at(ui.input.pointer)) {
      const HeadRef head = atlas.head(*cell);
      context.hover.head = head;
      if (atlas.distances) {
        context.readouts.row_distance = number_text(row_distance_info(), atlas.value(*cell));
        context.facts.set("heads.distance", context.readouts.row_distance);
      }
      ui.tooltip(atlas.layout.cell(cell->row, cell->column),
                 atlas.distances ? distance_tip(atlas, *cell) : head_tip(run, column.ref, head) + statistic_tip(state));
      if (hit.clicked && atlas.measured(cell->row)) ui.run(select_command(state, head));
    }
  }
  const std::optional<HeadRef> hovered = context.hover.head;
  ui.context_menu("cells menu", atlas.layout.grid, [hovered] {
    std::vector<MenuItem> items(5);
    items[0].title = "Copy the value", items[0].command = "copy";
    items[1].title = "Copy the address of the selection", items[1].command = "copy.address";
    items[2].title = "Show the heads as a table", items[2].command = "heads table", items[2].separator = true;
    items[3].title = "Export this plot as a figure…", items[3].command = "figure.screen heads";
    items[4].title = "Save a picture of this panel…", items[4].command = "export.panel heads";
    if (hovered) {
      MenuItem select;
      select.title = "Select " + head_text(*hovered), select.command = "select " + head_text(*hovered);
      items.insert(items.begin(), std::move(select));
    }
    return items;
  });
  draw_frames(atlas);
  draw_bar(atlas, atlas.layout.bar);
}

}  // namespace headroom
