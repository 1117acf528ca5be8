// What panels write into their title line themselves, where the room that is left there decides: the name of the model
// before that of the head, elided in its middle. Layout is pure; safe from any thread.
#pragma once

#include "app/figures/figure.h"

namespace headroom {

// Between the panel's title and the names at its right end.
struct TitleLine {
  // Millimetres, of every title line.
  static constexpr float kBaseline = 3.1f, kEdge = 0.8f, kBetweenNames = 1.8f, kBeforeHead = 2.0f;
  float from = 0.0f, to = 0.0f, baseline = 0.0f;
  [[nodiscard]] float width() const { return to - from; }
  [[nodiscard]] Vec2 start() const { return {from, baseline}; }
};
// From the left edge of the panel's letter to its title.
[[nodiscard]] float letter_room(const FigurePanel& panel, const Page& page);
[[nodiscard]] TitleLine free_title_line(const FigurePanel& panel, const PanelFrame& frame, const Page& page);

// "SmolLM2-135M-Instruct · " before the panel's `right`; as much of it as has room. Nothing where the panel has no
// `model`; the page says so where nothing of it that could be read has room.
// `taken`: what the panel wrote behind its title.
void draw_model_name(Painter& painter, const FigurePanel& panel, const PanelFrame& frame, const Page& page,
                     float taken = 0.0f);

}  // namespace headroom
