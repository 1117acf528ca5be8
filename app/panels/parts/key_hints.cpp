#include "app/panels/parts/key_hints.h"

#include <cmath>

namespace headroom {

void draw_key_hints(PanelContext& context, Rect row, std::span<const KeyHint> hints) {
  Ui& ui = context.ui;
  const TextStyle style = context.theme().hint();
  const float y = std::round(row.centre_y());
  float x = row.x0;
  for (const auto& [key, text] : hints) {
    const float cap = ui.key_cap_width(key), words = std::round(ui.width(text, style));
    if (x + cap + 8.0f + words > row.x1) return;
    ui.key_cap({x, y}, key);
    context.painter().text_at(x + cap + 8.0f, y, text, style);
    x += cap + 8.0f + words + 16.0f;
  }
}

}  // namespace headroom
