#include "app/figures/head_places.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/figures/page_bar.h"
#include "app/plot/cell_contour.h"

namespace headroom {
namespace {

constexpr std::size_t kMostWithGaps = 64;  // heads of a layer

PageAxis places_of(const std::vector<std::int64_t>& indices) {
  PageAxis axis{-0.5, static_cast<double>(indices.size()) - 0.5};
  axis.whole = true;
  return axis;
}

// What stands at a tick: the index of its place.
void draw_index(Painter& painter, Vec2 at, const std::vector<std::int64_t>& indices, const PageTick& tick,
                const PageStyle& style, Painter::Align align) {
  const auto place = static_cast<std::size_t>(std::llround(tick.value));
  if (!tick.label.empty() && place < indices.size())
    draw_rich(painter, at, rich(std::to_string(indices[place])), style.text(), align);
}

}  // namespace

PageAxis HeadPlaces::across() const {
  PageAxis axis = places_of(layers);
  axis.title = rich(layers_title(layers, all_layers));
  return axis;
}

PageAxis HeadPlaces::down() const { return places_of(heads); }

Rect HeadPlaces::place(const Rect& inner, std::size_t layer, std::size_t head) const {
  const float w = inner.width() / static_cast<float>(layers.size()),
              t = inner.height() / static_cast<float>(heads.size());
  return Rect::sized(inner.x0 + w * static_cast<float>(layer), inner.y0 + t * static_cast<float>(head), w, t);
}

float HeadPlaces::left(const Page& page) const {
  return page.style.title_size() * 1.2f + std::max(0.0f, 0.3f * page.style.title_size() - page.style.pt(2.5f)) +
         left_of_axis(down(), 40.0f, page);
}

void HeadPlaces::draw_numbers(Painter& painter, const Rect& inner, const Page& page) const {
  const PageStyle& style = page.style;
  const float text = 0.72f * style.size(), y = inner.y1 + style.pt(4.2f) + text;
  for (const PageTick& tick : page_ticks(across(), inner.x0, inner.x1, true, page))
    draw_index(painter, {tick.place, y}, layers, tick, style, Painter::Align::Centre);
  for (const PageTick& tick : page_ticks(down(), inner.y0, inner.y1, false, page))
    draw_index(painter, {inner.x0 - style.pt(4.2f), tick.place + 0.5f * text}, heads, tick, style,
               Painter::Align::Right);
  draw_rich(painter, {inner.centre_x(), y + style.pt(2.5f) + 0.72f * style.title_size()}, across().title, style.title(),
            Painter::Align::Centre);
  const float beside = left_of_axis(down(), inner.height(), page);
  draw_rich_upwards(painter,
                    {inner.x0 - beside - std::max(style.pt(2.0f), 0.3f * style.title_size()), inner.centre_y()},
                    rich("head"), style.title());
}

void HeadPlaces::draw_cells(Painter& painter, const Rect& inner, std::span<const double> values,
                            const ColorScale& scale, const Page& page) const {
  const float gap = heads.size() > kMostWithGaps || layers.size() > 2 * kMostWithGaps ? 0.0f : kCellGap;
  for (std::size_t l = 0; l < layers.size(); ++l)
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const Rect whole = place(inner, l, h);
      const float side = 0.5f * gap * std::min(whole.width(), whole.height());
      const Rect drawn{whole.x0 + side, whole.y0 + side, whole.x1 - side, whole.y1 - side};
      const double v = values[l * heads.size() + h];
      if (std::isfinite(v))
        painter.fill_rect(drawn, scale_color(scale, static_cast<float>(v)));
      else
        draw_hatch(painter, drawn, page);
    }
}

void HeadPlaces::draw_contour(Painter& painter, const Rect& inner,
                              const std::function<bool(std::size_t, std::size_t)>& inside, const Page& page) const {
  const float width = page.style.pt(0.7f), half = 0.5f * width;
  std::vector<std::uint8_t> flags;
  for (std::size_t h = 0; h < heads.size(); ++h)
    for (std::size_t l = 0; l < layers.size(); ++l) flags.push_back(inside(l, h) ? 1 : 0);
  // A line for each side of a cell, whose ends reach into the corners.
  for (const CellEdge& edge : cell_contour(heads.size(), layers.size(), flags, ContourRim::Closed)) {
    for (std::size_t l = edge.from_column; l < edge.to_column; ++l) {
      const Rect r = place(inner, l, edge.from_row);
      painter.line({r.x0 - half, r.y0}, {r.x1 + half, r.y0}, ink::kBlack, width);
    }
    for (std::size_t h = edge.from_row; h < edge.to_row; ++h) {
      const Rect r = place(inner, edge.from_column, h);
      painter.line({r.x0, r.y0 - half}, {r.x0, r.y1 + half}, ink::kBlack, width);
    }
  }
}

void HeadPlaces::draw_frame(Painter& painter, const Rect& inner, HeadRef head, const Page& page) const {
  const auto l = std::ranges::find(layers, head.layer), h = std::ranges::find(heads, head.head);
  if (l == layers.end() || h == heads.end()) return;
  const Rect r =
      place(inner, static_cast<std::size_t>(l - layers.begin()), static_cast<std::size_t>(h - heads.begin()));
  const float white = page.style.pt(1.8f), green = page.style.pt(1.1f), out = 0.5f * white;
  painter.stroke_rect({r.x0 - out, r.y0 - out, r.x1 + out, r.y1 + out}, ink::kWhite, white);
  const float side = 0.5f * green;
  painter.stroke_rect({r.x0 - side, r.y0 - side, r.x1 + side, r.y1 + side}, ink::kHead.mark, green);
}

}  // namespace headroom
