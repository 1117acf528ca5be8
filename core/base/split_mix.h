// SplitMix64's output function: a number that looks random for each number, the same on every machine. Pure function.
#pragma once

#include <cstdint>

namespace headroom {

// What SplitMix64 puts out from the state x, its increment added first (Steele, Lea and Flood 2014,
// doi:10.1145/2660193.2660195; constants by Vigna's splitmix64.c).
inline constexpr std::uint64_t kSplitMixIncrement = 0x9E3779B97F4A7C15;
[[nodiscard]] constexpr std::uint64_t split_mix(std::uint64_t x) {
  x += kSplitMixIncrement;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace headroom
