// A float of 16 bits (IEEE binary16) as float. Safe from any thread.
#pragma once

#include <bit>
#include <cstdint>

namespace headroom {

// Without branches, so that a loop of it vectorises. Normal numbers: the exponent is moved and rescaled by 2^-112,
// which also carries infinity and NaN. Subnormal ones: the mantissa is placed behind 0.5, which is subtracted again.
[[nodiscard]] inline float half_to_float(std::uint16_t half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  const std::uint32_t magnitude = bits << 1;
  const float normal = std::bit_cast<float>((magnitude >> 4) + (std::uint32_t{0xE0} << 23)) * 0x1.0p-112F;
  const float subnormal = std::bit_cast<float>((magnitude >> 17) | (std::uint32_t{126} << 23)) - 0.5F;
  const std::uint32_t value = std::bit_cast<std::uint32_t>(magnitude < (std::uint32_t{1} << 27) ? subnormal : normal);
  return std::bit_cast<float>((bits & 0x80000000U) | value);
}

}  // namespace headroom
