// What is kept of the residual stream at one boundary between blocks: how large it is token by token, how far a few
// channels stand out, and which activations are massive (Sun et al., arXiv 2402.17762). Pure functions; safe from any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/numbers.h"

namespace headroom {

// An activation is massive with |h| ≥ 100 and |h| ≥ 1000 · the median |h| of its boundary.
inline constexpr double kMassiveMagnitude = 100.0, kMassiveRatio = 1000.0;
[[nodiscard]] inline bool is_massive(double value, double median) {
  const double size = value < 0.0 ? -value : value;
  return size >= kMassiveMagnitude && size >= kMassiveRatio * median;
}

// RMS over the channels of one token, and Pearson's kurtosis of them, with μ their mean:
//   mean (h − μ)⁴ / (mean (h − μ)²)²
// 3 for a normal distribution; at most largest_kurtosis(), where one channel differs from all others. Kurtosis is NaN
// where all channels are equal, both are NaN where one is not finite.
struct ChannelMoments {
  double rms = kNaN, kurtosis = kNaN;
};
[[nodiscard]] ChannelMoments channel_moments(std::span<const float> values);
[[nodiscard]] ChannelMoments channel_moments(std::span<const double> values);
// (D² − 3 D + 3) / (D − 1) of D channels.
[[nodiscard]] double largest_kurtosis(std::int64_t channels);

// Histogram of |h|: ten bins a decade from 10⁻⁶ on. The edges are 10^(−6 + b / 10) without the lower 15 bits of their
// float32, which moves them by less than 0.4 %. What is smaller, and zero, is in the first bin, what is larger in the
// last.
inline constexpr int kMagnitudeLow = -6, kMagnitudeBinsPerDecade = 10;
inline constexpr std::size_t kMagnitudeBins = 140;
[[nodiscard]] const std::array<float, kMagnitudeBins + 1>& magnitude_edges();

struct LargeActivation {
  std::int32_t position = 0, channel = 0;
  float value = 0.0f;
  friend bool operator==(const LargeActivation&, const LargeActivation&) = default;
};

// Of a number that every token has, over all tokens but the first: smallest, quartiles, largest. NaN without them.
struct StreamSpread {
  double low = kNaN, lower = kNaN, median = kNaN, upper = kNaN, high = kNaN;
};

struct ResidualBoundary {
  static constexpr std::size_t kLarge = 64, kMostLarge = 1024, kChannels = 8, kMostWanted = 16;

  std::int64_t boundary = 0;  // 0: the input of block 0, k: the output of block k − 1
  std::int64_t rows = 0, channels = 0;
  bool finite = true;           // false: no order, so no median, no largest ones and no histogram
  double median = kNaN;         // of |h|, the upper middle one of an even number
  std::vector<float> rms;       // per token
  std::vector<float> kurtosis;  // per token
  std::vector<float> peak;      // per token: the value of the largest |h|
  StreamSpread rms_spread, kurtosis_spread;
  // By magnitude, the first of equal ones first: kLarge of them, and all massive ones up to kMostLarge.
  std::vector<LargeActivation> largest;
  std::int64_t massive = 0;                               // how many there are
  std::array<std::uint64_t, kMagnitudeBins> histogram{};  // of all |h|
  // The channels with the largest |h| and those that were asked for, ascending, and their values, [kept, rows].
  std::vector<std::int32_t> kept_channels;
  std::vector<float> channel_values;
  std::shared_ptr<const std::vector<float>> stream;  // [rows, channels]; null where it is not kept

  [[nodiscard]] bool has_channel(std::int64_t channel) const;
  [[nodiscard]] float value(std::int64_t position, std::int64_t channel) const;  // NaN where it is not kept
  [[nodiscard]] std::size_t kept_bytes() const;
};

// `values` are [rows, channels]; `wanted` channels, at most kMostWanted, are kept beside the largest ones.
[[nodiscard]] ResidualBoundary measure_residual(std::int64_t boundary, std::int64_t rows, std::int64_t channels,
                                                std::span<const float> values,
                                                std::span<const std::int32_t> wanted = {});

// Adds the channels of a boundary's largest activations to those that are followed through the boundaries behind it.
void follow_largest(const ResidualBoundary& boundary, std::vector<std::int32_t>& followed);

// Bytes that a boundary keeps at most, without the stream itself.
[[nodiscard]] std::size_t residual_bytes(std::int64_t rows);

}  // namespace headroom
