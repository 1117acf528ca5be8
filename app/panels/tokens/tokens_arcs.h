// The attention of the pointed token drawn into the large text: keys framed and underlined with their weights, and arcs
// to them. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/tokens/large_text.h"
#include "app/panels/tokens/pointed_attention.h"

namespace headroom {

inline constexpr std::size_t kMostArcs = 12;

// The keys that get one: by magnitude, those of at least `least`, at most kMostArcs.
[[nodiscard]] std::vector<std::int64_t> arc_keys(const PointedAttention& attention, double least);

// The curve from a token to a key on another line, as points; empty on the same line, over which none is drawn.
[[nodiscard]] std::vector<Vec2> arc_between(Rect token, Rect key);

// `arcs`: curves too, not only frames and weights. Returns how many curves were drawn.
std::size_t draw_attention(PanelContext& context, const LargeText& text, std::int64_t token,
                           const PointedAttention& attention, double least, bool arcs);

}  // namespace headroom
