// A head at a glance: its map at 256 pixels, the keys that receive most, four numbers. Drawn above all panels, beside
// the thumbnail that asked for it and never over it. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "app/panels/panel.h"

namespace headroom {

// Where a card of that size stands: beside `thumbnail` inside `window`, at its right where there is room, else left,
// below or above; nowhere where it would cover the thumbnail. Pure.
[[nodiscard]] std::optional<Rect> place_card(Rect thumbnail, Vec2 size, Rect window);

// The keys with the largest shares, largest first, and where their labels stand along an axis so that none touches
// another: `wide` pixels each, inside from … to. Pure.
struct CardKey {
  std::int64_t key = 0;
  double share = 0.0;
};
[[nodiscard]] std::vector<CardKey> largest_keys(std::span<const float> received, std::size_t count);
[[nodiscard]] std::vector<float> spread_labels(std::vector<float> wanted, std::span<const float> widths, float from,
                                               float to);

void draw_head_card(PanelContext& context, Rect window);

}  // namespace headroom
