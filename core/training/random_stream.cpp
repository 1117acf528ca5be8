#include "core/training/random_stream.h"

#include <cmath>
#include <numbers>

namespace headroom {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view stream, std::uint64_t index)
    : state_(mix(mix(seed + kGolden) ^ mix(fnv1a(stream)) ^ mix(index + 2 * kGolden))) {}

std::uint64_t RandomStream::next() { return mix(state_ += kGolden); }

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::int64_t RandomStream::below(std::int64_t end) {
  return static_cast<std::int64_t>(uniform() * static_cast<double>(end));
}

}  // namespace headroom
