#include "app/figures/head_places.h"

#include <cmath>
#include <string>

namespace headroom {
namespace {

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
  axis.title = rich("layer");
  return axis;
}

PageAxis HeadPlaces::down() const { return places_of(heads); }

Rect HeadPlaces::place(const Rect& inner, std::size_t layer, std::size_t head) const {
  const float w = inner.width() / static_cast<float>(layers.size()),
              t = inner.height() / static_cast<float>(heads.size());
  return Rect::sized(inner.x0 + w * static_cast<float>(layer), inner.y0 + t * static_cast<float>(head), w, t);
}

float HeadPlaces::left(const Page& page) const {
  return page.style.title_size() * 1.2f + left_of_axis(down(), 40.0f, page);
}

void HeadPlaces::draw_numbers(Painter& painter, const Rect& inner, const Page& page) const {
  const PageStyle& style = page.style;
  const float text = 0.72f * style.size(), y = inner.y1 + style.pt(4.2f) + text;
  for (const PageTick& tick : page_ticks(across(), inner.x0, inner.x1, true, page))
    draw_index(painter, {tick.place, y}, layers, tick, style, Painter::Align::Centre);
  for (const PageTick& tick : page_ticks(down(), inner.y0, inner.y1, false, page))
    draw_index(painter, {inner.x0 - style.pt(4.2f), tick.place + 0.5f * text}, heads, tick, style,
               Painter::Align::Right);
  draw_rich(painter, {inner.centre_x(), y + style.pt(2.5f) + 0.72f * style.title_size()}, rich("layer"), style.title(),
            Painter::Align::Centre);
  const float beside = left_of_axis(down(), inner.height(), page);
  draw_rich_upwards(painter, {inner.x0 - beside - style.pt(2.0f), inner.centre_y()}, rich("head"), style.title());
}

}  // namespace headroom
