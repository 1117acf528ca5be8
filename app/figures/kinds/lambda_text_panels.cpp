#include "app/figures/kinds/lambda_text_panels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "app/plot/label_layout.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr const char* kLambdaSeries = "rows/lambda";

void draw_name(Painter& painter, LabelSpace& space, const std::vector<Vec2>& own,
               const std::vector<std::vector<Vec2>>& others, const RichText& text, Color color, const Page& page) {
  const float width = rich_width(page.measure, text, page.style.text());
  if (const std::optional<Vec2> at = place_beside(space, own, others, width, page))
    draw_rich(painter, *at, text, page.style.on_lines(color));
  else
    leave_out(page, text);
}

}  // namespace

double LambdaColumn::median() const {
  std::vector<double> means;
  for (const OverTexts& one : heads) means.push_back(one.mean);
  return quantile(means, 0.5);
}

std::int64_t LambdaColumn::apart(bool above) const {
  return std::ranges::count_if(heads, [&](const OverTexts& one) { return one.apart() && (one.mean > 0.0) == above; });
}

PanelRoom LambdaColumnsPanel::room(const Page& page, Vec2 inner) const {
  PanelRoom room;
  room.left = left_of_axis(y, inner.y, page), room.right = page.style.pt(2.0f);
  room.top = tested ? 2.3f * page.style.size() : 0.0f;
  room.bottom = page.style.pt(2.5f) + 2.35f * page.style.size();
  return room;
}

Vec2 LambdaColumnsPanel::least_inner(const Page& page) const {
  float widest = 0.0f;
  for (const LambdaColumn& column : columns)
    for (const std::string& text : {column.name, column.below})
      widest = std::max(widest, page.measure.width(text, Face::Sans, page.style.size()));
  return {static_cast<float>(columns.size()) * (widest + page.style.pt(3.0f)), page.style.mm(14.0f)};
}

void LambdaColumnsPanel::draw(Painter& painter, const PanelFrame& frame, const Page& page) const {
  const PageStyle& style = page.style;
  const Rect& inner = frame.inner;
  const Axis along = placed_axis({-0.5, static_cast<double>(columns.size()) - 0.5}, inner.x0, inner.x1);
  const Axis up = placed_axis(y, inner.y1, inner.y0);
  painter.begin_plot({id, kind, along, up});
  painter.line({inner.x0, up.pixel(0.0)}, {inner.x1, up.pixel(0.0)}, ink::kGuide, style.pt(0.5f));
  const float pitch = inner.width() / static_cast<float>(columns.size());
  const float radius = style.pt(heads.size() > 60 ? 0.75f : 1.1f);
  const std::vector<std::vector<Vec2>> places = placed(along, up, 0.36f * pitch, radius);
  const auto dots = [&](const char* series, Color color, float size,
                        const std::function<bool(std::size_t, const OverTexts&)>& of) {
    painter.begin_series({kLambdaSeries, "", series});
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (std::size_t h = 0; h < heads.size(); ++h)
        if (std::isfinite(columns[c].heads[h].mean) && of(h, columns[c].heads[h]))
          painter.disc(places[c][h], size, color);
    painter.end_series();
  };
  const auto is_chosen = [&](std::size_t h) { return static_cast<std::ptrdiff_t>(h) == chosen; };
  if (tested)
    dots("heads not apart from 0", ink::kNotCounted.mark, radius,
         [&](std::size_t h, const OverTexts& one) { return !is_chosen(h) && !one.apart(); });
  dots("heads", ink::kLambda.mark.faded(0.75f), radius,
       [&](std::size_t h, const OverTexts& one) { return !is_chosen(h) && (!tested || one.apart()); });
  draw_chosen(painter, places, up, style);
  painter.begin_series({kLambdaSeries, "", "medians"});
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (const double median = columns[c].median(); std::isfinite(median)) {
      const float x = along.pixel(static_cast<double>(c)), at = up.pixel(median);
      painter.line({x - 0.42f * pitch, at}, {x + 0.42f * pitch, at}, ink::kBlack, style.pt(1.0f));
    }
  painter.end_series();
  draw_texts(painter, inner, along, page);
  draw_y_axis(painter, inner, y, page);
  painter.end_plot();
}

void LambdaColumnsPanel::add_data(FigureData& data) const {
  for (const LambdaColumn& column : columns) {
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const OverTexts& one = column.heads[h];
      if (!std::isfinite(one.mean)) continue;
      FigureMark mark;
      mark.panel = id, mark.series = series_of(column), mark.kind = "point";
      mark.layer = heads[h].layer, mark.head = heads[h].head;
      mark.y = one.mean, mark.low = one.low, mark.high = one.high, mark.n = one.texts;
      data.add(std::move(mark));
    }
    FigureMark mark;
    mark.panel = id, mark.series = series_of(column) + ", median", mark.kind = "line", mark.y = column.median();
    mark.n = std::ranges::count_if(column.heads, [](const OverTexts& one) { return std::isfinite(one.mean); });
    data.add(std::move(mark));
  }
}

std::string LambdaColumnsPanel::series_of(const LambdaColumn& column) const {
  return name == "ranks" ? column.name + ", " + column.below : column.name;
}

// Dots that would lie on each other stand side by side, as long as the column has room.
std::vector<std::vector<Vec2>> LambdaColumnsPanel::placed(const Axis& along, const Axis& up, float room,
                                                          float radius) const {
  std::vector<std::vector<Vec2>> places;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const float x = along.pixel(static_cast<double>(c));
    std::vector<Vec2> column;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const float at = up.pixel(columns[c].heads[h].mean);
      Vec2 place{x, at};
      for (int step = 1; std::isfinite(at); ++step) {
        const bool taken = std::ranges::any_of(column, [&](const Vec2& other) {
          const float dx = other.x - place.x, dy = other.y - place.y;
          return dx * dx + dy * dy < 3.4f * radius * radius;
        });
        const int half = (step + 1) / 2;
        const float aside = 0.9f * radius * static_cast<float>(half) * (step % 2 == 0 ? -1.0f : 1.0f);
        if (!taken || std::abs(aside) > room) break;
        place.x = x + aside;
      }
      column.push_back(place);
    }
    places.push_back(std::move(column));
  }
  return places;
}

// With its interval over texts.
void LambdaColumnsPanel::draw_chosen(Painter& painter, const std::vector<std::vector<Vec2>>& places, const Axis& up,
                                     const PageStyle& style) const {
  if (chosen < 0) return;
  const auto h = static_cast<std::size_t>(chosen);
  painter.begin_series({kLambdaSeries, head_text(heads[h]), "interval"});
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (const OverTexts& one = columns[c].heads[h]; std::isfinite(one.low))
      painter.line({places[c][h].x, up.pixel(std::clamp(one.low, y.low, y.high))},
                   {places[c][h].x, up.pixel(std::clamp(one.high, y.low, y.high))}, ink::kHead.mark, style.pt(0.7f));
  painter.end_series();
  painter.begin_series({kLambdaSeries, head_text(heads[h]), "head"});
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (std::isfinite(columns[c].heads[h].mean)) painter.disc(places[c][h], style.pt(1.6f), ink::kHead.mark);
  painter.end_series();
}

void LambdaColumnsPanel::draw_texts(Painter& painter, const Rect& inner, const Axis& along, const Page& page) const {
  const PageStyle& style = page.style;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const float x = along.pixel(static_cast<double>(c));
    const float at = inner.y1 + style.pt(2.5f) + 0.6f * style.size();
    painter.text_at(x, at, columns[c].name, style.text(), Painter::Align::Centre);
    painter.text_at(x, at + 1.15f * style.size(), columns[c].below, style.text(ink::kNote), Painter::Align::Centre);
    if (!tested) continue;
    const std::string above = std::to_string(columns[c].apart(true)) + " ↑",
                      under = std::to_string(columns[c].apart(false)) + " ↓";
    painter.text_at(x, inner.y0 - 1.75f * style.size(), above, style.text(ink::kNote), Painter::Align::Centre);
    painter.text_at(x, inner.y0 - 0.65f * style.size(), under, style.text(ink::kNote), Painter::Align::Centre);
  }
}

PanelRoom LambdaCoursePanel::room(const Page& page, Vec2 inner) const {
  return {left_of_axis(y, inner.y, page), page.style.pt(2.0f) + beyond_axis(x, inner.x, page), 0.0f,
          below_axis(x, page)};
}

void LambdaCoursePanel::draw(Painter& painter, const PanelFrame& frame, const Page& page) const {
  const PageStyle& style = page.style;
  const Rect& inner = frame.inner;
  const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
  painter.begin_plot({id, kind, along, up});
  LabelSpace space(inner, style.pt(1.0f));
  painter.line({inner.x0, up.pixel(0.0)}, {inner.x1, up.pixel(0.0)}, ink::kGuide, style.pt(0.5f));
  const std::vector<double> at = column(&Point::x), low = column(&Point::lower), high = column(&Point::upper),
                            median = column(&Point::median), own = column(&Point::head);
  if (heads > 1) {
    painter.begin_series({kLambdaSeries, "", "quartiles of heads"});
    draw_page_band(painter, along, up, at, low, high, ink::kLambda.mark.faded(0.16f));
    painter.end_series();
    painter.begin_series({kLambdaSeries, "", "median of heads"});
    draw_page_line(painter, placed_points(along, up, at, median), ink::kLambda.mark, style.pt(1.0f), kLongDash, page);
    painter.end_series();
  }
  painter.begin_series({kLambdaSeries, head_text(head), "head"});
  draw_page_line(painter, placed_points(along, up, at, own), ink::kHead.mark, style.pt(1.2f), kSolidLine, page);
  painter.end_series();
  const std::vector<Vec2> green = placed_points(along, up, at, own), violet = placed_points(along, up, at, median);
  block_page_line(space, green, style.pt(1.2f));
  block_page_line(space, violet, style.pt(1.0f));
  draw_name(painter, space, green, {violet}, rich(head_text(head)), ink::kHead.text, page);
  if (heads > 1) draw_name(painter, space, violet, {green}, rich("median of heads"), ink::kLambda.text, page);
  draw_x_axis(painter, inner, x, page);
  draw_y_axis(painter, inner, y, page);
  painter.end_plot();
}

void LambdaCoursePanel::add_data(FigureData& data) const {
  for (const Point& point : points) {
    FigureMark mark;
    mark.panel = id, mark.series = series + ", head", mark.kind = "line";
    mark.layer = head.layer, mark.head = head.head, mark.x = point.x, mark.y = point.head, mark.n = point.tokens;
    data.add(mark);
    if (heads < 2) continue;
    mark.layer = mark.head = -1, mark.series = series + ", heads", mark.y = point.median;
    mark.low = point.lower, mark.high = point.upper;
    data.add(std::move(mark));
  }
}

std::vector<double> LambdaCoursePanel::column(double Point::* of) const {
  std::vector<double> values;
  for (const Point& point : points) values.push_back(point.*of);
  return values;
}

}  // namespace headroom
