// Beside the map of a differential head: first and second map with a divider and λ over position, or for V1 λ by layer
// and the gain of the head's norm. Main thread only.
#pragma once

#include "app/panels/map/map_figure.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_labels.h"
#include "app/panels/map/map_range.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"

namespace headroom {

// The layout of the map beside, with the same window, cells and size.
[[nodiscard]] MapLayout side_layout(const MapLayout& layout);
// first | second (λ · second where that is the map shown), on one log scale.
FigureProgress draw_swipe(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                          const MapRange& range);
// The handle of the divider; above the map, so drawn after its crosshair.
void draw_swipe_divider(PanelContext& context, const MapLayout& layout, const MapSubject& subject);
[[nodiscard]] MapRange swipe_range(const MapSubject& subject, const MapView& view, const Theme& theme);
void draw_lambda_over_position(PanelContext& context, const Rect& area, const MapSubject& subject,
                               const MapMarks& marks);
// V1.
void draw_lambda_by_layer(PanelContext& context, const Rect& area, const MapSubject& subject);
void draw_norm_gain(PanelContext& context, const Rect& area, const MapSubject& subject, const MapMarks& marks);

}  // namespace headroom
