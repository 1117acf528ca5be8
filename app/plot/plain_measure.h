// Text widths by a simple rule, the same on every machine: for unit tests of layouts. Immutable; safe from any thread.
#pragma once

#include <string_view>

#include "app/plot/painter.h"

namespace headroom {

// 0.56 · size per code point of the sans faces, 0.6 · size of the mono ones, 1 · size for wide East Asian characters
// and emoji, nothing for combining marks, joiners and control characters.
class PlainMeasure final : public TextMeasure {
 public:
  [[nodiscard]] float width(std::string_view text, Face face, float size) const override;
};

}  // namespace headroom
