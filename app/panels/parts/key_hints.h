// What keys and gestures do, in a line: a cap and its words, those that fit. Main thread only.
#pragma once

#include <span>
#include <string>

#include "app/panels/panel.h"

namespace headroom {

struct KeyHint {
  std::string key, text;
};
void draw_key_hints(PanelContext& context, Rect row, std::span<const KeyHint> hints);

}  // namespace headroom
