// What lies on and round the maps of a pair: pointer, marks, captions, controls, the swipe's divider, facts.
#include "app/panels/compare/compare_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/compare/compare_maps.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_hand.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/map/map_marks.h"
#include "app/panels/map/map_tool_bar.h"
#include "app/panels/panel.h"
#include "core/base/format.h"
#include "core/base/number_text.h"

namespace headroom {

PairLayoutRequest pair_layout_request(PanelContext& context, Rect body, const MapPair& pair, CompareMode mode) {
  PairLayoutRequest request;
  request.body = body;
  request.pixel_scale = static_cast<double>(context.painter().scale());
  const MapExtent extent = pair.extent();
  request.length = extent.length;
  request.rows = extent.rows;
  request.keys = extent.keys;
  request.window = context.state.view.map.window;
  request.single = mode != CompareMode::SideBySide;
  request.index_width = query_index_width(context.ui.measure(), request.length);
  return request;
}

std::optional<MapLayout::Cell> pair_pointer(PanelContext& context, std::string_view id, const MapLayout& layout) {
  if (layout.map.empty()) return {};
  const auto zoomed = [&](Vec2 pointer, double notches) { return linked_zoom(layout, pointer, notches); };
  const std::optional<MapLayout::Cell> cell = hand_on_map(context, id, layout, zoomed);
  draw_cell_menu(context, id, layout, [&](const std::string& q, const std::string& k) {
    std::vector<MenuItem> items;
    items.push_back({"Pin query and key", q + ", " + k, "pin " + q + " " + k, false, false, {}});
    items.push_back({"Pin key", k, "pin - " + k, false, false, {}});
    items.push_back({"Copy value", "of the run shown", "copy " + q + " " + k, false, false, {}});
    items.push_back(
        {"Leave key 0 out of the range", "", "map.exclude-sink", context.state.view.map.exclude_sink, true, {}});
    items.push_back({"Export the comparison as a figure…", "", "figure.screen map", false, true, {}});
    items.push_back({"Swap the two runs", "", "compare.swap", false, false, {}});
    items.push_back({"Fit the whole map", "", "map.fit", false, false, {}});
    return items;
  });
  return cell;
}

MapMarks pair_marks(const PanelContext& context, const MapExtent& extent, std::optional<MapLayout::Cell> cell) {
  const auto known = [](std::optional<std::int64_t> i, std::int64_t count) {
    return i && *i >= 0 && *i < count ? i : std::nullopt;
  };
  MapMarks marks;
  marks.hovered_query = cell ? std::optional(cell->query) : known(context.state.hover.query, extent.row_count());
  marks.hovered_key = cell ? std::optional(cell->key) : known(context.state.hover.key, extent.key_count());
  marks.pinned_query = known(context.state.view.selection.query, extent.row_count());
  marks.pinned_key = known(context.state.view.selection.key, extent.key_count());
  return marks;
}

void draw_pair_cross(PanelContext& context, const MapLayout& layout, const MapMarks& marks) {
  if (layout.map.empty()) return;
  const auto query = marks.query(), key = marks.key();
  if (marks.pinned_query && marks.pinned_key && (marks.pinned_query != query || marks.pinned_key != key))
    draw_pin(context, layout, *marks.pinned_query, *marks.pinned_key);
  if (query || key)
    draw_crosshair(context, layout, {query.value_or(-1), key.value_or(-1), marks.hovered_query.has_value()});
}

void draw_caption(PanelContext& context, const MapLayout& layout, bool causal, std::span<const CaptionLine> lines) {
  for (std::size_t count = std::min(lines.size(), kCaptionLines); count > 0; --count) {
    const float most = 0.62f * layout.map.width();
    float width = 0.0f;
    for (std::size_t i = 0; i < count; ++i)
      width = std::max(width, std::min(most, context.ui.width(lines[i].text, lines[i].style)));
    const Rect corner = masked_corner(layout, causal, width, kCaptionLine * static_cast<float>(count));
    if (corner.empty() || width < kCaptionLeast) continue;
    // A ground of its own, as far as the map's corner: the crosshair stops there.
    context.painter().fill_rect({corner.x0 - 5.0f, layout.map.y0, layout.map.x1, corner.y1 + 3.0f},
                                context.theme().empty);
    float y = corner.y0 + 0.5f * kCaptionLine;
    for (std::size_t i = 0; i < count; ++i, y += kCaptionLine)
      context.ui.label_at(corner.x1, y, lines[i].text, lines[i].style, width, Painter::Align::Right);
    return;
  }
}

void draw_map_note(PanelContext& context, const MapLayout& layout, std::string_view headline, std::string_view why,
                   bool warn) {
  const Theme& theme = context.theme();
  const Rect inner = layout.map.inset(14.0f, 10.0f);
  if (inner.width() < 50.0f || inner.height() < 18.0f) {
    context.ui.tooltip(layout.map, std::string(headline) + "\n" + std::string(why));
    return;
  }
  const float line = 16.0f;
  const int head_lines = std::max(1, static_cast<int>(inner.height() / line));
  const float room = inner.width() - (warn ? 18.0f : 0.0f);
  const TextStyle head = theme.body(warn ? theme.warn : theme.text2);
  if (warn) context.ui.icon(Icon::Warning, {inner.x0 + 6.0f, inner.y0 + 8.0f}, 12.0f, theme.warn);
  const float used =
      context.ui.paragraph({inner.x0 + (warn ? 18.0f : 0.0f), inner.y0}, headline, head, room, line, true, head_lines);
  const int more = static_cast<int>((inner.height() - used - 6.0f) / line);
  if (more > 0 && !why.empty())
    context.ui.paragraph({inner.x0, inner.y0 + used + 6.0f}, why, theme.hint(), inner.width(), line, true, more);
}

void draw_pair_tool_bar(PanelContext& context, Rect bar, std::span<const Choice> modes, const MapPair& pair,
                        bool difference) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const MapView& view = context.state.view.map;
  const ScaleKind kind = difference ? pair.difference.scale.kind : pair.range.scale.kind;
  const std::string scale = scale_title(kind);
  const std::string pool = difference ? "mean" : pooling_title(view.pooling);
  const auto combo_width = [&](std::string_view label, std::string_view value) {
    return std::ceil(ui.width(label, theme.body(theme.text3)) + 6.0f + ui.width(value, theme.body(theme.text))) + 38.0f;
  };
  const float scale_width = combo_width("scale", scale), pool_width = combo_width("pool", pool), fit_width = 40.0f;
  float left = ui.segmented({bar.x0, bar.y0}, measure::kPanelControl, modes, false);
  if (left <= bar.width()) {
    ui.segmented({bar.x0, bar.y0}, measure::kPanelControl, modes);
  } else if (bar.width() >= 60.0f) {
    std::string shown = "how";
    for (const Choice& mode : modes)
      if (mode.selected) shown = mode.title;
    left = std::min(bar.width(), combo_width("", shown));
    ui.combo("mode", Rect::sized(bar.x0, bar.y0, left, measure::kPanelControl), "", shown, [&] {
      std::vector<MenuItem> items;
      for (const Choice& mode : modes) items.push_back({mode.title, "", mode.command, mode.selected, false, {}});
      return items;
    });
  }
  float x = bar.x1;
  const auto fits = [&](float width) { return x - width >= bar.x0 + left + measure::kGap; };
  if (!fits(fit_width)) return;
  ui.button(Rect::sized(x - fit_width, bar.y0, fit_width, measure::kPanelControl), "Fit", "map.fit");
  x -= fit_width + measure::kGap;
  const bool both = fits(scale_width + measure::kGap + pool_width);
  if (both) {
    const Rect area = Rect::sized(x - pool_width, bar.y0, pool_width, measure::kPanelControl);
    ui.combo("pool", area, "pool", pool, [&] {
      std::vector<MenuItem> items;
      for (const Pooling pooling : {Pooling::MaxMagnitude, Pooling::Mean, Pooling::Positive, Pooling::Negative})
        items.push_back({pooling_title(pooling),
                         "of A and B; differences are of means",
                         "map.pool " + pooling_title(pooling),
                         pooling == view.pooling,
                         false,
                         {}});
      return items;
    });
    x -= pool_width + measure::kGap;
  }
  if (!fits(scale_width)) return;
  ui.combo("scale", Rect::sized(x - scale_width, bar.y0, scale_width, measure::kPanelControl), "scale", scale, [&] {
    std::vector<MenuItem> items;
    for (const ScaleKind one : {ScaleKind::Linear, ScaleKind::Log10, ScaleKind::Symlog})
      items.push_back({scale_title(one),
                       difference && one == ScaleKind::Log10 ? "a difference has signs: symlog" : "",
                       std::string("map.scale ") + scale_word(one),
                       one == kind,
                       false,
                       {}});
    items.push_back({"the usual one of this map", "", "map.scale auto", !view.scale, true, {}});
    return items;
  });
}

void draw_pair_divider(PanelContext& context, const MapLayout& layout, double divider, std::string_view left,
                       std::string_view right) {
  const Rect& map = layout.map;
  if (map.empty()) return;
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const float x = map.x0 + static_cast<float>(std::clamp(divider, 0.0, 1.0)) * map.width();
  const Interaction hand = ui.interact("divider", {x - 6.0f, map.y0, x + 6.0f, map.y1}, Cursor::ResizeHorizontal);
  if (hand.dragging) {
    const double to = std::clamp(static_cast<double>((ui.input.pointer.x - map.x0) / map.width()), 0.0, 1.0);
    ui.run(format("compare.divider %.4f", to));
  }
  painter.line({x, map.y0}, {x, map.y1}, theme.halo, 3.0f);
  painter.line({x, map.y0}, {x, map.y1}, theme.mark, 1.0f);
  const float y = map.y0 + 0.42f * map.height();
  painter.disc({x, y}, 6.0f, theme.mark);
  // The names stand where they are wide enough, in the masked part for causal maps.
  const auto name = [&](std::string_view text, bool at_left) {
    const TextStyle style{Face::SansSemibold, 11.0f, theme.text};
    const float room = (at_left ? x - map.x0 : map.x1 - x) - 24.0f;
    const float width = ui.width(text, style);
    if (width > room || layout.numbers()) return;
    const float from = at_left ? x - 12.0f - width : x + 12.0f;
    const Rect ground{from - 4.0f, map.y1 - 26.0f, from + width + 4.0f, map.y1 - 8.0f};
    if (ground.y0 < map.y0) return;
    painter.fill_rect(ground, theme.panel.faded(0.85f), 2.0f);
    ui.label_at(from, ground.centre_y(), text, style, width);
  };
  name(left, true);
  name(right, false);
}

void set_pair_facts(PanelContext& context, const MapPair& pair, const MapLayout& layout, std::int32_t level,
                    const MapMarks& marks, std::string_view name_a, std::string_view name_b, bool difference) {
  Facts& facts = context.facts;
  facts.set("map.cells_visible", static_cast<double>(visible_cells(layout).count()));
  facts.set("map.level", static_cast<double>(level));
  facts.set("map.pixels_per_cell", layout.device_pixels_per_cell());
  std::string readout;
  const auto query = marks.query(), key = marks.key();
  if (query && key) {
    const double in_a = pair.a.value(*query, *key), in_b = pair.b.value(*query, *key);
    const double a = std::isnan(in_a) ? 0.0 : in_a, b = std::isnan(in_b) ? 0.0 : in_b;
    const std::string text_a = pair.a.value_text(*query, *key), text_b = pair.b.value_text(*query, *key);
    const bool lost = text_a == "not finite" || text_b == "not finite";
    if (pair.b.has_map()) readout = std::string(name_a) + " " + text_a + ", " + std::string(name_b) + " " + text_b;
    if (!std::isnan(in_a) || !std::isnan(in_b)) {
      facts.set("compare.a", in_a);
      facts.set("compare.b", in_b);
      if (pair.has_difference() && !lost) {
        facts.set("compare.difference", b - a);
        readout += ", Δ " + std::string(b > a ? "+" : "") + readout_text(b - a);
      }
    }
    readout += readout.empty() ? "" : " · ";
  }
  if (layout.exact()) {
    readout += "at 1 cell per pixel or larger, exact";
  } else {
    const std::string side = grouped_text(std::int64_t{1} << level);
    readout += "at " + side + " × " + side + " cells per texel, " +
               (difference ? "mean of each" : "pooled " + pooling_title(context.state.view.map.pooling));
  }
  facts.set("map.readout", readout);
  context.readouts.map = std::move(readout);
  context.readouts.map_level = level;
}

}  // namespace headroom
