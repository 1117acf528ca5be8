// A long text in one bar: its tint, pooled to pixels, the range of the map and the pinned tokens. Main thread only.
#pragma once

#include <cstdint>

#include "app/panels/panel.h"
#include "app/panels/tokens/tokens_tint.h"

namespace headroom {

inline constexpr float kTokenMinimap = 25.0f;  // its height

// A click or drag brings a token into view.
void draw_token_minimap(PanelContext& context, const TokenTint& tint, std::int64_t tokens, Rect area);

}  // namespace headroom
