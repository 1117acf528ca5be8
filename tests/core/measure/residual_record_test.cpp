// What is kept of the residual stream against its definitions, computed here in the plainest way.
#include "core/measure/residual_record.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

constexpr std::int64_t kRows = 37, kChannels = 21;

// Smooth numbers of both signs, and three that stand out.
std::vector<float> stream() {
  std::vector<float> values;
  for (std::int64_t i = 0; i < kRows * kChannels; ++i)
    values.push_back(
        static_cast<float>(std::sin(0.7 * static_cast<double>(i)) * (1.0 + 0.01 * static_cast<double>(i % 50))));
  values[5] = 2500.0f;
  values[9 * kChannels + 5] = -1800.0f;
  values[9 * kChannels + 6] = 99.0f;
  return values;
}

double at(const std::vector<float>& values, std::int64_t row, std::int64_t channel) {
  return static_cast<double>(values[static_cast<std::size_t>(row * kChannels + channel)]);
}

}  // namespace

CATCH_TEST_CASE("residual: RMS, kurtosis and peak of each token by their definitions") {
  const std::vector<float> values = stream();
  const ResidualBoundary found = measure_residual(3, kRows, kChannels, values);
  CATCH_CHECK(found.boundary == 3);
  CATCH_REQUIRE(found.rms.size() == kRows);
  for (std::int64_t row = 0; row < kRows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    double mean = 0.0, energy = 0.0, m2 = 0.0, m4 = 0.0, peak = 0.0;
    for (std::int64_t c = 0; c < kChannels; ++c) {
      mean += at(values, row, c) / kChannels;
      energy += at(values, row, c) * at(values, row, c) / kChannels;
      if (std::abs(at(values, row, c)) > std::abs(peak)) peak = at(values, row, c);
    }
    for (std::int64_t c = 0; c < kChannels; ++c) {
      m2 += std::pow(at(values, row, c) - mean, 2) / kChannels;
      m4 += std::pow(at(values, row, c) - mean, 4) / kChannels;
    }
    CATCH_CAPTURE(row);
    CATCH_CHECK(static_cast<double>(found.rms[r]) == near(std::sqrt(energy), 1e-6 * std::sqrt(energy)));
    CATCH_CHECK(static_cast<double>(found.kurtosis[r]) == near(m4 / (m2 * m2), 1e-6 * m4 / (m2 * m2)));
    CATCH_CHECK(static_cast<double>(found.peak[r]) == peak);
  }
}

CATCH_TEST_CASE("residual: kurtosis of a lone channel is the largest there can be, of equal ones none") {
  for (const std::int64_t d : {2, 3, 8, 9, 576}) {
    std::vector<float> lone(static_cast<std::size_t>(d), 0.0f);
    lone[1] = -7.0f;
    const double expected =
        (static_cast<double>(d * d) - 3.0 * static_cast<double>(d) + 3.0) / static_cast<double>(d - 1);
    CATCH_CHECK(channel_moments(std::span<const float>(lone)).kurtosis == near(expected, 1e-9 * expected));
    CATCH_CHECK(largest_kurtosis(d) == near(expected, 1e-12 * expected));
  }
  const std::vector<double> equal(11, 4.0);
  CATCH_CHECK(channel_moments(std::span<const double>(equal)).rms == near(4.0, 1e-15));
  CATCH_CHECK(std::isnan(channel_moments(std::span<const double>(equal)).kurtosis));
  CATCH_CHECK(std::isnan(channel_moments(std::span<const float>()).rms));
  CATCH_CHECK(std::isnan(largest_kurtosis(1)));
}

CATCH_TEST_CASE(
    "residual: the median is the upper middle magnitude, the largest come in order, masks are two thresholds") {
  const std::vector<float> values = stream();
  const ResidualBoundary found = measure_residual(0, kRows, kChannels, values);
  std::vector<double> sizes;
  for (const float value : values) sizes.push_back(std::abs(static_cast<double>(value)));
  std::ranges::sort(sizes);
  CATCH_CHECK(found.median == sizes[sizes.size() / 2]);
  CATCH_REQUIRE(found.largest.size() == ResidualBoundary::kLarge);
  for (std::size_t i = 0; i < found.largest.size(); ++i) {
    const LargeActivation& one = found.largest[i];
    CATCH_CHECK(std::abs(static_cast<double>(one.value)) == sizes[sizes.size() - 1 - i]);
    CATCH_CHECK(static_cast<double>(one.value) == at(values, one.position, one.channel));
  }
  CATCH_CHECK(found.largest[0] == LargeActivation{0, 5, 2500.0f});
  CATCH_CHECK(found.largest[1] == LargeActivation{9, 5, -1800.0f});
  // 2500 and 1800 are over 1000 times the median, which lies below 1.8; 99 is below 100.
  CATCH_REQUIRE(1000.0 * found.median < 1800.0);
  CATCH_CHECK(found.massive == 2);
  CATCH_CHECK(is_massive(-100.0, 0.1));
  CATCH_CHECK_FALSE(is_massive(99.99, 0.001));
  CATCH_CHECK_FALSE(is_massive(5000.0, 5.01));
}

CATCH_TEST_CASE("residual: all massive ones are kept, and of equal ones the first come first") {
  std::vector<float> values(200 * 40, 0.01f);
  for (std::size_t i = 0; i < 300; ++i) values[i * 26] = i % 2 == 0 ? 400.0f : -400.0f;
  const ResidualBoundary found = measure_residual(0, 200, 40, values);
  CATCH_CHECK(found.massive == 300);
  CATCH_REQUIRE(found.largest.size() == 300);
  for (std::size_t i = 0; i < 300; ++i)
    CATCH_CHECK(static_cast<std::size_t>(found.largest[i].position) * 40 +
                    static_cast<std::size_t>(found.largest[i].channel) ==
                i * 26);
}

CATCH_TEST_CASE("residual: quartiles are those of all tokens but the first") {
  // Rows of one channel pair ±v have RMS v.
  std::vector<float> values;
  for (const float v : {1000.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}) values.insert(values.end(), {v, -v});
  const StreamSpread spread = measure_residual(0, 7, 2, values).rms_spread;
  CATCH_CHECK(spread.low == 1.0);
  CATCH_CHECK(spread.lower == 2.25);
  CATCH_CHECK(spread.median == 3.5);
  CATCH_CHECK(spread.upper == 4.75);
  CATCH_CHECK(spread.high == 6.0);
  const ResidualBoundary alone = measure_residual(0, 1, 2, std::span(values).first(2));
  CATCH_CHECK(std::isnan(alone.rms_spread.median));
  CATCH_CHECK(alone.rms == std::vector<float>{1000.0f});
}

CATCH_TEST_CASE("residual: every magnitude is in the bin between whose edges it lies") {
  std::vector<float> values;
  for (int i = 0; i < 4000; ++i)
    values.push_back(static_cast<float>(std::pow(10.0, -7.0 + 0.004 * i)) * (i % 2 == 0 ? 1.0f : -1.0f));
  values.push_back(0.0f);
  const ResidualBoundary found = measure_residual(0, 1, static_cast<std::int64_t>(values.size()), values);
  const auto& edges = magnitude_edges();
  for (std::size_t b = 0; b < kMagnitudeBins; ++b) {
    const bool first = b == 0, last = b + 1 == kMagnitudeBins;
    const auto count = std::ranges::count_if(values, [&](float value) {
      const float size = std::abs(value);
      return (first || size >= edges[b]) && (last || size < edges[b + 1]);
    });
    CATCH_CAPTURE(b);
    CATCH_CHECK(found.histogram[b] == static_cast<std::uint64_t>(count));
    const double exact = std::pow(10.0, -6.0 + 0.1 * static_cast<double>(b));
    CATCH_CHECK(static_cast<double>(edges[b]) <= exact * (1.0 + 1e-6));
    CATCH_CHECK(static_cast<double>(edges[b]) > exact * (1.0 - 0.004));
  }
}

CATCH_TEST_CASE("residual: channels that stand out and those that are asked for keep their values") {
  const std::vector<float> values = stream();
  const std::vector<std::int32_t> wanted = {20, 5, 999};
  ResidualBoundary found = measure_residual(0, kRows, kChannels, values, wanted);
  CATCH_CHECK(found.has_channel(5));
  CATCH_CHECK(found.has_channel(6));
  CATCH_CHECK(found.has_channel(20));
  CATCH_CHECK_FALSE(found.has_channel(999));
  CATCH_CHECK(std::ranges::is_sorted(found.kept_channels));
  for (std::int64_t row = 0; row < kRows; ++row)
    for (const std::int32_t channel : found.kept_channels)
      CATCH_CHECK(static_cast<double>(found.value(row, channel)) == at(values, row, channel));
  std::int64_t missing = 0;
  while (found.has_channel(missing)) ++missing;
  CATCH_CHECK(std::isnan(found.value(0, missing)));
  found.stream = std::make_shared<const std::vector<float>>(values);
  CATCH_CHECK(static_cast<double>(found.value(7, missing)) == at(values, 7, missing));
  std::vector<std::int32_t> followed;
  follow_largest(found, followed);
  CATCH_CHECK(followed == std::vector<std::int32_t>{5, 6});
}

CATCH_TEST_CASE("residual: what is not finite has no order, and its row no numbers") {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> values = stream();
    values[4 * kChannels + 2] = bad;
    const ResidualBoundary found = measure_residual(0, kRows, kChannels, values);
    CATCH_CHECK_FALSE(found.finite);
    CATCH_CHECK(std::isnan(found.median));
    CATCH_CHECK(found.largest.empty());
    CATCH_CHECK(std::isnan(found.rms[4]));
    CATCH_CHECK(std::isnan(found.peak[4]));
    CATCH_CHECK(std::isfinite(found.rms[3]));
    CATCH_CHECK(std::isfinite(found.rms_spread.median));
  }
}

}  // namespace headroom::test
