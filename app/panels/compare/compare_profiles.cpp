// The row and the column of the crosshair in both runs, on one axis, and their difference.
#include "app/panels/compare/compare_profiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/panels/compare/compare_maps.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/map/map_profiles.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/panels/parts/named_values.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

using Values = std::shared_ptr<const std::vector<float>>;

bool has_sign(const std::vector<float>* values) {
  return values && std::ranges::any_of(*values, [](float v) { return v < 0.0f; });
}

// Where zero lies: in the middle where there are both signs.
ProfileBars bars_of(const Rect& area, const ColorScale& scale, bool both_signs, bool column, Color color) {
  ProfileBars bars;
  bars.area = area;
  bars.zero = column       ? (both_signs ? std::round(area.centre_x()) : area.x0)
              : both_signs ? std::round(area.centre_y())
                           : area.y1;
  bars.scale = scale;
  bars.positive = bars.negative = color;
  return bars;
}

void draw_profile_bars(PanelContext& context, const MapLayout& layout, std::span<const float> values,
                       const ProfileBars& bars, bool column) {
  if (column)
    draw_column_bars(context, layout, values, bars);
  else
    draw_row_bars(context, layout, values, bars);
}

void draw_zero(PanelContext& context, const ProfileBars& bars, bool column) {
  const Rect& area = bars.area;
  if (column)
    context.painter().line({bars.zero + 0.5f, area.y0}, {bars.zero + 0.5f, area.y1}, context.theme().faint);
  else
    context.painter().line({area.x0, bars.zero}, {area.x1, bars.zero}, context.theme().faint);
}

void draw_difference(PanelContext& context, const MapLayout& layout, Rect area, const Values& a, const Values& b,
                     const ColorScale& scale, bool column) {
  if (area.empty()) return;
  const Theme& theme = context.theme();
  context.painter().fill_rect(area, theme.empty);
  ProfileBars bars = bars_of(area, scale, true, column, theme.first);
  bars.negative = theme.second;
  if (a && b) draw_profile_bars(context, layout, difference_of(*a, *b), bars, column);
  draw_zero(context, bars, column);
  context.ui.tooltip(area, column ? "B − A of the column, on the scale of the difference"
                                  : "B − A of the row, on the scale of the difference");
}

// "row 300 “␣things”   sum 1.000 → 0.921   ‖w‖₂ 0.412 → 0.398"
void draw_numbers(PanelContext& context, Rect line, const std::string& what, const std::string& token, const Values& a,
                  const Values& b) {
  if (line.empty()) return;
  const Theme& theme = context.theme();
  const TextStyle name{Face::SansSemibold, 11.0f, theme.accent};
  const auto number = [](const Values& values, double RowNumbers::* which) {
    return values ? fixed_text(row_numbers(*values, true).*which, 3) : std::string("–");
  };
  const auto both = [&](double RowNumbers::* which) { return number(a, which) + " → " + number(b, which); };
  const float numbers =
      context.ui.width("sum  ‖w‖₂  ", theme.hint()) +
      context.ui.width(both(&RowNumbers::sum) + both(&RowNumbers::l2), {Face::Mono, 11.0f, theme.text}) + 30.0f;
  float x = line.x0 + context.ui.label_at(line.x0, line.centre_y(), what, name, line.width()) + 6.0f;
  if (!token.empty() && line.x1 - x - numbers >= 24.0f)
    x += context.ui.label_at(x, line.centre_y(), "“" + token + "”", theme.hint(),
                             std::min(120.0f, line.x1 - x - numbers));
  const NamedValue values[] = {{"sum", both(&RowNumbers::sum), {0, 0, 0, 0}},
                               {"‖w‖₂", both(&RowNumbers::l2), {0, 0, 0, 0}}};
  draw_named_values(context, {x + 12.0f, line.y0, line.x1, line.y1}, values);
}

}  // namespace

void draw_pair_bars(PanelContext& context, const MapLayout& layout, const PairBars& bars) {
  if (bars.area.empty()) return;
  context.painter().fill_rect(bars.area, context.theme().empty);
  const bool both_signs = bars.scale.low < 0.0f || has_sign(bars.a) || has_sign(bars.b);
  const ProfileBars of_a = bars_of(bars.area, bars.scale, both_signs, bars.column, bars.color_a),
                    of_b = bars_of(bars.area, bars.scale, both_signs, bars.column, bars.color_b);
  if (bars.a) draw_profile_bars(context, layout, *bars.a, of_a, bars.column);
  if (bars.b) draw_profile_bars(context, layout, *bars.b, of_b, bars.column);
  if (bars.a && bars.b) {
    std::vector<float> shorter(std::min(bars.a->size(), bars.b->size()), std::nanf(""));
    for (std::size_t i = 0; i < shorter.size(); ++i)
      if (std::abs((*bars.a)[i]) < std::abs((*bars.b)[i])) shorter[i] = (*bars.a)[i];
    draw_profile_bars(context, layout, shorter, of_a, bars.column);
  }
  draw_zero(context, of_a, bars.column);
}

void draw_pair_profiles(PanelContext& context, const PairLayout& layout, const MapPair& pair, const MapMarks& marks) {
  if (layout.row.empty()) return;
  const Theme& theme = context.theme();
  const auto query = marks.query(), key = marks.key();
  const auto values_of = [&](const MapSubject& of, bool column) -> Values {
    const auto at = column ? key : query;
    const std::int64_t most = column ? pair.extent().key_count() : pair.extent().row_count();
    if (!at || !of.has_map() || *at >= most) return nullptr;
    return column ? context.tiles.column(of.source, of.ref.head, window_map(of.kind), *at)
                  : context.tiles.row(of.source, of.ref.head, window_map(of.kind), *at);
  };
  const MapLayout& map = layout.large;
  for (const bool column : {false, true}) {
    const Values a = values_of(pair.a, column), b = values_of(pair.b, column);
    const Rect& area = column ? layout.column : layout.row;
    draw_pair_bars(context, map, {area, a.get(), b.get(), pair.range.scale, theme.text3, theme.accent, column});
    draw_difference(context, map, column ? layout.column_difference : layout.row_difference, a, b,
                    pair.difference.scale, column);
    if (!area.empty())
      context.ui.tooltip(area, std::string("A grey, B in mint: the ") +
                                   (column ? "column of the key" : "row of the query") + ", on the scale of the maps");
    const auto at = column ? key : query;
    const Rect& line = column ? layout.column_numbers : layout.row_numbers;
    if (at)
      draw_numbers(context, line, (column ? "key " : "row ") + grouped_text(*at),
                   column ? pair.any().key_token(*at) : pair.any().token(*at), a, b);
    else if (!line.empty() && !column)
      context.ui.label_at(line.x0, line.centre_y(),
                          "Point at a cell or pin one: its row and column in A and B stand here.", theme.hint(),
                          line.width());
    const char* fact = column ? "compare.column_l2_" : "compare.row_l2_";
    if (a) context.facts.set(std::string(fact) + "a", headroom::row_numbers(*a, true).l2);
    if (b) context.facts.set(std::string(fact) + "b", headroom::row_numbers(*b, true).l2);
    if (!column && a) context.facts.set("compare.row_sum_a", headroom::row_numbers(*a, true).sum);
    if (!column && b) context.facts.set("compare.row_sum_b", headroom::row_numbers(*b, true).sum);
  }
  draw_key_ticks(context, map, layout.row_ticks, map.map.x0 - 8.0f);
}

}  // namespace headroom
