// The attention map of the selected head: tiles, labels, profiles, bar, lens and what lies beside it.
#include "app/panels/map/map_panel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/map/map_bar.h"
#include "app/panels/map/map_figure.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_hand.h"
#include "app/panels/map/map_keys.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/map/map_layout.h"
#include "app/panels/map/map_marks.h"
#include "app/panels/map/map_profiles.h"
#include "app/panels/map/map_range.h"
#include "app/panels/map/map_side.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/map/map_tool_bar.h"
#include "app/panels/map/map_view_range.h"
#include "app/panels/map/memory_state.h"
#include "app/panels/panel.h"
#include "app/panels/parts/data_range.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/session/enum_words.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kNotesWidth = 190.0f;  // right of a map, below its bar

std::string cells_text(double from, double to, bool grouped) {
  const auto low = static_cast<std::int64_t>(std::floor(from + 1e-6)),
             high = static_cast<std::int64_t>(std::ceil(to - 1e-6)) - 1;
  return grouped ? grouped_text(low) + "…" + grouped_text(high) : std::to_string(low) + "…" + std::to_string(high);
}

// "L17.H4", zoomed "L17.H4[132…155, 110…133]".
std::string title_of(const MapSubject& subject, const MapLayout& layout) {
  std::string text = head_text(subject.ref);
  if (!layout.whole())
    text += "[" + cells_text(layout.window.query0, layout.window.query1, false) + ", " +
            cells_text(layout.window.key0, layout.window.key1, false) + "]";
  return text;
}

std::string hint_of(const MapSubject& subject) {
  std::string text = subject.layer ? subject.layer->call_name : "";
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : " · ") + part; };
  if (subject.layer) add(subject.layer->kind);
  if (subject.differential) {
    const bool v1 = std::isfinite(subject.layer->lambda_init);
    add(std::string("w = ") + (subject.program->has_first() ? "a¹ − λ·a²" : "−λ·a²") +
        (v1 ? ", λ one number per layer" : ""));
  } else if (subject.data && !subject.data->model_name.empty() &&
             (!subject.layer || subject.data->model_name != subject.layer->kind)) {
    add(subject.data->model_name);
  }
  if (subject.length > 0)
    add(grouped_text(subject.rows > 0 ? subject.rows : subject.length) + " × " +
        grouped_text(subject.keys > 0 ? subject.keys : subject.length));
  return text;
}

// The value of the texel that the map shows for a cell, from the finest tile there is.
std::optional<float> shown_value(PanelContext& context, const MapSubject& subject, std::int32_t level,
                                 std::int64_t query, std::int64_t key) {
  TileKey at = subject.like();
  at.level = level;
  const std::int64_t side = std::int64_t{kTileSize} << level;
  at.row = query / side;
  at.column = key / side;
  const std::shared_ptr<const Tile> tile = context.tiles.find_covering(at);
  if (!tile) return {};
  const std::int64_t texel = std::int64_t{1} << tile->key.level;
  const std::int64_t row = query / texel - tile->key.row * kTileSize,
                     column = key / texel - tile->key.column * kTileSize;
  if (row < 0 || column < 0 || row >= tile->rows || column >= tile->columns) return {};
  return (*tile->values)[static_cast<std::size_t>(row * tile->columns + column)];
}

// What the pointer does on the map or the one beside it; the cell under it.
std::optional<MapLayout::Cell> handle_pointer(PanelContext& context, std::string_view id, const MapLayout& layout,
                                              const MapLayoutRequest& request, const MapSubject& subject) {
  // The map beside has its own origin: the pointer as if it were on the first.
  const auto zoomed = [&](Vec2 pointer, double notches) {
    return zoomed_window(request, pointer + Vec2{lay_out_map(request).map.x0 - layout.map.x0, 0}, notches);
  };
  const std::optional<MapLayout::Cell> cell = hand_on_map(context, id, layout, zoomed);
  if (!subject.has_map()) return cell;
  const MapView& view = context.state.view.map;
  const Selection& selection = context.state.view.selection;
  draw_cell_menu(context, id, layout, [&](const std::string& q, const std::string& k) {
    std::vector<MenuItem> items;
    items.push_back({"Copy value", "query " + q + ", key " + k, "copy " + q + " " + k, false, false, {}});
    items.push_back({"Copy row as CSV", "query " + q, "copy.row " + q, false, false, {}});
    items.push_back({"Copy address", "", "copy.address", false, false, {}});
    items.push_back({"Export this plot as a figure…", "", "figure.screen map", false, true, {}});
    items.push_back({"Save this panel as a picture…", "", "export.panel map", false, false, {}});
    items.push_back({"Pin query and key", q + ", " + k, "pin " + q + " " + k, false, true, {}});
    items.push_back({"Pin key", k, "pin - " + k, false, false, {}});
    if (selection.query || selection.key) items.push_back({"Release", "", "pin none", false, false, {}});
    items.push_back({"Leave key 0 out of the range",
                     selection.key ? "and the pinned key" : "",
                     "map.exclude-sink",
                     view.exclude_sink,
                     true,
                     {}});
    items.push_back({"Automatic range", "", "map.range auto", !view.range, false, {}});
    items.push_back({"Fit the whole map", "", "map.fit", false, false, {}});
    return items;
  });
  return cell;
}

void set_view_facts(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const MapRange& range) {
  Facts& facts = context.facts;
  facts.set("map.cells_visible", static_cast<double>(visible_cells(layout).count()));
  facts.set("map.query0", layout.window.query0);
  facts.set("map.query1", layout.window.query1);
  facts.set("map.key0", layout.window.key0);
  facts.set("map.key1", layout.window.key1);
  facts.set("map.rows", static_cast<double>(layout.row_count()));
  facts.set("map.keys", static_cast<double>(layout.key_count()));
  facts.set("map.call", subject.layer ? subject.layer->call_name : "");
  facts.set("map.kind", std::string(word_of(subject.kind)));
  facts.set("map.scale", std::string(scale_word(range.scale.kind)));
  facts.set("map.range_low", static_cast<double>(range.scale.low));
  facts.set("map.range_high", static_cast<double>(range.scale.high));
  facts.set("map.range", range.statement);
  facts.set("map.threshold", static_cast<double>(range.scale.threshold));
  facts.set("map.x0", static_cast<double>(layout.map.x0));
  facts.set("map.y0", static_cast<double>(layout.map.y0));
  facts.set("map.x1", static_cast<double>(layout.map.x1));
  facts.set("map.y1", static_cast<double>(layout.map.y1));
  facts.set("map.pixels_per_cell", layout.device_pixels_per_cell());
}

// What the numbers under the pointer are.
void set_readout(PanelContext& context, const MapLayout& layout, const MapSubject& subject, std::int32_t level,
                 const MapMarks& marks) {
  const CellRange cells = visible_cells(layout);
  const auto query = marks.query(), key = marks.key();
  std::string readout;
  if (layout.exact()) {
    readout = layout.whole() && layout.device_pixels_per_cell() <= 1.0
                  ? "at 1 cell per pixel, exact"
                  : "at " + grouped_text(cells.query1 - cells.query0) + " × " + grouped_text(cells.key1 - cells.key0) +
                        " cells, exact";
  } else {
    const std::string side = grouped_text(std::int64_t{1} << level);
    readout = "at " + side + " × " + side + " cells per texel, level " + std::to_string(level);
  }
  if (query && key) {
    const double exact = subject.value(*query, *key);
    context.facts.set("map.cell", exact);
    context.facts.set("map.query_token", subject.token(*query));
    context.facts.set("map.key_token", subject.key_token(*key));
    if (const auto value = shown_value(context, subject, level, *query, *key)) {
      context.facts.set("map.value", static_cast<double>(*value));
      if (!layout.exact())
        readout = "pooled " + pooling_title(subject.pooling) + " " + readout_text(static_cast<double>(*value)) + ", " +
                  value_symbol(subject.kind, subject.differential) + " here " + subject.value_text(*query, *key);
    }
  }
  context.facts.set("map.readout", readout);
  context.readouts.map = std::move(readout);
}

void draw_notes(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const MapRange& range,
                const FigureProgress& progress) {
  const Rect& area = layout.notes;
  if (area.empty()) return;
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  float y = area.y0 + 8;
  const auto line = [&](const std::string& text, Color color) {
    if (y + 7 > area.y1) return;
    ui.label_at(area.x0, y, text, {Face::Sans, 11.0f, color}, area.width());
    y += 14.5f;
  };
  const CellRange cells = visible_cells(layout);
  const std::string n = grouped_text(layout.row_count()), m = grouped_text(layout.key_count());
  if (const std::int64_t rows = progress.non_finite_rows; rows > 0)
    line(grouped_text(rows) + (rows == 1 ? " row" : " rows") + " in view not finite", theme.warn);
  if (progress.ready < progress.needed) {
    const std::string tiles = std::to_string(progress.ready) + " of " + std::to_string(progress.needed) + " tiles";
    line(ui.width("sharpening: " + tiles, theme.hint()) <= area.width() ? "sharpening: " + tiles : tiles, theme.text3);
    ui.progress(Rect::sized(area.x0, y - 5, std::min(110.0f, area.width()), 8),
                static_cast<double>(progress.ready) / static_cast<double>(progress.needed));
    y += 10;
  } else if (layout.numbers()) {
    line(subject.is_logits                       ? "logits of the visible cells"
         : range.scale.kind == ScaleKind::Linear ? "· below 0.005"
                                                 : "two significant digits",
         theme.text3);
  } else {
    const std::string seen = grouped_text(cells.query1 - cells.query0) + " × " + grouped_text(cells.key1 - cells.key0),
                      of = "of " + n + " × " + m;
    if (ui.width(seen + " " + of, theme.hint()) <= area.width()) {
      line(seen + " " + of, theme.text3);
    } else {
      line(seen, theme.text3);
      line(of, theme.text3);
    }
  }
  const std::vector<std::int64_t> excluded = excluded_keys(context.state.view.map, context.state.view.selection);
  if (excluded.size() > 1) {
    line("keys 0 and " + grouped_text(excluded[1]) + " excluded from it", theme.text2);
  } else if (!excluded.empty()) {
    line("key 0 excluded from it", theme.text2);
  }
  // Where one line is too long for it, what comes after the comma has its own.
  const std::size_t comma = range.statement.find(", ");
  if (comma != std::string::npos && ui.width(range.statement, theme.hint()) > area.width()) {
    line(range.statement.substr(0, comma + 1), theme.text3);
    line(range.statement.substr(comma + 2), theme.text3);
  } else {
    line(range.statement, theme.text3);
  }
  const std::string strip = "strip at left: key 0", widened = strip + ", widened";
  if (!layout.pinned_strip.empty()) {
    line("strips at left: pinned key, key 0", theme.text3);
  } else {
    line(ui.width(widened, theme.hint()) <= area.width() ? widened : strip, theme.text3);
  }
  if (layout.numbers()) line("thick frame: pointer", theme.text3);
}

// A run file's pooled maps: cells of many tokens, and nothing finer.
void draw_pooled(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const MapRange& range) {
  const std::int64_t blocks = subject.pooled_blocks, side = (subject.length + blocks - 1) / blocks;
  const double cell = static_cast<double>(std::max<std::int64_t>(1, side));
  const MapWindow& w = layout.window;
  draw_pooled_map(context, layout.map, subject.pooled,
                  {static_cast<float>(w.key0 / cell), static_cast<float>(w.query0 / cell),
                   static_cast<float>(w.key1 / cell), static_cast<float>(w.query1 / cell)},
                  range.scale, FigureSlot::Map);
  const Rect& area = layout.notes;
  const std::string size = grouped_text(side);
  const std::string lines[] = {"pooled maps of the run file", size + " × " + size + " tokens a cell", range.statement};
  if (!area.empty()) {
    float y = area.y0 + 8;
    for (const std::string& line : lines) {
      if (y + 7 > area.y1) break;
      context.ui.label_at(area.x0, y, line, context.theme().hint(), area.width());
      y += 14.5f;
    }
  }
  std::string readout = "pooled " + pooling_title(subject.pooling) + ", " + size + " × " + size + " tokens a cell";
  if (const auto& hover = context.hover; hover.query && hover.key) {
    const std::int64_t row = *hover.query / std::max<std::int64_t>(1, side),
                       column = *hover.key / std::max<std::int64_t>(1, side);
    if (row < blocks && column < blocks) {
      const float value = subject.pooled[static_cast<std::size_t>(row * blocks + column)];
      context.facts.set("map.value", static_cast<double>(value));
      readout = "pooled " + pooling_title(subject.pooling) + " " +
                (std::isfinite(value)             ? readout_text(static_cast<double>(value))
                 : subject.causal && column > row ? "masked"
                                                  : "not finite") +
                ", " + size + " × " + size + " tokens";
    }
  }
  context.facts.set("map.readout", readout);
  context.readouts.map = std::move(readout);
}

}  // namespace

void draw_map_panel(PanelContext& context, Rect frame) {
  Painter& painter = context.painter();
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const State& state = context.state;
  const MapView& view = state.view.map;
  const PanelScope scope(context, "map", frame);

  const MapSubject subject = map_subject(state);
  Rect keys = subject.has_map() ? keys_column(frame, state) : Rect{};
  const bool drawn = subject.status == MapStatus::Ready || subject.status == MapStatus::Pooled;
  const bool v1 = subject.layer && subject.differential && std::isfinite(subject.layer->lambda_init);
  MapLayoutRequest request;
  request.pixel_scale = static_cast<double>(painter.scale());
  request.length = std::max<std::int64_t>(1, subject.length);
  request.rows = subject.rows;
  request.keys = subject.keys;
  request.window = view.window;
  request.profiles = subject.has_map();
  request.three_rows = true;
  request.side = !subject.has_map() || !subject.differential ? MapSide::None
                 : view.swipe                                ? MapSide::Swipe
                 : v1                                        ? MapSide::Plots
                                                             : MapSide::None;
  request.overview =
      subject.has_map() && (subject.length < kLongMap || state.view.head.across_model || state.layout.head_folded);
  request.index_width = query_index_width(painter.measure(), request.length);
  // The title's height does not depend on its text.
  Rect body = frame;
  body.cut_top(measure::kPanelTitle);
  if (!keys.empty()) body.x1 = keys.x0;
  request.body = body;
  if (subject.has_map() && state.view.selection.key && *state.view.selection.key != 0)
    request.pinned_strip = !lay_out_map(request).sees_key(*state.view.selection.key);
  const MapLayout layout = lay_out_map(request);
  {
    const bool titled = subject.status != MapStatus::Nothing && subject.status != MapStatus::NoHead;
    [[maybe_unused]] const Rect rest = draw_panel_title(context, frame, "map", "Map",
                                                        !titled ? std::string()
                                                        : drawn ? title_of(subject, layout)
                                                                : head_text(subject.ref),
                                                        titled ? hint_of(subject) : std::string());
  }
  if (!keys.empty()) {  // from where the map and its notes end, below the tool bar
    keys.x0 = std::min(keys.x0, std::max(layout.bar.x1 + 24.0f, layout.map.x1 + kNotesWidth));
    keys.y0 = layout.tool_bar.y1 + 4.0f;
    draw_map_keys(context, keys, subject);
  }

  const std::optional<DataRange> data =
      subject.has_map() && drawn ? range_in_view(context, layout, subject, view) : std::nullopt;
  const MapRange range = map_range(subject, view, data, theme);
  draw_map_tool_bar(context, layout.tool_bar, subject, range, subject.has_map() && layout.numbers());
  if (!drawn) {
    body.y0 = layout.tool_bar.y1 + 8;
    context.facts.set("map.state", subject.headline);
    if (subject.run && lacks_memory(*subject.run))
      draw_memory_state(context, body, *subject.run);
    else
      draw_map_state(context, body, subject);
    return;
  }
  context.facts.set("map.state", std::string(subject.has_map() ? "map" : "pooled"));

  // The pointer first: what it is on is drawn in this frame.
  const bool swipe = request.side == MapSide::Swipe && !layout.side_map.empty();
  const MapLayout side = swipe ? side_layout(layout) : MapLayout{};
  auto cell = handle_pointer(context, "cells", layout, request, subject);
  if (swipe) {
    const auto beside = handle_pointer(context, "cells beside", side, request, subject);
    if (!cell) cell = beside;
  }
  MapMarks marks;
  const auto known = [&](std::optional<std::int64_t> i) {
    return i && *i >= 0 && *i < subject.length ? i : std::nullopt;
  };
  marks.hovered_query = cell ? std::optional(cell->query) : known(state.hover.query);
  marks.hovered_key = cell ? std::optional(cell->key) : known(state.hover.key);
  marks.pinned_query = known(state.view.selection.query);
  marks.pinned_key = known(state.view.selection.key);
  set_view_facts(context, layout, subject, range);

  const std::string symbol = value_symbol(subject.kind, subject.differential);
  if (!subject.has_map()) {
    draw_pooled(context, layout, subject, range);
    draw_hairline(context, layout, subject);
    draw_key_labels(context, layout, subject, marks);
    draw_query_labels(context, layout, subject, marks);
    draw_map_bar(context, layout.bar, range, symbol, true);
    return;
  }

  const auto query = marks.query(), key = marks.key();
  const std::optional<LensLayout> lens = query && key ? lay_out_lens(layout, subject.causal) : std::nullopt;
  MapFigure figure{&subject, range.scale};
  if (lens) figure.avoid = lens->frame, figure.avoid.y1 = lens->caption.y1;
  figure.pinned_key = marks.pinned_key;
  FigureProgress progress = draw_map_figure(context, layout, figure);
  draw_key_labels(context, layout, subject, marks);
  draw_query_labels(context, layout, subject, marks);
  if (swipe) progress.add(draw_swipe(context, layout, subject, swipe_range(subject, view, theme)));

  const auto cross = [&](const MapLayout& on) {
    if (marks.pinned_query && marks.pinned_key && (marks.pinned_query != query || marks.pinned_key != key))
      draw_pin(context, on, *marks.pinned_query, *marks.pinned_key);
    if (query || key)
      draw_crosshair(context, on, {query.value_or(-1), key.value_or(-1), marks.hovered_query.has_value()});
  };
  cross(layout);
  if (lens) draw_lens(context, *lens, subject, {*query, *key, true}, range.scale);
  draw_overview(context, layout.overview, layout, subject, overview_range(subject, view, theme).scale, true);
  draw_map_bar(context, layout.bar, range, symbol, true);
  const RowShown row = draw_row_profile(context, layout, subject, marks, range.scale, swipe);
  draw_column_profile(context, layout, subject, marks, range.scale);
  draw_notes(context, layout, subject, range, progress);
  if (swipe) {
    cross(side);
    draw_swipe_divider(context, layout, subject);
    ui.push_id("beside");
    draw_map_bar(context, layout.side_bar, swipe_range(subject, view, theme), "", false);
    ui.pop_id();
    draw_lambda_over_position(context, layout.side_below, subject, marks);
  } else if (!layout.side.empty()) {
    Rect rest = layout.side;
    const Rect upper = rest.cut_top(std::min(218.0f, 0.42f * rest.height()));
    draw_lambda_by_layer(context, upper, subject);
    rest.cut_top(10);
    draw_norm_gain(context, rest, subject, marks);
  }

  Facts& facts = context.facts;
  facts.set("map.level", static_cast<double>(progress.level));
  facts.set("map.texels_pending", static_cast<double>(progress.texels_pending));
  facts.set("map.tiles_needed", static_cast<double>(progress.needed));
  facts.set("map.tiles_ready", static_cast<double>(progress.ready));
  facts.set("map.non_finite_rows", static_cast<double>(progress.non_finite_rows));
  context.readouts.map_level = progress.level;
  context.readouts.tiles_needed = static_cast<double>(progress.needed);
  context.readouts.tiles_ready = static_cast<double>(progress.ready);
  set_readout(context, layout, subject, progress.level, marks);
  if (row.there) {
    facts.set("map.row", static_cast<double>(row.query));
    facts.set("map.row_sum", row.numbers.sum);
    facts.set("map.row_entropy", row.numbers.entropy);
    facts.set("map.row_l2", row.numbers.l2);
  }
}

const PanelInfo kMapPanel{.id = "map", .title = "Map", .least_width = 300.0f, .draw = draw_map_panel};

}  // namespace headroom
