#include "app/figures/kinds/lines_panel.h"

#include <cstddef>
#include <utility>

#include "app/figures/page_labels.h"
#include "app/plot/label_layout.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

std::string head_of_line(const LinesPanel::Line& line) { return line.head ? head_text(*line.head) : std::string(); }

}  // namespace

PanelRoom LinesPanel::room(const Page& page, Vec2 inner) const {
  std::vector<RichText> names;
  for (const Line& line : lines)
    if (!line.label.empty()) names.push_back(line.label);
  const float beyond = most_beyond_axis(x, inner.x, page);
  return {left_of_axis(y, inner.y, page), names.empty() ? beyond : std::max(end_name_room(names, page), beyond), 0.0f,
          below_axis(x, page)};
}

void LinesPanel::draw(Painter& painter, const PanelFrame& frame, const Page& page) const {
  const Rect& inner = frame.inner;
  const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
  painter.begin_plot({id, kind, along, up});
  LabelSpace space(inner, page.style.pt(1.0f));
  for (const Level& level : levels)
    draw_page_level(painter, inner, up, level.value, level.name, ink::kBlack, kBoundDash, space, page);
  for (const Line& line : lines) {
    if (!line.band) continue;
    painter.begin_series({quantity, head_of_line(line), line.series + " interval"});
    draw_page_band(painter, along, up, places, within_axis(line.values.low), within_axis(line.values.high),
                   line.color.mark.faded(0.18f));
    // A band has two ends at least.
    const auto known = [&](std::size_t i) {
      return i < places.size() && std::isfinite(line.values.low[i]) && std::isfinite(line.values.high[i]);
    };
    for (std::size_t i = 0; line.points && i < places.size(); ++i) {
      if (!known(i) || known(i + 1) || (i > 0 && known(i - 1))) continue;
      const float at = along.pixel(places[i]);
      painter.line({at, up.pixel(std::clamp(line.values.low[i], y.low, y.high))},
                   {at, up.pixel(std::clamp(line.values.high[i], y.low, y.high))}, line.color.mark.faded(0.5f),
                   page.style.pt(0.8f));
    }
    painter.end_series();
  }
  std::vector<EndName> names;
  for (const Line& line : lines) {
    const std::vector<Vec2> points = placed_points(along, up, places, line.values.y);
    painter.begin_series({quantity, head_of_line(line), line.series});
    draw_page_line(painter, points, line.color.mark, line.width, line.dash, page);
    // A point without neighbours is a disc already.
    const auto there = [&](std::size_t i) { return i < points.size() && std::isfinite(points[i].y); };
    for (std::size_t i = 0; line.points && i < points.size(); ++i)
      if (there(i) && (there(i + 1) || (i > 0 && there(i - 1))))
        painter.disc(points[i], page.style.pt(1.3f), line.color.mark);
    painter.end_series();
    if (!levels.empty()) block_page_line(space, points, page.style.pt(2.6f));
    if (line.label.empty()) continue;
    float end = std::nanf("");
    for (const Vec2 point : points)
      if (std::isfinite(point.y)) end = point.y;
    names.push_back({line.label, line.color.text, end});
  }
  draw_end_names(painter, inner, names, page);
  for (const Level& level : levels) {
    if (level.label.empty()) continue;
    const float width = rich_width(page.measure, level.label, page.style.text());
    if (!try_label(painter, page, space, level.label, page.style.on_lines(ink::kBlack),
                   places_along(inner, up.pixel(level.value), width, true, page)))
      leave_out(page, level.label);
  }
  draw_x_axis(painter, inner, x, page);
  draw_y_axis(painter, inner, y, page);
  painter.end_plot();
}

void LinesPanel::add_data(FigureData& data) const {
  for (const Line& line : lines)
    for (std::size_t i = 0; i < places.size(); ++i) {
      FigureMark mark;
      mark.panel = id, mark.series = quantity + " " + line.series, mark.kind = "line";
      const std::optional<HeadRef> head = i < line.heads.size() ? line.heads[i] : line.head;
      if (head) mark.layer = head->layer, mark.head = head->head;
      mark.x = places[i], mark.y = line.values.y[i], mark.n = i < line.n.size() ? line.n[i] : n;
      if (line.band) mark.low = line.values.low[i], mark.high = line.values.high[i];
      data.add(std::move(mark));
    }
}

std::vector<double> LinesPanel::within_axis(std::vector<double> values) const {
  for (double& value : values)
    if (std::isfinite(value)) value = std::clamp(value, y.low, y.high);
  return values;
}

void set_line_range(LinesPanel& panel, bool log, const std::optional<Range>& natural) {
  double low = kInfinity, high = -kInfinity;
  for (const LinesPanel::Line& line : panel.lines)
    for (const std::vector<double>* values :
         {&line.values.y, line.band ? &line.values.low : nullptr, line.band ? &line.values.high : nullptr})
      for (std::size_t i = 0; values != nullptr && i < values->size(); ++i)
        if (const double v = (*values)[i]; std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  if (low > high) low = 0.0, high = 1.0;
  if (natural && (low < natural->low || high > natural->high))
    panel.sentence += " Intervals are cut where the quantity ends, at " + short_text(natural->low) + " and " +
                      short_text(natural->high) + ".";
  if (natural) low = natural->low, high = std::min(high, natural->high);
  log = log && low > 0.0;
  const Range range = nice_range(low, high > low ? high : low + std::max(1e-6, 0.01 * std::abs(low)), log);
  panel.y = {range.low, natural ? std::min(range.high, natural->high) : range.high, log};
}

}  // namespace headroom
