// "Where you are": the place of the visible window in a long map, and what of the map is kept.
#include "app/panels/map/where_panel.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_marks.h"
#include "app/panels/map/map_range.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/plot/ticks.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kPlaceRow = 18.0f;

std::string span_text(double from, double to) {
  return grouped_text(static_cast<std::int64_t>(std::floor(from + 1e-6))) + " … " +
         grouped_text(static_cast<std::int64_t>(std::ceil(to - 1e-6)) - 1);
}

// Tiles of a level that hold visible cells.
std::int64_t tiles_of_level(std::int64_t length, std::int32_t level, bool causal) {
  const std::int64_t side = std::int64_t{kTileSize} << level, across = (length + side - 1) / side;
  return causal ? across * (across + 1) / 2 : across * across;
}

// Rows of a name, a value and a remark at the right; left out one by one when there is no more room below.
class PlaceRows {
 public:
  PlaceRows(PanelContext& context, Rect area) : context_(context), area_(area) {}
  [[nodiscard]] bool room(float height) const { return area_.height() >= height; }
  [[nodiscard]] Rect& area() { return area_; }
  void add(std::string_view name, const std::string& value, const std::string& remark, double bar = -1.0) {
    if (!room(kPlaceRow)) return;
    const Rect row = area_.cut_top(kPlaceRow);
    const Theme& theme = context_.theme();
    const float x = row.x0 + 91;
    context_.ui.label_at(row.x0, row.centre_y(), name, theme.body(theme.text2), 86);
    const float value_width =
        context_.ui.label_at(x, row.centre_y(), value, {Face::Mono, 11.0f, theme.text}, row.x1 - x);
    const float left = x + value_width + 10;
    if (bar >= 0.0) {
      const Rect track{std::max(left, row.x1 - 110), row.y0, row.x1, row.y1};
      if (track.width() >= 30) context_.ui.progress(track, std::clamp(bar, 0.0, 1.0));
    } else if (context_.ui.width(remark, theme.hint()) <= row.x1 - left) {
      context_.painter().text_at(row.x1, row.centre_y(), remark, theme.hint(), Painter::Align::Right);
    }
  }

 private:
  PanelContext& context_;
  Rect area_;
};

void draw_place(PanelContext& context, Rect& rest, const MapLayout& layout, const MapSubject& subject,
                const ColorScale& scale) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const float labels = std::ceil(context.ui.width(grouped_text(subject.length), theme.tick())) + 8;
  const float side = std::floor(std::min(rest.width() - labels - 30, std::max(0.0f, rest.height() - 150)));
  if (side < 80) return;
  Rect row = rest.cut_top(side + 22);
  const Rect frame =
      Rect::sized(std::max(row.x0 + labels, std::round(row.centre_x() - 0.5f * side)), row.y0 + 8, side, side);
  draw_overview(context, frame, layout, subject, scale, false);
  const double n = static_cast<double>(subject.length);
  for (int i = 0; i <= 4; ++i) {
    const float y = frame.y0 + frame.height() * static_cast<float>(i) / 4.0f;
    painter.line({frame.x0 - 4, y}, {frame.x0, y}, theme.faint);
    painter.text_at(frame.x0 - 7, y, grouped_text(std::llround(n * i / 4.0)), theme.tick(), Painter::Align::Right);
  }
  const std::int32_t top = top_level(subject.length);
  const double per_pixel = n / (static_cast<double>(side) * layout.pixel_scale);
  const std::string lines[] = {"level " + std::to_string(top) + ", whole",
                               "map, " + short_text(std::round(per_pixel)) + " cells", "per pixel"};
  float y = frame.y0 + 12;
  if (subject.causal && side >= 180)
    for (const std::string& line : lines) {
      painter.text_at(frame.x1 - 6, y, line, theme.hint(), Painter::Align::Right);
      y += 13.5f;
    }
}

void draw_tile_table(PanelContext& context, Rect& rest, const MapSubject& subject, std::int32_t level,
                     std::span<const std::size_t> kept_by_level) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  Ui& ui = context.ui;
  if (rest.height() < 70) return;
  rest.cut_top(8);
  painter.line({rest.x0 - 12, rest.y0}, {rest.x1 + 12, rest.y0}, theme.line);
  rest.cut_top(8);
  const Rect title = rest.cut_top(18);
  const float width = ui.label_at(title.x0, title.centre_y(), "Tiles", theme.plot_title(), title.width());
  const std::string size = "256 × 256 texels, 262 kB each";
  if (ui.width(size, theme.hint()) <= title.width() - width - 12)
    painter.text_at(title.x1, title.centre_y(), size, theme.hint(), Painter::Align::Right);

  const float x_level = rest.x0 + 30, x_cells = rest.x0 + 0.31f * rest.width(), x_kept = rest.x0 + 0.58f * rest.width();
  const float x_bar0 = x_kept + 16, x_bar1 = rest.x0 + 0.8f * rest.width();
  const TextStyle head = theme.hint(), mono{Face::Mono, 11.0f, theme.text2}, strong{Face::Mono, 11.0f, theme.text};
  const Rect header = rest.cut_top(18);
  painter.text_at(x_level, header.centre_y(), "level", head, Painter::Align::Right);
  painter.text_at(x_cells, header.centre_y(),
                  ui.width("cells / texel", head) < x_cells - x_level - 8 ? "cells / texel" : "cells", head,
                  Painter::Align::Right);
  painter.text_at(x_kept, header.centre_y(), "kept", head, Painter::Align::Right);
  painter.text_at(rest.x1, header.centre_y(), "of", head, Painter::Align::Right);
  painter.line({rest.x0, header.y1 - 1}, {rest.x1, header.y1 - 1}, theme.line);
  for (std::int32_t l = top_level(subject.length); l >= 0; --l) {
    const std::size_t kept =
        static_cast<std::size_t>(l) < kept_by_level.size() ? kept_by_level[static_cast<std::size_t>(l)] : 0;
    // Where there is no room for all, levels with nothing kept go first, and room stays for the four rows below.
    const float below = 4 * kPlaceRow + 8, all = 17.5f * static_cast<float>(l + 1);
    if (rest.height() < all + below && kept == 0 && l != level) continue;
    if (rest.height() < 17.5f + 8) return;
    const Rect row = rest.cut_top(17.5f);
    const bool here = l == level;
    if (here) {
      painter.fill_rect({row.x0 - 12, row.y0, row.x1 + 12, row.y1}, theme.accent_soft);
      painter.fill_rect({row.x0 - 12, row.y0, row.x0 - 9, row.y1}, theme.accent);
    }
    const TextStyle& style = here ? strong : mono;
    const std::int64_t all_tiles = tiles_of_level(subject.length, l, subject.causal);
    painter.text_at(x_level, row.centre_y(), std::to_string(l), style, Painter::Align::Right);
    painter.text_at(x_cells, row.centre_y(), grouped_text(std::int64_t{1} << l) + "²", style, Painter::Align::Right);
    painter.text_at(x_kept, row.centre_y(), grouped_text(static_cast<std::int64_t>(kept)), style,
                    Painter::Align::Right);
    painter.text_at(row.x1, row.centre_y(), grouped_text(all_tiles), style, Painter::Align::Right);
    const Rect track{x_bar0, row.centre_y() - 2, x_bar1, row.centre_y() + 2};
    const float share =
        std::min(1.0f, static_cast<float>(kept) / static_cast<float>(std::max<std::int64_t>(1, all_tiles)));
    painter.fill_rect(track, theme.raised, 2);
    if (kept > 0) {
      const Rect filled{track.x0, track.y0, track.x0 + std::max(2.0f, share * track.width()), track.y1};
      painter.fill_rect(filled, here ? theme.accent : theme.text3, 2);
    }
  }
}

}  // namespace

void draw_where_panel(PanelContext& context, Rect frame) {
  Painter& painter = context.painter();
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const PanelScope scope(context, "where", frame);
  const Rect body = draw_panel_title(context, frame, "head", "Where you are", "", "");
  const MapSubject subject = map_subject(context.state);
  Rect rest = body.inset(measure::kPadding, 6);
  if (!subject.has_map()) {
    if (rest.width() > 40 && rest.height() > 30)
      ui.paragraph({rest.x0, rest.y0 + 4},
                   "The place of the visible cells in the whole map appears here when a map is shown.", theme.hint(),
                   rest.width(), 16);
  } else {
    const MapView& view = context.state.view.map;
    // The window alone matters here; pixels a cell come from the map panel of this frame.
    MapLayout layout;
    layout.length = subject.length;
    layout.window = resolved_window(view.window, subject.length);
    layout.pixel_scale = static_cast<double>(painter.scale());
    const MapRange range = overview_range(subject, view, theme);
    draw_place(context, rest, layout, subject, range.scale);

    const MapWindow& w = layout.window;
    const double n = static_cast<double>(subject.length), queries = w.query1 - w.query0, keys = w.key1 - w.key0;
    const std::int32_t level = context.readouts.map_level.value_or(top_level(subject.length));
    {
      PlaceRows rows(context, rest);
      const std::string side = grouped_text(std::int64_t{1} << level);
      rows.add("queries", span_text(w.query0, w.query1), grouped_text(std::llround(queries)));
      rows.add("keys", span_text(w.key0, w.key1), grouped_text(std::llround(keys)));
      rows.add("zoom", "level " + std::to_string(level) + ", " + side + " × " + side + " cells", "per texel");
      rows.add("in view", short_text(100.0 * queries * keys / (n * n)) + " %",
               "of " + grouped_text(subject.length * subject.length) + " cells");
      rest = rows.area();
    }
    const TileStore::Statistics statistics = context.tiles.statistics();
    draw_tile_table(context, rest, subject, level, context.tiles.kept_by_level(subject.source->id));
    rest.cut_top(6);
    PlaceRows rows(context, rest);
    const double needed = context.readouts.tiles_needed, ready = context.readouts.tiles_ready;
    if (needed > 0)
      rows.add(ready < needed ? "sharpening" : "sharp", short_text(ready) + " of " + short_text(needed) + " tiles", "",
               ready / needed);
    const double bytes = static_cast<double>(statistics.bytes), budget = static_cast<double>(statistics.budget_bytes);
    rows.add("budget", size_text(bytes) + " of " + size_text(budget), "", budget > 0 ? bytes / budget : 0.0);
    rows.add("whole map", size_text(4.0 * n * n) + " in fp32", "never stored");
    const double maps = subject.differential && subject.program->has_first() ? 2.0 : 1.0;
    rows.add("this head",
             "q, k, LSE: " + size_text(maps * n * (8.0 * static_cast<double>(subject.source->head_dim) + 8.0)), "");
  }
}

const PanelInfo kWherePanel{.id = "where", .title = "Where", .least_width = 240.0f, .draw = draw_where_panel};

}  // namespace headroom
