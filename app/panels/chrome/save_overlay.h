// Where something is saved, and under which name. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

// Of a preview, in logical pixels: it fits into this.
inline constexpr float kPreviewWidth = 216.0f, kPreviewHeight = 200.0f;

void draw_save(PanelContext& context, Rect window);
// What was saved last, at the lower right, for some seconds; longer while the pointer is on it.
void draw_toast(PanelContext& context, Rect window);

}  // namespace headroom
