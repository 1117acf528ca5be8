// The row and the column of the crosshair beside the map, and their numbers.
#include "app/panels/map/map_profiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/map/map_range.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/plot/ticks.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kProfileLine = 14.0f;

// How far along the scale a value lies: from its low end, or from the middle of one with both signs.
double share_of(const ColorScale& scale, double value) {
  const bool both = scale.kind == ScaleKind::Symlog || scale.low < 0.0f;
  if (both) return std::abs(2.0 * static_cast<double>(scale_position(scale, static_cast<float>(value))) - 1.0);
  return static_cast<double>(scale_position(scale, static_cast<float>(std::abs(value))));
}

float bar_height(const ProfileBars& bars, double value) {
  const double up = static_cast<double>(bars.zero - bars.area.y0), down = static_cast<double>(bars.area.y1 - bars.zero);
  const double room = value < 0.0 ? down : up;
  return static_cast<float>(share_of(bars.scale, value) * std::max(0.0, room - 1.0));
}

// Lines of text one below the other at the right edge of `area`; those without room are left out.
struct TextLine {
  std::string text;
  TextStyle style;
};
void draw_right_lines(PanelContext& context, const Rect& area, float first_centre, std::span<const TextLine> lines) {
  float y = first_centre;
  for (const TextLine& line : lines) {
    if (y + 7 > area.y1) return;
    const std::string text = elide_end(line.text, area.width(), context.ui.measure(), line.style.face, line.style.size);
    context.painter().text_at(area.x1, y, text, line.style, Painter::Align::Right);
    y += kProfileLine;
  }
}

}  // namespace

void draw_row_bars(PanelContext& context, const MapLayout& layout, std::span<const float> row, const ProfileBars& bars,
                   bool numbers) {
  Painter& painter = context.painter();
  const MapWindow& w = layout.window;
  const auto draw = [&](float x0, float x1, float value) {
    if (!std::isfinite(value)) return;
    const float height = bar_height(bars, static_cast<double>(value));
    if (height < 0.35f) return;
    const Color color = bars.colours ? scale_color(*bars.colours, value) : value < 0.0f ? bars.negative : bars.positive;
    painter.fill_rect(
        value < 0.0f ? Rect{x0, bars.zero, x1, bars.zero + height} : Rect{x0, bars.zero - height, x1, bars.zero},
        color);
  };
  if (layout.cell_x < 3.0f) {
    const auto pixels = static_cast<std::size_t>(
        std::max(1.0, std::round(static_cast<double>(layout.map.width()) * layout.pixel_scale)));
    const std::vector<float> pooled = pool_to_pixels(row, w.key0, w.key1, pixels);
    const float step = layout.map.width() / static_cast<float>(pixels);
    for (std::size_t p = 0; p < pixels;) {  // neighbours of the same height are one rectangle
      std::size_t end = p + 1;
      while (end < pixels && pooled[end] == pooled[p]) ++end;
      draw(layout.map.x0 + step * static_cast<float>(p), layout.map.x0 + step * static_cast<float>(end), pooled[p]);
      p = end;
    }
    return;
  }
  const CellRange cells = visible_cells(layout);
  const float gap = layout.cell_x >= 6.0f ? 1.0f : 0.0f;
  for (std::int64_t key = cells.key0; key < std::min(cells.key1, static_cast<std::int64_t>(row.size())); ++key) {
    const float value = row[static_cast<std::size_t>(key)];
    const float x0 = std::max(layout.map.x0, layout.key_pixel(static_cast<double>(key)) + gap);
    const float x1 = std::min(layout.map.x1, layout.key_pixel(static_cast<double>(key + 1)) - gap);
    if (x1 <= x0) continue;
    draw(x0, x1, value);
    if (!numbers || !std::isfinite(value) || std::abs(value) < 0.005f || value < 0.0f) continue;
    const std::string text = cell_text(static_cast<double>(value));
    TextStyle style{Face::Mono, 10.0f, context.theme().text};
    if (context.ui.width(text, style) > x1 - x0 + gap) continue;
    float y = bars.zero - bar_height(bars, static_cast<double>(value)) - 7;
    if (y - 6 < bars.area.y0) {  // no room above: inside, on the bar's colour
      y += 15;
      if (bars.colours) style.color = text_on(scale_color(*bars.colours, value));
    }
    painter.text_at(0.5f * (x0 + x1), y, text, style, Painter::Align::Centre);
  }
}

void draw_key_ticks(PanelContext& context, const MapLayout& layout, Rect area, float least_x) {
  if (area.empty()) return;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const CellRange cells = visible_cells(layout);
  const std::int64_t last = cells.key1 - 1;
  const float line = area.y0, y = line + 11;
  if (y + 6 > area.y1) return;
  struct Mark {
    std::int64_t key;
    float x0, x1;
  };
  std::vector<Mark> marks;
  const auto add = [&](std::int64_t key) {
    if (!layout.sees_key(key)) return;
    const std::string text = grouped_text(key);
    const float half = 0.5f * context.ui.width(text, theme.tick());
    const float x = layout.key_pixel(static_cast<double>(key) + 0.5);
    for (const Mark& mark : marks)
      if (x - half < mark.x1 + 8 && mark.x0 - 8 < x + half) return;
    if (x - half < least_x) return;
    marks.push_back({key, x - half, x + half});
    painter.line({x, line}, {x, line + 4}, theme.faint);
    painter.text_at(x, y, text, theme.tick(), Painter::Align::Centre);
  };
  if (cells.key0 == 0) add(0);
  if (last == layout.length - 1) add(last);
  for (const Tick& tick : index_ticks(cells.key0, last, static_cast<double>(layout.map.width()), 60.0))
    add(std::llround(tick.value));
}

void draw_column_bars(PanelContext& context, const MapLayout& layout, std::span<const float> column,
                      const ProfileBars& bars) {
  const Rect& area = bars.area;
  const auto pixels =
      static_cast<std::size_t>(std::max(1.0, std::round(static_cast<double>(area.height()) * layout.pixel_scale)));
  const std::vector<float> pooled = pool_to_pixels(column, layout.window.query0, layout.window.query1, pixels);
  const float step = area.height() / static_cast<float>(pixels);
  for (std::size_t p = 0; p < pixels;) {
    std::size_t end = p + 1;
    while (end < pixels && pooled[end] == pooled[p]) ++end;
    const float v = pooled[p];
    const float y0 = area.y0 + step * static_cast<float>(p), y1 = area.y0 + step * static_cast<float>(end);
    p = end;
    if (!std::isfinite(v)) continue;
    const float room = v < 0.0f ? bars.zero - area.x0 : area.x1 - bars.zero;
    const float length = static_cast<float>(share_of(bars.scale, static_cast<double>(v))) * (room - 2);
    if (length < 0.35f) continue;
    context.painter().fill_rect(
        v < 0.0f ? Rect{bars.zero - length, y0, bars.zero, y1} : Rect{bars.zero, y0, bars.zero + length, y1},
        v < 0.0f ? bars.negative : bars.positive);
  }
}

RowShown draw_row_profile(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                          const MapMarks& marks, const ColorScale& scale, bool three) {
  RowShown shown;
  const Theme& theme = context.theme();
  Painter& painter = context.painter();
  const auto query = marks.query();
  const auto row_of = [&](MapKind kind) {
    return context.tiles.row(subject.source, subject.ref.head, window_map(kind), *query);
  };
  std::shared_ptr<const std::vector<float>> row, weights;
  if (query) {
    shown.query = *query;
    row = row_of(subject.kind);
    weights = subject.is_logits ? row_of(MapKind::Net) : row;
    if (row && weights) {
      shown.there = true;
      shown.numbers = row_numbers(*weights, subject.kind == MapKind::Net && subject.differential);
      if (subject.is_logits && subject.differential) shown.numbers = row_numbers(*weights, true);
    }
  }
  const Rect& area = layout.row_profile;
  if (area.empty()) return shown;
  const Rect ticks{layout.row_ticks.x0, area.y1, layout.row_ticks.x1, layout.row_ticks.y1};
  painter.fill_rect(area, theme.empty);
  const TextStyle name{Face::SansSemibold, kProfileLine - 3, theme.accent}, number{Face::Sans, 11.0f, theme.text2};

  if (three) {
    struct Part {
      MapKind kind;
      const char* name;
      Color color;
    };
    const Part parts[] = {{MapKind::First, "a¹", theme.first},
                          {MapKind::ScaledSecond, "λ · a²", theme.second},
                          {MapKind::Net, "w", theme.text}};
    const float height = area.height() / 3.0f;
    std::shared_ptr<const std::vector<float>> rows[3];
    if (query)
      for (std::size_t i = 0; i < 3; ++i) rows[i] = row_of(parts[i].kind);
    // a¹ and λ·a² on one scale, that of the swipe; w on its own, with both signs.
    ColorScale weights_scale{theme.sequential(), ScaleKind::Log10, static_cast<float>(log_floor(subject.length)), 1.0f};
    ColorScale net_scale = scale;
    if (!subject.is_signed || subject.is_logits) net_scale = {theme.diverging(), ScaleKind::Symlog, -1.0f, 1.0f, 1e-2f};
    if (scale.kind == ScaleKind::Linear) weights_scale = {theme.sequential(), ScaleKind::Linear, 0.0f, net_scale.high};
    for (std::size_t i = 0; i < 3; ++i) {
      Rect part{area.x0, area.y0 + height * static_cast<float>(i), area.x1,
                area.y0 + height * static_cast<float>(i + 1)};
      const float baseline = std::round(i == 2 ? part.centre_y() + 4 : part.y1 - 8);
      part.y0 += 1;
      ProfileBars bars;
      bars.area = part;
      bars.zero = baseline;
      bars.scale = i == 2 ? net_scale : weights_scale;
      bars.positive = i == 1 ? theme.second : theme.first;
      bars.negative = i == 1 ? theme.first : theme.second;
      if (rows[i]) draw_row_bars(context, layout, *rows[i], bars, false);
      painter.line({area.x0, baseline}, {area.x1, baseline}, theme.faint);
      if (layout.row_text.width() >= 40)
        painter.text_at(layout.row_text.x1, part.centre_y(), parts[i].name, {Face::SansSemibold, 11.0f, parts[i].color},
                        Painter::Align::Right);
    }
    if (query && layout.row_text.width() >= 40) {
      const float y = area.y1 + 11;
      TextLine lines[] = {{"row " + grouped_text(*query), name}, {}};
      if (shown.there) lines[1] = {"sum " + fixed_text(shown.numbers.sum, 3), number};
      draw_right_lines(context, layout.row_text, y, std::span(lines, shown.there ? 2 : 1));
    }
    draw_key_ticks(context, layout, ticks, layout.row_text.x1 + 2);
    return shown;
  }

  const bool is_signed =
      subject.is_signed || subject.is_logits || (row && std::ranges::any_of(*row, [](float v) { return v < 0.0f; }));
  ProfileBars bars;
  bars.area = area;
  bars.scale = scale;
  bars.zero = is_signed ? std::round(area.centre_y()) : area.y1;
  bars.positive = is_signed ? theme.first : theme.accent;
  bars.negative = theme.second;
  const bool tall = !layout.row_foot.empty();
  if (tall && !is_signed) bars.colours = &scale;
  if (row) {
    if (tall)
      for (const float share : {1.0f / 3.0f, 2.0f / 3.0f}) {
        const float y = std::round(area.y0 + share * area.height());
        painter.line({area.x0, y}, {area.x1, y}, theme.grid);
      }
    draw_row_bars(context, layout, *row, bars, tall && !subject.is_logits);
  }
  painter.line({area.x0, bars.zero}, {area.x1, bars.zero}, theme.faint);

  if (query && layout.row_text.width() >= 40) {
    std::vector<TextLine> lines;
    const bool pinned_only = !marks.hovered_query && tall;
    lines.push_back({"row " + grouped_text(*query) + (pinned_only ? " pinned" : ""), name});
    if (const std::string token = subject.token(*query); tall && !token.empty())
      lines.push_back({"“" + token + "”", number});
    if (shown.there) {
      if (std::isnan(shown.numbers.entropy) || std::abs(shown.numbers.sum - 1.0) > 5e-4)
        lines.push_back({"sum " + fixed_text(shown.numbers.sum, 3), number});
      if (!std::isnan(shown.numbers.entropy))
        lines.push_back({"entropy " + fixed_text(shown.numbers.entropy, 2), number});
      lines.push_back({"‖w‖₂ " + fixed_text(shown.numbers.l2, 3), number});
    }
    draw_right_lines(context, layout.row_text, area.y0 + (area.height() < 30 ? 8.0f : 10.0f), lines);
  }
  if (!tall) {
    draw_key_ticks(context, layout, ticks, layout.row_text.x1 + 2);
    return shown;
  }
  // Where the rest of the row's weight is.
  if (shown.there && !layout.row_foot.empty()) {
    const CellRange cells = visible_cells(layout);
    double seen = 0.0;
    for (std::int64_t key = cells.key0; key < std::min(cells.key1, static_cast<std::int64_t>(weights->size())); ++key) {
      const float v = (*weights)[static_cast<std::size_t>(key)];
      if (std::isfinite(v)) seen += static_cast<double>(v);
    }
    const double sink = cells.key0 > 0 && std::isfinite(weights->front()) ? static_cast<double>(weights->front()) : 0.0;
    struct Pair {
      const char* name;
      double value;
    };
    std::vector<Pair> pairs = {{"shown keys", seen}};
    if (cells.key0 > 0) pairs.push_back({"key 0", sink});
    pairs.push_back({"all other keys", shown.numbers.sum - seen - sink});
    pairs.push_back({"sum", shown.numbers.sum});
    float x = layout.row_foot.x0;
    const float y = layout.row_foot.centre_y();
    const TextStyle value{Face::Mono, 11.0f, theme.text};
    for (const Pair& pair : pairs) {
      const std::string text = fixed_text(pair.value, 3);
      const float width = context.ui.width(pair.name, theme.hint()) + 6 + context.ui.width(text, value);
      if (x + width > layout.notes.x0 - 8 && !layout.notes.empty()) break;
      if (x + width > layout.row_foot.x1) break;
      painter.text_at(x, y, pair.name, theme.hint());
      painter.text_at(x + context.ui.width(pair.name, theme.hint()) + 6, y, text, value);
      x += width + 18;
    }
  }
  return shown;
}

void draw_column_profile(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                         const MapMarks& marks, const ColorScale& scale) {
  const Rect& area = layout.column_profile;
  if (area.empty()) return;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  painter.fill_rect(area, theme.empty);
  const auto key = marks.key();
  std::shared_ptr<const std::vector<float>> column;
  if (key) column = context.tiles.column(subject.source, subject.ref.head, window_map(subject.kind), *key);
  const bool is_signed = subject.is_signed || subject.is_logits;
  const float zero = is_signed ? std::round(area.centre_x()) : area.x0;
  if (column)
    draw_column_bars(context, layout, *column,
                     {area, zero, scale, is_signed ? theme.first : theme.accent, theme.second, nullptr});
  painter.line({zero + 0.5f, area.y0}, {zero + 0.5f, area.y1}, theme.faint);
  const Rect& text = layout.column_text;
  if (!key || text.empty()) return;
  const TextStyle name{Face::SansSemibold, 11.0f, theme.accent}, number{Face::Sans, 11.0f, theme.text2};
  const auto fit = [&](const std::string& line, const TextStyle& style, float y) {
    if (context.ui.width(line, style) <= text.width()) painter.text_at(text.x0, y, line, style);
  };
  const std::span<const float> received = subject.received();
  const bool known = static_cast<std::size_t>(*key) < received.size() && !subject.is_logits;
  fit("key " + grouped_text(*key), name, known ? text.y0 + 7 : text.y1 - 7);
  if (known)
    fit("mean " + readout_text(static_cast<double>(received[static_cast<std::size_t>(*key)])), number, text.y1 - 6);
}

}  // namespace headroom
