// Biases by distance: ALiBi's slopes as its authors publish them, and T5's buckets as transformers computes them.
#include "core/model/distance_bias.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

// Where a bucket begins, by distance.
using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>;

Runs runs_of(std::int64_t buckets, bool bidirectional, std::int64_t max_distance) {
  DistanceBiasSpec spec;
  spec.bidirectional = bidirectional;
  spec.max_distance = max_distance;
  Runs runs;
  for (std::int64_t distance = -3000; distance <= 3000; ++distance) {
    const std::int64_t bucket = distance_bucket(distance, buckets, spec);
    if (runs.empty() || runs.back().second != bucket) runs.emplace_back(distance, bucket);
  }
  return runs;
}

}  // namespace

CATCH_TEST_CASE("ALiBi: the slopes of the paper, and of its code where heads are no power of 2") {
  // Section 3: 8 heads have 1/2¹ … 1/2⁸, 16 heads 1/2^0.5, 1/2¹, … 1/2⁸.
  const std::vector<double> eight = alibi_slopes(8), sixteen = alibi_slopes(16);
  for (std::size_t h = 0; h < 8; ++h) CATCH_CHECK(eight[h] == std::ldexp(1.0, -static_cast<int>(h) - 1));
  for (std::size_t h = 0; h < 16; ++h)
    CATCH_CHECK(std::abs(sixteen[h] - std::pow(2.0, -0.5 * static_cast<double>(h + 1))) < 1e-16);
  // get_slopes of fairseq's attention_with_linear_biases.
  CATCH_CHECK(alibi_slopes(1) == std::vector<double>{0x1p-8});
  CATCH_CHECK(alibi_slopes(2) == std::vector<double>{0x1p-4, 0x1p-8});
  CATCH_CHECK(alibi_slopes(3) == std::vector<double>{0x1p-4, 0x1p-8, 0x1p-2});
  CATCH_CHECK(alibi_slopes(6) == std::vector<double>{0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8, 0x1p-1, 0x1p-3});
  const std::vector<double> twelve = alibi_slopes(12);
  for (const auto& [head, power] : {std::pair(8, -0.5), std::pair(9, -1.5), std::pair(10, -2.5), std::pair(11, -3.5)})
    CATCH_CHECK(std::abs(twelve[static_cast<std::size_t>(head)] - std::pow(2.0, power)) < 1e-16);
  // MPT's alibi_bias_max.
  CATCH_CHECK(alibi_slopes(4, 16.0) == std::vector<double>{0x1p-4, 0x1p-8, 0x1p-12, 0x1p-16});
}

CATCH_TEST_CASE("learned biases: the buckets of transformers' T5Attention._relative_position_bucket") {
  CATCH_CHECK(runs_of(32, true, 128) ==
              Runs{{-3000, 31}, {-90, 30}, {-63, 29}, {-45, 28}, {-31, 27}, {-22, 26}, {-15, 25}, {-11, 24},
                   {-7, 23},    {-6, 22},  {-5, 21},  {-4, 20},  {-3, 19},  {-2, 18},  {-1, 17},  {0, 0},
                   {1, 1},      {2, 2},    {3, 3},    {4, 4},    {5, 5},    {6, 6},    {7, 7},    {8, 8},
                   {12, 9},     {16, 10},  {23, 11},  {32, 12},  {46, 13},  {64, 14},  {91, 15}});
  CATCH_CHECK(runs_of(32, false, 128) == Runs{{-3000, 0}, {1, 1},   {2, 2},   {3, 3},   {4, 4},   {5, 5},   {6, 6},
                                              {7, 7},     {8, 8},   {9, 9},   {10, 10}, {11, 11}, {12, 12}, {13, 13},
                                              {14, 14},   {15, 15}, {16, 16}, {19, 17}, {21, 18}, {24, 19}, {27, 20},
                                              {31, 21},   {35, 22}, {40, 23}, {46, 24}, {52, 25}, {59, 26}, {67, 27},
                                              {77, 28},   {87, 29}, {99, 30}, {113, 31}});
  CATCH_CHECK(runs_of(12, true, 50) ==
              Runs{{-3000, 11}, {-19, 10}, {-7, 9}, {-2, 8}, {-1, 7}, {0, 0}, {1, 1}, {2, 2}, {3, 3}, {8, 4}, {20, 5}});
  CATCH_CHECK(runs_of(7, false, 20) == Runs{{-3000, 0}, {1, 1}, {2, 2}, {3, 3}, {5, 4}, {8, 5}, {13, 6}});
  CATCH_CHECK(runs_of(2, false, 5) == Runs{{-3000, 0}, {1, 1}});
}

CATCH_TEST_CASE("biases by distance: each head has its numbers for every distance that a mask lets through") {
  DistanceBiasSpec alibi;
  alibi.slopes = {0.5, 0.25};
  const DistanceBias slopes = distance_bias(alibi, {}, 2, 0, 4);
  CATCH_CHECK(slopes.values == std::vector<double>{0.0, -0.5, -1.0, -1.5, -2.0, 0.0, -0.25, -0.5, -0.75, -1.0});
  CATCH_CHECK(slopes.of_head(1)[3] == -0.75);
  const DistanceBias both = distance_bias(alibi, {}, 2, 2, 1);
  CATCH_CHECK(both.values == std::vector<double>{-1.0, -0.5, 0.0, -0.5, -0.5, -0.25, 0.0, -0.25});

  DistanceBiasSpec learned;
  learned.bidirectional = true;
  learned.max_distance = 4;
  const std::vector<double> table = {0.0, 10.0, 1.0, 11.0, 2.0, 12.0, 3.0, 13.0};  // [4 buckets, 2 heads]
  const DistanceBias buckets = distance_bias(learned, table, 2, 2, 3);
  CATCH_CHECK(buckets.values == std::vector<double>{3.0, 3.0, 0.0, 1.0, 1.0, 1.0, 13.0, 13.0, 10.0, 11.0, 11.0, 11.0});
  CATCH_CHECK(buckets.of_head(0)[-2] == 3.0);
  CATCH_CHECK(buckets.of_head(1)[0] == 10.0);
}

}  // namespace headroom::test
