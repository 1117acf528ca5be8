// What lies on the map: crosshair, pinned cell, lens, overview.
#include "app/panels/map/map_marks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "app/panels/map/map_figure.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

// The cell as it is framed: never smaller than 9 pixels, so that the frame does not hide it.
Rect framed(const MapLayout& layout, std::int64_t query, std::int64_t key) {
  const Rect cell = layout.cell_rect(query, key);
  const float w = std::max(0.0f, 0.5f * (9.0f - cell.width())), h = std::max(0.0f, 0.5f * (9.0f - cell.height()));
  Rect r{std::round(cell.x0 - w), std::round(cell.y0 - h), std::round(cell.x1 + w), std::round(cell.y1 + h)};
  return r;
}

}  // namespace

void draw_crosshair(PanelContext& context, const MapLayout& layout, const Crosshair& at) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const Rect& map = layout.map;
  painter.push_clip(map);
  const Rect cell = layout.cell_rect(at.query, at.key);
  const bool row = layout.sees_query(at.query), column = layout.sees_key(at.key);
  if (std::min(layout.cell_x, layout.cell_y) >= 14.0f) {
    if (row) painter.stroke_rect({map.x0, cell.y0, map.x1, cell.y1}, theme.accent);
    if (column) painter.stroke_rect({cell.x0, map.y0, cell.x1, map.y1}, theme.accent.faded(0.35f));
    if (row && column) {
      painter.stroke_rect({cell.x0 - 1, cell.y0 - 1, cell.x1 + 1, cell.y1 + 1}, theme.halo, 3.0f);
      painter.stroke_rect(cell, theme.accent, 2.0f);
    }
  } else {
    constexpr float kGap = 7.0f;
    const Rect gap = cell.inset(-kGap);
    const float x = std::floor(cell.centre_x()) + 0.5f, y = std::floor(cell.centre_y()) + 0.5f;
    const auto cross = [&](Color color, float width) {
      if (row) {
        painter.line({map.x0, y}, {column ? std::max(map.x0, gap.x0) : map.x1, y}, color, width);
        if (column && gap.x1 < map.x1) painter.line({gap.x1, y}, {map.x1, y}, color, width);
      }
      if (column) {
        painter.line({x, map.y0}, {x, row ? std::max(map.y0, gap.y0) : map.y1}, color, width);
        if (row && gap.y1 < map.y1) painter.line({x, gap.y1}, {x, map.y1}, color, width);
      }
    };
    cross(theme.halo, 3.0f);
    cross(theme.accent, 1.0f);
    if (row && column) {
      const Rect frame = framed(layout, at.query, at.key);
      painter.stroke_rect(frame.inset(-1), theme.halo, 3.0f);
      painter.stroke_rect(frame, theme.mark);
    }
  }
  painter.pop_clip();
}

void draw_pin(PanelContext& context, const MapLayout& layout, std::int64_t query, std::int64_t key) {
  if (!layout.sees_query(query) || !layout.sees_key(key)) return;
  context.painter().push_clip(layout.map);
  const Rect frame = framed(layout, query, key);
  context.painter().stroke_rect(frame.inset(-1), context.theme().halo, 3.0f);
  context.painter().stroke_rect(frame, context.theme().accent);
  context.painter().pop_clip();
}

void draw_lens(PanelContext& context, const LensLayout& lens, const MapSubject& subject, const Crosshair& at,
               const ColorScale& scale) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  painter.fill_rect(lens.frame, theme.empty);
  const Rect inner = lens.frame.inset(1);
  const std::int64_t reach = lens.cells / 2;
  const auto cell = [&](std::int64_t query, std::int64_t key) {
    return Rect::sized(inner.x0 + lens.cell * static_cast<float>(key - at.key + reach),
                       inner.y0 + lens.cell * static_cast<float>(query - at.query + reach), lens.cell, lens.cell);
  };
  for (std::int64_t query = at.query - reach; query <= at.query + reach; ++query)
    for (std::int64_t key = at.key - reach; key <= at.key + reach; ++key) {
      const double value = subject.value(query, key);
      if (std::isnan(value)) continue;
      painter.fill_rect(cell(query, key), scale_color(scale, static_cast<float>(value)));
    }
  painter.stroke_rect(lens.frame, theme.faint);
  const Rect middle = cell(at.query, at.key);
  painter.stroke_rect(middle.inset(-1), theme.halo, 3.0f);
  painter.stroke_rect(middle, theme.mark);
  const std::string side = std::to_string(lens.cells);
  const bool exact = std::max(1e-9, static_cast<double>(subject.length)) > 0 && lens.frame.width() >= 160;
  const std::string text =
      "lens, " + side + " × " + side + (exact && subject.length >= kLongMap ? " exact cells" : " cells");
  TextStyle style = theme.hint();
  if (context.ui.width(text, style) <= lens.caption.width())
    painter.text_at(lens.caption.x1, lens.caption.centre_y(), text, style, Painter::Align::Right);
}

void draw_overview(PanelContext& context, Rect frame, const MapLayout& layout, const MapSubject& subject,
                   const ColorScale& scale, bool titled) {
  if (frame.empty()) return;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  draw_whole_map(context, frame, {&subject, scale});
  const double n = static_cast<double>(subject.length);
  painter.stroke_rect(frame, theme.line);
  if (titled) {
    const TextStyle style{Face::Sans, 11.0f, theme.text2};
    painter.text_at(frame.x0, frame.y0 - 12, "where you are", style);
  }
  const auto x = [&](double key) { return frame.x0 + static_cast<float>(key / n) * frame.width(); };
  const auto y = [&](double query) { return frame.y0 + static_cast<float>(query / n) * frame.height(); };
  Rect seen{x(layout.window.key0), y(layout.window.query0), x(layout.window.key1), y(layout.window.query1)};
  if (seen.width() < 5) seen = {seen.centre_x() - 2.5f, seen.y0, seen.centre_x() + 2.5f, seen.y1};
  if (seen.height() < 5) seen = {seen.x0, seen.centre_y() - 2.5f, seen.x1, seen.centre_y() + 2.5f};
  painter.push_clip(frame);
  painter.stroke_rect(seen.inset(-1), theme.halo, 3.0f);
  painter.stroke_rect(seen, theme.accent, 1.5f);
  painter.pop_clip();

  const Interaction hand = context.ui.interact("overview", frame, Cursor::Move);
  if (hand.clicked || hand.dragging || hand.pressed) {
    const Vec2 p = context.ui.input.pointer;
    const double key = std::clamp(static_cast<double>((p.x - frame.x0) / frame.width()), 0.0, 1.0) * n;
    const double query = std::clamp(static_cast<double>((p.y - frame.y0) / frame.height()), 0.0, 1.0) * n;
    if (!layout.whole())
      context.ui.run(zoom_line(centred_window(layout.window, query, key, subject.length), subject.length));
  }
}

}  // namespace headroom
