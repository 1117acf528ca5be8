// The random numbers against an implementation in Python (tests/oracle/training_tasks.py prints the table) and against
// the distributions that they claim.
#include "core/training/random_stream.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

struct Golden {
  std::uint64_t seed;
  const char* stream;
  std::uint64_t index;
  std::array<std::uint64_t, 4> next;  // then one of each of the others
  double uniform, normal;
  std::int64_t below_1000;
};

const Golden kGoldens[] = {
    {0u,
     "",
     0,
     {0xDFE003D15446C750, 0x35D4D96F3747E331, 0x4563E5859F588AA4, 0x21FD2149EDB7F685},
     0x1.6a48010dbdf6ep-2,
     1.5083120884815138,
     75},
    {1u,
     "trigger",
     0,
     {0x20B59384B36CAA52, 0xB20C691EA4287308, 0x4536C73EC8697FA6, 0x87AB72569FAB900F},
     0x1.fad20af3c875bp-1,
     -2.4493639711509383,
     238},
    {1u,
     "trigger",
     1,
     {0xD91D09AF9063AFC7, 0x38294BE07315AAFA, 0xA5BC921D094EE7AD, 0xE787F4DA21696AEF},
     0x1.f7e9aca6fd966p-1,
     -0.2152701447639826,
     638},
    {18446744073709551615u,
     "model.layers.0.self_attn.λ",
     12345678901,
     {0x9662C12415059F65, 0xABC2D20077485B2E, 0x0FA3A50FE82E1DF3, 0x7D8902BDF4A1626A},
     0x1.b40a864fb4d50p-5,
     0.7287252799394758,
     244},
};

// Sums that obey a normal law leave ±5 standard deviations once in 1.7 million; streams are fixed, so they do not here.
constexpr double kSigmas = 5.0;

double chi_square(const std::vector<double>& counts, double expected) {
  double sum = 0.0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

}  // namespace

CATCH_TEST_CASE("random stream: the numbers of another implementation") {
  for (const Golden& golden : kGoldens) {
    RandomStream random(golden.seed, golden.stream, golden.index);
    CATCH_INFO("seed " << golden.seed << ", stream " << golden.stream << ", index " << golden.index);
    for (const std::uint64_t expected : golden.next) CATCH_CHECK(random.next() == expected);
    CATCH_CHECK(random.uniform() == golden.uniform);
    CATCH_CHECK(random.normal() == near(golden.normal, 1e-14));
    CATCH_CHECK(random.below(1000) == golden.below_1000);
  }
}

CATCH_TEST_CASE("random stream: uniform numbers fill 0 to 1 evenly, below() its range") {
  constexpr int kCount = 1 << 18, kBins = 64, kEnd = 7;
  RandomStream random(5, "uniform");
  std::vector<double> bins(kBins, 0.0), numbers(kEnd, 0.0);
  for (int i = 0; i < kCount; ++i) {
    const double u = random.uniform();
    CATCH_REQUIRE((u >= 0.0 && u < 1.0));
    bins[static_cast<std::size_t>(u * kBins)] += 1.0;
    const std::int64_t number = random.below(kEnd);
    CATCH_REQUIRE((number >= 0 && number < kEnd));
    numbers[static_cast<std::size_t>(number)] += 1.0;
  }
  // χ² of k degrees of freedom has mean k and variance 2k.
  CATCH_CHECK(chi_square(bins, kCount / kBins) < kBins - 1 + kSigmas * std::sqrt(2.0 * (kBins - 1)));
  CATCH_CHECK(chi_square(numbers, static_cast<double>(kCount) / kEnd) <
              kEnd - 1 + kSigmas * std::sqrt(2.0 * (kEnd - 1)));
}

CATCH_TEST_CASE("random stream: normal numbers have the moments and the tails of N(0, 1), within a stream and across") {
  constexpr int kCount = 200'000;
  for (const int streams : {1, kCount}) {
    CATCH_INFO(streams << " streams");
    std::vector<double> x;
    RandomStream one(9, "normal");
    for (int i = 0; i < kCount; ++i)
      x.push_back(streams == 1 ? one.normal() : RandomStream(9, "normal", static_cast<std::uint64_t>(i)).normal());
    double moments[5] = {}, neighbours = 0.0, beyond_two = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (int power = 1; power <= 4; ++power) moments[power] += std::pow(x[i], power) / kCount;
      if (i > 0) neighbours += x[i] * x[i - 1] / kCount;
      beyond_two += std::abs(x[i]) > 2.0 ? 1.0 / kCount : 0.0;
    }
    // Variances of x, x², x³, x⁴ are 1, 2, 15, 96.
    const double unit = kSigmas / std::sqrt(static_cast<double>(kCount));
    CATCH_CHECK(std::abs(moments[1]) < unit);
    CATCH_CHECK(std::abs(moments[2] - 1.0) < unit * std::sqrt(2.0));
    CATCH_CHECK(std::abs(moments[3]) < unit * std::sqrt(15.0));
    CATCH_CHECK(std::abs(moments[4] - 3.0) < unit * std::sqrt(96.0));
    CATCH_CHECK(std::abs(neighbours) < unit);
    const double share = std::erfc(std::sqrt(2.0));
    CATCH_CHECK(std::abs(beyond_two - share) < unit * std::sqrt(share * (1.0 - share)));
  }
}

CATCH_TEST_CASE("random stream: seed, stream and index each make another stream, and none shifts into another") {
  std::vector<std::vector<std::uint64_t>> streams;
  for (const std::uint64_t seed : {0, 1, 2})
    for (const char* name : {"", "a", "b", "ab"})
      for (const std::uint64_t index : {0, 1, 2}) {
        RandomStream random(seed, name, index);
        std::vector<std::uint64_t>& numbers = streams.emplace_back();
        for (int i = 0; i < 200; ++i) numbers.push_back(random.next());
      }
  std::vector<std::uint64_t> all;
  for (const std::vector<std::uint64_t>& numbers : streams) all.insert(all.end(), numbers.begin(), numbers.end());
  std::sort(all.begin(), all.end());
  CATCH_CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

}  // namespace headroom::test
