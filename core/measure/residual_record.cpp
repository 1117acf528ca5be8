#include "core/measure/residual_record.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace headroom {
namespace {

// A magnitude's exponent and eight bits of its mantissa: so many buckets are counted in one pass, and the ordered
// bits of a float make them ascend.
constexpr int kBucketShift = 15;
constexpr std::size_t kBuckets = std::size_t{1} << 16;

std::uint32_t magnitude_bits(float value) { return std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU; }
std::size_t bucket_of(float value) { return magnitude_bits(value) >> kBucketShift; }
float bucket_begin(std::size_t bucket) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bucket) << kBucketShift);
}

// Sums in several lanes, which do not wait for each other.
constexpr std::size_t kLanes = 8;
struct Lanes {
  std::array<double, kLanes> sum{};
  [[nodiscard]] double total() const { return std::accumulate(sum.begin(), sum.end(), 0.0); }
};

template <typename T>
ChannelMoments moments(std::span<const T> values) {
  ChannelMoments result;
  if (values.empty()) return result;
  const auto count = static_cast<double>(values.size());
  const std::size_t whole = values.size() / kLanes * kLanes;
  // `term` of every value, added up; two of them at once.
  const auto sums = [&](const auto& term) {
    Lanes first, second;
    for (std::size_t i = 0; i < whole; i += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        term(static_cast<double>(values[i + lane]), first.sum[lane], second.sum[lane]);
    for (std::size_t i = whole; i < values.size(); ++i)
      term(static_cast<double>(values[i]), first.sum[i - whole], second.sum[i - whole]);
    return std::pair(first.total(), second.total());
  };
  const auto [sum, energy] = sums([](double value, double& first, double& second) {
    first += value;
    second += value * value;
  });
  if (!std::isfinite(energy)) return result;
  result.rms = std::sqrt(energy / count);
  const auto [squares, fourths] = sums([mean = sum / count](double value, double& first, double& second) {
    const double square = (value - mean) * (value - mean);
    first += square;
    second += square * square;
  });
  if (squares > 0.0) result.kurtosis = count * fourths / (squares * squares);
  return result;
}

StreamSpread spread_of(std::span<const float> values) {
  StreamSpread spread;
  std::vector<float> others;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (!std::isnan(values[i])) others.push_back(values[i]);
  if (others.empty()) return spread;
  std::ranges::sort(others);
  // Between its neighbours, as numpy's default quantile.
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(others.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, others.size() - 1);
    const auto low = static_cast<double>(others[below]), high = static_cast<double>(others[above]);
    return low + (place - static_cast<double>(below)) * (high - low);
  };
  return {at(0.0), at(0.25), at(0.5), at(0.75), at(1.0)};
}

// The bucket that holds the element of this rank, from the smallest on; `before` counts those in earlier buckets.
std::size_t bucket_of_rank(const std::vector<std::uint32_t>& counts, std::size_t rank, std::size_t& before) {
  before = 0;
  std::size_t bucket = 0;
  while (bucket + 1 < counts.size() && before + counts[bucket] <= rank) before += counts[bucket++];
  return bucket;
}

// What is known of each token and of each channel after one pass.
std::vector<std::uint32_t> measure_rows(ResidualBoundary& result, std::span<const float> values,
                                        std::vector<std::uint32_t>& counts) {
  const auto channels = static_cast<std::size_t>(result.channels);
  std::vector<std::uint32_t> most(channels, 0);
  for (std::size_t row = 0; row < static_cast<std::size_t>(result.rows); ++row) {
    const std::span<const float> here = values.subspan(row * channels, channels);
    const ChannelMoments now = channel_moments(here);
    result.rms.push_back(static_cast<float>(now.rms));
    result.kurtosis.push_back(static_cast<float>(now.kurtosis));
    result.finite = result.finite && std::isfinite(now.rms);
    std::uint32_t largest = 0;
    for (std::size_t c = 0; c < channels; ++c) {
      const std::uint32_t magnitude = magnitude_bits(here[c]);
      most[c] = std::max(most[c], magnitude);
      largest = std::max(largest, magnitude);
    }
    for (const float value : here) ++counts[bucket_of(value)];
    const auto peak = std::ranges::find(here, largest, magnitude_bits);
    result.peak.push_back(std::isfinite(now.rms) ? *peak : std::nanf(""));
  }
  return most;
}

void keep_channels(ResidualBoundary& result, std::span<const float> values, const std::vector<std::uint32_t>& most,
                   std::span<const std::int32_t> wanted) {
  std::vector<std::int32_t> order(most.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t count = std::min(ResidualBoundary::kChannels, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count), [&](auto a, auto b) {
    const std::uint32_t x = most[static_cast<std::size_t>(a)], y = most[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  });
  order.resize(count);
  for (const std::int32_t channel : wanted)
    if (channel >= 0 && channel < result.channels && order.size() < count + ResidualBoundary::kMostWanted)
      order.push_back(channel);
  std::ranges::sort(order);
  order.erase(std::ranges::unique(order).begin(), order.end());
  const auto rows = static_cast<std::size_t>(result.rows), channels = static_cast<std::size_t>(result.channels);
  result.channel_values.reserve(order.size() * rows);
  for (const std::int32_t channel : order)
    for (std::size_t row = 0; row < rows; ++row)
      result.channel_values.push_back(values[row * channels + static_cast<std::size_t>(channel)]);
  result.kept_channels = std::move(order);
}

}  // namespace

ChannelMoments channel_moments(std::span<const float> values) { return moments(values); }
ChannelMoments channel_moments(std::span<const double> values) { return moments(values); }

double largest_kurtosis(std::int64_t channels) {
  const auto d = static_cast<double>(channels);
  return channels < 2 ? kNaN : (d * d - 3.0 * d + 3.0) / (d - 1.0);
}

const std::array<float, kMagnitudeBins + 1>& magnitude_edges() {
  static const std::array<float, kMagnitudeBins + 1> edges = [] {
    std::array<float, kMagnitudeBins + 1> made{};
    for (std::size_t b = 0; b <= kMagnitudeBins; ++b)
      made[b] = bucket_begin(bucket_of(static_cast<float>(
          std::pow(10.0, kMagnitudeLow + static_cast<double>(b) / static_cast<double>(kMagnitudeBinsPerDecade)))));
    return made;
  }();
  return edges;
}

ResidualBoundary measure_residual(std::int64_t boundary, std::int64_t rows, std::int64_t channels,
                                  std::span<const float> values, std::span<const std::int32_t> wanted) {
  ResidualBoundary result;
  result.boundary = boundary;
  result.rows = rows;
  result.channels = channels;
  if (rows < 1 || channels < 1) return result;
  std::vector<std::uint32_t> counts(kBuckets, 0);
  const std::vector<std::uint32_t> most = measure_rows(result, values, counts);
  result.rms_spread = spread_of(result.rms);
  result.kurtosis_spread = spread_of(result.kurtosis);
  keep_channels(result, values, most, wanted);
  if (!result.finite) return result;

  // The median lies in one bucket and the largest ones in the last: a second pass looks at these alone.
  const std::size_t middle = values.size() / 2;
  std::size_t before_middle = 0, before_large = 0;
  const std::size_t median_bucket = bucket_of_rank(counts, middle, before_middle);
  const std::size_t large_bucket =
      bucket_of_rank(counts, values.size() - std::min(ResidualBoundary::kLarge, values.size()), before_large);
  // The median is at least this much, so that what is massive is looked at in any case.
  const double massive_from =
      std::max(kMassiveMagnitude, kMassiveRatio * static_cast<double>(bucket_begin(median_bucket)));
  const float from = std::min(bucket_begin(large_bucket), static_cast<float>(massive_from));
  // The edges of the histogram are those of buckets.
  for (std::size_t bucket = 0, bin = 0; bucket < kBuckets; ++bucket) {
    while (bin + 1 < kMagnitudeBins && bucket_begin(bucket) >= magnitude_edges()[bin + 1]) ++bin;
    result.histogram[bin] += counts[bucket];
  }
  std::vector<float> middles;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float magnitude = std::abs(values[i]);
    if (bucket_of(magnitude) == median_bucket) middles.push_back(magnitude);
    if (magnitude >= from)
      result.largest.push_back({static_cast<std::int32_t>(i / static_cast<std::size_t>(channels)),
                                static_cast<std::int32_t>(i % static_cast<std::size_t>(channels)), values[i]});
  }
  const auto median = middles.begin() + static_cast<std::ptrdiff_t>(middle - before_middle);
  std::ranges::nth_element(middles, median);
  result.median = static_cast<double>(*median);
  std::ranges::stable_sort(result.largest,
                           [](const auto& a, const auto& b) { return std::abs(a.value) > std::abs(b.value); });
  result.massive = std::ranges::count_if(result.largest, [&](const LargeActivation& one) {
    return is_massive(static_cast<double>(one.value), result.median);
  });
  const std::size_t kept =
      std::clamp(static_cast<std::size_t>(result.massive), ResidualBoundary::kLarge, ResidualBoundary::kMostLarge);
  if (result.largest.size() > kept) result.largest.resize(kept);
  return result;
}

bool ResidualBoundary::has_channel(std::int64_t channel) const {
  if (channel < 0 || channel >= channels) return false;
  return stream != nullptr || std::ranges::binary_search(kept_channels, channel);
}

float ResidualBoundary::value(std::int64_t position, std::int64_t channel) const {
  if (position < 0 || position >= rows || channel < 0 || channel >= channels) return std::nanf("");
  if (stream) return (*stream)[static_cast<std::size_t>(position * channels + channel)];
  const auto found = std::ranges::lower_bound(kept_channels, channel);
  if (found == kept_channels.end() || *found != channel) return std::nanf("");
  return channel_values[static_cast<std::size_t>((found - kept_channels.begin()) * rows + position)];
}

std::size_t ResidualBoundary::kept_bytes() const {
  std::size_t bytes = sizeof(*this) + largest.capacity() * sizeof(LargeActivation);
  for (const std::vector<float>* values : {&rms, &kurtosis, &peak, &channel_values})
    bytes += values->capacity() * sizeof(float);
  return bytes + (stream ? stream->capacity() * sizeof(float) : 0);
}

void follow_largest(const ResidualBoundary& boundary, std::vector<std::int32_t>& followed) {
  constexpr std::size_t kFollowed = 3;
  for (std::size_t i = 0; i < std::min(kFollowed, boundary.largest.size()); ++i)
    if (std::ranges::find(followed, boundary.largest[i].channel) == followed.end() &&
        followed.size() < ResidualBoundary::kMostWanted)
      followed.push_back(boundary.largest[i].channel);
}

std::size_t residual_bytes(std::int64_t rows) {
  return sizeof(ResidualBoundary) + ResidualBoundary::kMostLarge * sizeof(LargeActivation) +
         static_cast<std::size_t>(rows) * (3 + ResidualBoundary::kChannels + ResidualBoundary::kMostWanted) *
             sizeof(float);
}

}  // namespace headroom
