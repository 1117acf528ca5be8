#include "app/panels/parts/key_hints.h"

namespace headroom {

void draw_key_hints(PanelContext& context, Rect row, std::span<const KeyHint> hints) {
  const Ui& ui = context.ui;
  const TextStyle style = context.theme().hint();
  float x = row.x0;
  for (const auto& [key, text] : hints) {
    const float cap = ui.key_cap_width(key), words = ui.width(text, style);
    if (x + cap + 7.0f + words > row.x1) return;
    context.ui.key_cap({x, row.centre_y()}, key);
    context.painter().text_at(x + cap + 7.0f, row.centre_y(), text, style);
    x += cap + 7.0f + words + 14.0f;
  }
}

}  // namespace headroom
