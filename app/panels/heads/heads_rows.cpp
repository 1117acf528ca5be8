#include "app/panels/heads/heads_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/plot/quantiles.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"
#include "core/run/missing_value.h"

namespace headroom {
namespace {

constexpr float kHeadWidth = 78.0f, kKindWidth = 80.0f, kLeast = 74.0f, kMost = 110.0f, kInset = 12.0f;

struct Column {
  const HeadColumn* data = nullptr;
  std::string name, title;
  Rect span;            // of the whole column, in x
  float number = 0.0f;  // right end of the numbers
  bool sorted = false, filtered = false;
  double low = 0.0, high = 1.0;  // of histogram and bars
};

struct Rows {
  PanelContext& context;
  RunCache& memory;
  std::span<const std::size_t> rows;
  const HeadRowsOptions& options;
  std::vector<Column> columns;
  Rect head, kind;  // x of the first columns
  std::optional<std::size_t> selected;
};

void place_columns(Rows& table, Rect& area) {
  const HeadRowsOptions& options = table.options;
  Rect rest = area;
  rest.cut_left(kInset);
  table.head = rest.cut_left(kHeadWidth);
  if (options.kind) table.kind = rest.cut_left(kKindWidth);
  rest.cut_right(kInset + 6.0f);
  const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(rest.width() / kLeast)));
  std::size_t first =
      std::min(table.memory.first_column(), options.columns.size() - std::min(options.columns.size(), fitting));
  const std::size_t count = std::min(fitting, options.columns.size());
  table.memory.first_column() = first;
  if (count == 0) return;
  const float width = std::min(kMost, rest.width() / static_cast<float>(count));
  for (std::size_t i = first; i < first + count; ++i) {
    Column column;
    column.name = options.columns[i];
    column.data = &table.memory.column(column.name);
    if (column.data->ref.info == nullptr) continue;
    const QuantityRef& ref = column.data->ref;
    column.title = ref.index == ref.info->default_index ? ref.info->column
                                                        : ref.info->column + ", " + element_title(*ref.info, ref.index);
    column.span = rest.cut_left(width);
    column.number = column.span.x1 - 8.0f;
    column.sorted = options.sort == column.name;
    const std::string full = quantity_title(ref) + (ref.info->percent ? ", %" : "");
    if (table.context.ui.width(full, {Face::SansSemibold, 11.0f, {}}) <= column.span.width() - 22.0f)
      column.title = full;
    if (options.filter != nullptr)
      column.filtered = std::ranges::find(options.filter->quantities(), ref) != options.filter->quantities().end();
    if (column.data->finite > 0) {
      const std::optional<Range>& natural = ref.info->natural;
      const bool whole =
          natural && column.data->low >= natural->low && column.data->high <= natural->high && !ref.info->centred;
      column.low = whole ? natural->low : std::min(0.0, column.data->low);
      column.high = whole ? natural->high : std::max(column.data->high, column.low + 1e-12);
    }
    table.columns.push_back(std::move(column));
  }
}

void draw_column_title(Rows& table, const std::string& name, const std::string& title, Rect cell, bool sorted,
                       bool right) {
  PanelContext& context = table.context;
  const Theme& theme = context.theme();
  const bool can = !table.options.sort.empty();
  const TextStyle style{sorted ? Face::SansSemibold : Face::Sans, 11.0f, sorted ? theme.text : theme.text3};
  const float arrow = sorted ? 10.0f : 0.0f;
  const float room = cell.width() - 10.0f - arrow;
  const float width = std::min(room, context.ui.width(title, style));
  const float x = right ? cell.x1 - 8.0f - arrow - width : cell.x0;
  context.ui.label({x, cell.y0 + 14.0f}, title, style, room);
  if (sorted) {
    const float ax = (right ? cell.x1 - 8.0f : cell.x0 + width + 10.0f) - 3.0f;
    draw_sort_arrow(context.painter(), {ax, cell.y0 + 10.0f}, table.options.descending, theme.text);
  }
  if (!can) return;
  const Interaction hit =
      context.ui.interact("sort " + name, {cell.x0, cell.y0, cell.x1, cell.y0 + 20.0f}, Cursor::Hand);
  if (hit.clicked) context.ui.run("heads.sort " + name);
}

void draw_histogram(Rows& table, const Column& column, Rect area) {
  PanelContext& context = table.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  if (column.data->finite == 0) {
    context.ui.label(
        {area.x1 - std::min(area.width(), context.ui.width("no value", theme.hint())), area.centre_y() + 4.0f},
        "no value", theme.hint(), area.width());
    return;
  }
  std::vector<double> chosen;
  for (const std::size_t row : table.rows) chosen.push_back(column.data->values[row]);
  constexpr std::size_t kBins = 26;
  const double high = column.high > column.low ? column.high : column.low + 1.0;
  const Histogram all = histogram(column.data->values, column.low, high, kBins);
  const Histogram some = histogram(chosen, column.low, high, kBins);
  Axis axis;
  axis.low = column.low, axis.high = high, axis.from = area.x0, axis.to = area.x1;
  draw_bars(painter, vertical_bars(all, axis, area), area, theme.faint);
  draw_bars(painter, vertical_bars(some, axis, area, all.largest()), area, theme.accent);
  if (table.options.filter != nullptr)
    for (const double bound : table.options.filter->bounds(column.data->ref))
      if (bound >= column.low && bound <= high)
        painter.line({axis.pixel(bound), area.y0 - 1.0f}, {axis.pixel(bound), area.y1}, theme.mark, 1.0f);
  if (table.selected) {
    const double mine = column.data->values[*table.selected];
    if (std::isfinite(mine)) {
      const float x = std::clamp(axis.pixel(mine), area.x0, area.x1);
      const std::array<Vec2, 3> triangle = {
          {{x - 3.0f, area.y1 + 6.0f}, {x + 3.0f, area.y1 + 6.0f}, {x, area.y1 + 1.5f}}};
      painter.fill_polygon(triangle, theme.text);
    }
  }
}

// Decimal points line up: every number of a column has the same digits after it.
void draw_cell(Rows& table, const Column& column, std::size_t row, Rect cell) {
  PanelContext& context = table.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const QuantityInfo& info = *column.data->ref.info;
  const double value = column.data->values[row];
  const bool bar = column.sorted || column.filtered;
  if (!std::isfinite(value)) {
    const Rect hatch{cell.x0 + 6.0f, cell.centre_y() - 8.0f, cell.x1 - 8.0f, cell.centre_y() + 8.0f};
    painter.push_clip(hatch);
    for (float x = hatch.x0 - hatch.height(); x < hatch.x1; x += 4.0f)
      painter.line({x, hatch.y1}, {x + hatch.height(), hatch.y0}, theme.hatch, 1.0f);
    painter.pop_clip();
    if (hatch.contains(context.ui.input.pointer) && context.ui.hovered(hatch)) {
      painter.stroke_rect(hatch, theme.text);
      const HeadRef head = head_of_row(*table.memory.run(), row);
      context.ui.tooltip(hatch, head_text(head) + "  " + quantity_title(column.data->ref) + " has no finite value\n" +
                                    missing_reason(*table.memory.run(), column.data->ref, head.layer, head.head) +
                                    "\nCSV, TSV: " + full_text(value) +
                                    " · LaTeX: " + (std::isnan(value) ? "--" : full_text(value)));
    }
    return;
  }
  const Color color = column.sorted ? theme.text : theme.text2;
  const std::string text = number_text(info, value);
  if (context.ui.width(text, {Face::Mono, 11.0f, color}) <= cell.width() - 10.0f)
    painter.text_at(column.number, cell.centre_y(), text,
                    {column.sorted ? Face::MonoSemibold : Face::Mono, 11.0f, color}, Painter::Align::Right);
  else
    context.ui.label({cell.x0 + 2.0f, cell.centre_y() + 4.0f}, text, {Face::Mono, 11.0f, color}, cell.width() - 10.0f);
  if (bar && column.high > column.low) {
    const float full = cell.width() - 18.0f;
    const auto share = static_cast<float>(std::clamp((value - column.low) / (column.high - column.low), 0.0, 1.0));
    painter.fill_rect(
        {column.number - full, cell.y1 - 3.0f, column.number - full + std::max(1.0f, share * full), cell.y1 - 1.0f},
        column.sorted ? theme.accent : theme.text3);
  }
}

void draw_head_row(Rows& table, std::size_t row, Rect line) {
  PanelContext& context = table.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const RunSnapshot& run = *table.memory.run();
  const HeadRef head = head_of_row(run, row);
  const bool mine = table.selected == row;
  const Interaction hit = context.ui.interact("row " + std::to_string(row), line, Cursor::Hand);
  if (mine) {
    painter.fill_rect(line, theme.accent_soft);
    painter.fill_rect({line.x0, line.y0, line.x0 + 3.0f, line.y1}, theme.accent);
  } else if (hit.hovered || context.state.hover.head == head) {
    painter.fill_rect(line, theme.hover.faded(0.6f));
  }
  painter.fill_rect({line.x0 + kInset, line.y1 - 1.0f, line.x1 - kInset, line.y1}, theme.grid);
  if (hit.hovered) context.hover.head = head;
  if (hit.clicked) context.ui.run(select_command(context.state, head));
  painter.text_at(table.head.x0, line.centre_y(), head_text(head), {Face::Mono, 11.0f, theme.text});
  if (!table.kind.empty())
    if (const LayerSnapshot* layer = run.layer(head.layer))
      context.ui.label({table.kind.x0, line.centre_y() + 4.0f}, layer->kind, {Face::Sans, 11.0f, theme.text2},
                       table.kind.width() - 8.0f);
  for (const Column& column : table.columns)
    draw_cell(table, column, row, {column.span.x0, line.y0, column.span.x1, line.y1});
}

std::size_t computed_heads(const RunSnapshot& run) {
  std::size_t computed = 0;
  for (const auto& layer : run.data) computed += layer != nullptr ? run.heads.size() : 0;
  return computed;
}

void draw_medians(Rows& table, Rect area, std::size_t computed) {
  PanelContext& context = table.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  painter.fill_rect({area.x0, area.y0, area.x1, area.y0 + 1.0f}, theme.line);
  area.cut_top(3.0f);
  const bool all_shown = table.rows.size() == computed;  // one line says both
  for (int line = all_shown ? 1 : 0; line < 2; ++line) {
    const Rect row = area.cut_top(19.0f);
    const std::string name =
        "median of " + grouped_text(static_cast<std::int64_t>(line == 0 ? table.rows.size() : computed));
    const float name_room = (table.columns.empty() ? row.x1 : table.columns.front().span.x0) - table.head.x0;
    context.ui.label({table.head.x0, row.centre_y() + 4.0f}, name, theme.hint(), name_room);
    for (const Column& column : table.columns) {
      const std::string text =
          number_text(*column.data->ref.info, line == 0 ? table.memory.table_median(column.name) : column.data->median);
      const TextStyle style{Face::Mono, 11.0f, line == 0 ? theme.text : theme.text2};
      const float room = column.span.width() - 8.0f;
      if (context.ui.width(text, style) <= room)
        painter.text_at(column.number, row.centre_y(), text, style, Painter::Align::Right);
      else
        context.ui.label({column.span.x0 + 2.0f, row.centre_y() + 4.0f}, text, style, room);
    }
  }
}

}  // namespace

void draw_head_rows(PanelContext& context, RunCache& memory, std::span<const std::size_t> rows,
                    const HeadRowsOptions& options, Rect area) {
  const Theme& theme = context.theme();
  Painter& painter = context.painter();
  const RunSnapshot& run = *memory.run();
  Rows table{context, memory, rows, options, {}, {}, {}, {}};
  if (const auto head = context.state.view.selection.head) table.selected = row_of(run, *head);
  place_columns(table, area);

  // Titles and histograms.
  Rect header = area.cut_top(options.histograms ? 56.0f : 22.0f);
  draw_column_title(table, "head", "head", {table.head.x0, header.y0, table.head.x1, header.y1}, options.sort == "head",
                    false);
  if (!table.kind.empty())
    draw_column_title(table, "kind", "kind", {table.kind.x0, header.y0, table.kind.x1, header.y1},
                      options.sort == "kind", false);
  for (const Column& column : table.columns) {
    const Rect cell{column.span.x0, header.y0, column.span.x1, header.y1};
    draw_column_title(table, column.name, column.title, cell, column.sorted, true);
    context.ui.tooltip(
        {cell.x0, cell.y0, cell.x1, cell.y0 + 20.0f},
        column.data->ref.info->long_name + "  " + column.name + "\n" + column.data->ref.info->definition);
    if (options.histograms)
      draw_histogram(table, column, {cell.x0 + 10.0f, header.y0 + 24.0f, column.number, header.y0 + 44.0f});
  }
  painter.fill_rect({header.x0, header.y1 - 1.0f, header.x1, header.y1}, theme.line);
  const std::size_t hidden = options.columns.size() - std::min(options.columns.size(), table.columns.size());
  if (hidden > 0 && header.width() > 120.0f) {
    // More columns than fit: the wheel with Shift goes through them.
    const Rect more{header.x1 - 18.0f, header.y0, header.x1, header.y0 + 20.0f};
    const bool at_end = memory.first_column() + table.columns.size() >= options.columns.size();
    const Interaction hit = context.ui.interact("more columns", more, Cursor::Hand);
    context.ui.icon(Icon::ChevronRight, more.centre(), 9.0f, at_end ? theme.off : theme.text2);
    context.ui.tooltip(more,
                       std::to_string(hidden) + " more columns; a click, or the wheel with Shift, goes through them");
    if (hit.clicked) memory.first_column() = at_end ? 0 : memory.first_column() + 1;
  }
  if (context.ui.input.modifiers.shift && context.ui.hovered(area) && context.ui.input.wheel.y != 0.0f) {
    if (context.ui.input.wheel.y < 0.0f)
      ++memory.first_column();
    else if (memory.first_column() > 0)
      --memory.first_column();
  }

  if (options.medians && area.height() > 100.0f) {
    const std::size_t computed = computed_heads(run);
    draw_medians(table, area.cut_bottom(rows.size() == computed ? 23.0f : 42.0f), computed);
  }
  if (rows.empty()) {
    draw_note(
        context, area.inset(kInset, 8.0f),
        options.filter != nullptr && !options.filter->empty() ? "No head passes the filter." : "There are no heads.");
    return;
  }

  // Whole rows only: the last one that would be cut is left out.
  const float height = options.row_height;
  const auto fitting = static_cast<std::size_t>(std::max(0.0f, std::floor(area.height() / height)));
  area.y1 = area.y0 + static_cast<float>(fitting) * height;
  if (fitting == 0) return;
  if (table.selected && memory.seen_row() != table.selected) {
    const auto at = std::ranges::find(rows, *table.selected);
    const float top = static_cast<float>(at - rows.begin()) * height;
    if (at != rows.end()) context.ui.scroll_to("rows", top, top + height);
  }
  memory.seen_row() = table.selected;
  const float offset = context.ui.scroll("rows", area, static_cast<float>(rows.size()) * height, height);
  const auto first = static_cast<std::size_t>(std::max(0.0f, std::round(offset / height)));
  for (std::size_t i = first; i < std::min(rows.size(), first + fitting); ++i)
    draw_head_row(table, rows[i],
                  Rect::sized(area.x0, area.y0 + static_cast<float>(i - first) * height, area.width(), height));
}

}  // namespace headroom
