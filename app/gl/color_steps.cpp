#include "app/gl/color_steps.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace headroom {
namespace {

// Floats in order as whole numbers: −max is −kLargest, max is kLargest, both zeros are 0.
constexpr std::int64_t kLargest = 0x7f7fffff;

float float_at(std::int64_t order) {
  const float magnitude = std::bit_cast<float>(static_cast<std::uint32_t>(order < 0 ? -order : order));
  return order < 0 ? -magnitude : magnitude;
}

long entry_of(const ColorScale& scale, std::int64_t order) {
  return std::lround(255.0f * scale_position(scale, float_at(order)));
}

// Fills from[] for the entries in (first, last], which begin somewhere in (low, high].
void fill(const ColorScale& scale, ColorSteps& steps, std::int64_t low, long first, std::int64_t high, long last) {
  if (first >= last) return;
  if (high - low == 1) {
    for (long k = first + 1; k <= last; ++k) steps.from[static_cast<std::size_t>(k)] = float_at(high);
    return;
  }
  const std::int64_t middle = low + (high - low) / 2;
  const long entry = entry_of(scale, middle);
  fill(scale, steps, low, first, middle, entry);
  fill(scale, steps, middle, entry, high, last);
}

}  // namespace

ColorSteps color_steps(const ColorScale& scale) {
  ColorSteps steps;
  steps.from.fill(std::numeric_limits<float>::infinity());
  const long first = entry_of(scale, -kLargest), last = entry_of(scale, kLargest);
  for (long k = 0; k <= first; ++k) steps.from[static_cast<std::size_t>(k)] = -std::numeric_limits<float>::infinity();
  fill(scale, steps, -kLargest, first, kLargest, last);
  return steps;
}

}  // namespace headroom
