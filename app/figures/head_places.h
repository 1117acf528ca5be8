// A place for each head of a run: layers across, heads down, with their numbers. Values; drawing is as the painter
// says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/page_axes.h"
#include "app/plot/color_map.h"

namespace headroom {

struct HeadPlaces {
  std::vector<std::int64_t> layers, heads;
  std::int64_t all_layers = 0;  // of the model; 0: not known

  // Places stand about the whole numbers of both axes; the axes count places, which are indices where all are drawn.
  [[nodiscard]] PageAxis across() const;
  [[nodiscard]] PageAxis down() const;
  [[nodiscard]] Rect place(const Rect& inner, std::size_t layer, std::size_t head) const;
  // Left of the places, with the numbers and the title of the heads.
  [[nodiscard]] float left(const Page& page) const;
  void draw_numbers(Painter& painter, const Rect& inner, const Page& page) const;
  // A cell for each head, of values [layers, heads]; hatched where that is not a number.
  void draw_cells(Painter& painter, const Rect& inner, std::span<const double> values, const ColorScale& scale,
                  const Page& page) const;
  // Between places for which `inside` says yes and those for which it does not; asked for places alone.
  void draw_contour(Painter& painter, const Rect& inner, const std::function<bool(std::size_t, std::size_t)>& inside,
                    const Page& page) const;
  // A frame round a head's place; none where it is not drawn.
  void draw_frame(Painter& painter, const Rect& inner, HeadRef head, const Page& page) const;
};

inline constexpr float kCellGap = 0.12f;  // of a cell, to the next

}  // namespace headroom
