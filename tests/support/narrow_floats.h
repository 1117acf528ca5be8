// Conversions between float and the 16-bit formats, rounding to nearest even as IEEE 754 says. Written for clarity,
// from the formats' definitions. Plain functions; safe from any thread.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/cuda/attention.h"

namespace headroom::test {

[[nodiscard]] inline float widen(kernels::BFloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

[[nodiscard]] inline float widen(kernels::Float16 value) {
  const int exponent = value.bits >> 10 & 31, fraction = value.bits & 1023;
  const float sign = value.bits >> 15 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

[[nodiscard]] inline float widen(float value) { return value; }

inline void narrow(float value, float& result) { result = value; }

inline void narrow(float value, kernels::BFloat16& result) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) {
    result.bits = 0x7fff;
    return;
  }
  const std::uint32_t half = 0x7fffu + (bits >> 16 & 1u);  // ties to even
  result.bits = static_cast<std::uint16_t>((bits + half) >> 16);
}

inline void narrow(float value, kernels::Float16& result) {
  const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
  const float size = std::abs(value);
  unsigned bits = 0x7e00u;
  if (size >= 65520.0f) {
    bits = 0x7c00u;
  } else if (size < std::ldexp(1.0f, -14)) {
    bits = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 24)));
  } else if (!std::isnan(value)) {
    const int exponent = std::ilogb(size);
    // Up to 2048: a fraction that rounds up carries into the exponent by itself.
    const auto fraction = static_cast<unsigned>(std::nearbyint(std::ldexp(size, 10 - exponent)));
    bits = (static_cast<unsigned>(exponent + 14) << 10) + fraction;
  }
  result.bits = static_cast<std::uint16_t>(sign | bits);
}

template <class Narrow>
[[nodiscard]] Narrow narrowed(float value) {
  Narrow result;
  narrow(value, result);
  return result;
}

}  // namespace headroom::test
