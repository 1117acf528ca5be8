#include "app/figures/kinds/interval_list.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "app/figures/page_beyond.h"
#include "app/figures/page_lines.h"

namespace headroom {

PanelRoom IntervalListPanel::room(const Page& page, Vec2 inner) const {
  float widest = 0.0f;
  for (const Row& row : rows) widest = std::max(widest, rich_width(page.measure, row.name, page.style.text()));
  return {widest + page.style.pt(4.0f), std::max(page.style.pt(4.0f), most_beyond_axis(x, inner.x, page)),
          level_label.empty() ? 0.0f : page.style.size(), below_axis(x, page)};
}

Vec2 IntervalListPanel::least_inner(const Page& page) const {
  return {std::max(page.style.mm(18.0f), rich_width(page.measure, x.title, page.style.title())),
          1.02f * page.style.size() * static_cast<float>(rows.size())};
}

void IntervalListPanel::draw(Painter& painter, const PanelFrame& frame, const Page& page) const {
  const PageStyle& style = page.style;
  const Rect& inner = frame.inner;
  const PageAxis lines{-0.5, static_cast<double>(rows.size()) - 0.5};
  const Axis along = placed_axis(x, inner.x0, inner.x1), down = placed_axis(lines, inner.y0, inner.y1);
  painter.begin_plot({id, kind, along, down});
  const auto at = [&](std::size_t i) { return down.pixel(static_cast<double>(i)); };
  if (level) {
    const Vec2 top{along.pixel(*level), inner.y0}, foot{along.pixel(*level), inner.y1};
    if (*level_name != '\0') painter.begin_series({quantity, "", level_name});
    if (*level == 0.0)
      painter.line(top, foot, ink::kBlack, style.pt(0.5f));
    else
      painter.dashed_line(top, foot, ink::kBlack, style.pt(0.7f), style.pt(kBoundDash.on), style.pt(kBoundDash.off));
    if (*level_name != '\0') painter.end_series();
    if (!level_label.empty())
      draw_rich(painter, {top.x, inner.y0 - style.pt(2.0f)}, level_label, style.text(), Painter::Align::Centre);
  }
  painter.begin_series({quantity, "", "intervals"});
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].has_interval())
      painter.line({along.pixel(std::clamp(rows[i].low, x.low, x.high)), at(i)},
                   {along.pixel(std::clamp(rows[i].high, x.low, x.high)), at(i)}, rows[i].line, style.pt(0.8f));
  painter.end_series();
  for (std::size_t i = 0; arrows && i < rows.size(); ++i) {
    if (rows[i].low < x.low) draw_edge_arrow(painter, {inner.x0, at(i)}, {-1.0f, 0.0f}, rows[i].line, page);
    if (rows[i].high > x.high) draw_edge_arrow(painter, {inner.x1, at(i)}, {1.0f, 0.0f}, rows[i].line, page);
  }
  if (!others.empty()) {
    painter.begin_series({quantity, "", others});
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (std::isfinite(rows[i].other))
        painter.ring({along.pixel(rows[i].other), at(i)}, style.pt(2.0f), ink::kSecond.mark, style.pt(0.7f));
    painter.end_series();
  }
  painter.begin_series({quantity, "", numbers});
  for (std::size_t i = 0; i < rows.size(); ++i)
    painter.disc({along.pixel(rows[i].value), at(i)}, style.pt(1.5f), rows[i].point);
  painter.end_series();
  for (std::size_t i = 0; i < rows.size(); ++i)
    draw_rich(painter, {inner.x0 - style.pt(4.0f), at(i) + 0.36f * style.size()}, rows[i].name,
              style.text(rows[i].text), Painter::Align::Right);
  draw_x_axis(painter, inner, x, page);
  painter.end_plot();
}

void IntervalListPanel::add_data(FigureData& data) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    FigureMark mark;
    mark.panel = id, mark.series = row.series.empty() ? quantity : row.series;
    mark.kind = row.has_interval() ? "interval" : "point";
    if (row.head) mark.layer = row.head->layer, mark.head = row.head->head;
    mark.x = row.value, mark.y = static_cast<double>(i), mark.low = row.low, mark.high = row.high, mark.n = row.n;
    data.add(mark);
    if (others.empty() || !std::isfinite(row.other)) continue;
    mark.series += " " + others, mark.kind = "point", mark.x = row.other, mark.low = mark.high = kNaN, mark.n = -1;
    data.add(std::move(mark));
  }
}

}  // namespace headroom
