// What lies on the cells of a map: crosshair, pin, lens; and the overview of the whole. Main thread only.
#pragma once

#include <cstdint>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"

namespace headroom {

// Where the crosshair stands, and why.
struct Crosshair {
  std::int64_t query = 0, key = 0;
  bool hovered = false;
};
void draw_crosshair(PanelContext& context, const MapLayout& layout, const Crosshair& at);
// The frame of a pinned cell that the crosshair is not on.
void draw_pin(PanelContext& context, const MapLayout& layout, std::int64_t query, std::int64_t key);
void draw_lens(PanelContext& context, const LensLayout& lens, const MapSubject& subject, const Crosshair& at,
               const ColorScale& scale);
// The whole map from its coarsest tile, the visible window framed; dragging or clicking moves the window.
void draw_overview(PanelContext& context, Rect frame, const MapLayout& layout, const MapSubject& subject,
                   const ColorScale& scale, bool titled);

}  // namespace headroom
