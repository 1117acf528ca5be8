#include "app/plot/plain_measure.h"

#include <cstddef>
#include <string_view>

#include "app/plot/unicode.h"

namespace headroom {

float PlainMeasure::width(std::string_view text, Face face, float size) const {
  const float narrow = face == Face::Mono || face == Face::MonoSemibold ? 0.6f : 0.56f;
  float ems = 0.0f;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = decode_utf8(text, at);
    at += point ? point->bytes : 1;
    if (!point) {
      ems += narrow;
    } else if (point->value >= 0x20 && point->value != 0x7F && !is_joining(point->value)) {
      ems += is_wide(point->value) ? 1.0f : narrow;
    }
  }
  return ems * size;
}

}  // namespace headroom
