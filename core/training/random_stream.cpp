#include "core/training/random_stream.h"

#include <cmath>
#include <numbers>

#include "core/base/split_mix.h"

namespace headroom {
namespace {

// Without the increment.
std::uint64_t mix(std::uint64_t z) { return split_mix(z - kSplitMixIncrement); }

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view stream, std::uint64_t index)
    : state_(mix(split_mix(seed) ^ mix(fnv1a(stream)) ^ split_mix(index + kSplitMixIncrement))) {}

std::uint64_t RandomStream::next() {
  const std::uint64_t number = split_mix(state_);
  state_ += kSplitMixIncrement;
  return number;
}

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::int64_t RandomStream::below(std::int64_t end) {
  return static_cast<std::int64_t>(uniform() * static_cast<double>(end));
}

}  // namespace headroom
