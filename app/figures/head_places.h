// A place for each head of a run: layers across, heads down, with their numbers. Values; drawing is as the painter
// says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/page_axes.h"

namespace headroom {

struct HeadPlaces {
  std::vector<std::int64_t> layers, heads;

  // Places stand about the whole numbers of both axes; the axes count places, which are indices where all are drawn.
  [[nodiscard]] PageAxis across() const;
  [[nodiscard]] PageAxis down() const;
  [[nodiscard]] Rect place(const Rect& inner, std::size_t layer, std::size_t head) const;
  // Left of the places, with the numbers and the title of the heads.
  [[nodiscard]] float left(const Page& page) const;
  void draw_numbers(Painter& painter, const Rect& inner, const Page& page) const;
};

}  // namespace headroom
