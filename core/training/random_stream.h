// Random numbers that depend on (seed, stream, index) alone: the same on every machine, and a training that goes on
// after a stop draws what it would have drawn. Owned by one thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace headroom {

// SplitMix64 (Steele, Lea, Flood 2014), begun at mix(mix(seed + γ) ^ mix(FNV-1a(stream)) ^ mix(index + 2γ)) with its
// increment γ.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view stream, std::uint64_t index = 0);

  std::uint64_t next();
  double uniform();                      // [0, 1), 53 bits
  double normal();                       // N(0, 1), Box–Muller, one of each pair
  std::int64_t below(std::int64_t end);  // 0 … end − 1

 private:
  std::uint64_t state_;
};

}  // namespace headroom
