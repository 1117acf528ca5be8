// Biases of attention logits by distance (core/model/ARCHITECTURES.md#biases-by-distance): the slopes of ALiBi, the
// buckets of learned ones, and both as numbers for each distance. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/model_spec.h"

namespace headroom {

// The slopes of ALiBi (Press, Smith and Lewis 2022, arXiv 2108.12409, section 3, and their code for numbers of heads
// that are no power of 2): with p the largest power of 2 among `heads`, 2^(−most·(h + 1)/p) for the first p heads and
// 2^(−most·(2(h − p) + 1)/2p) for the others.
[[nodiscard]] std::vector<double> alibi_slopes(std::int64_t heads, double most = 8.0);

// The bucket of a learned bias for a key at distance p − j from the row (T5: Raffel et al. 2020, arXiv 1910.10683,
// section 2.1, with the float32 logarithm of transformers' T5Attention): near distances have one each, further ones
// share them by their logarithm up to spec.max_distance. `buckets`: at least 2, and 4 where the spec is bidirectional.
[[nodiscard]] std::int64_t distance_bucket(std::int64_t distance, std::int64_t buckets, const DistanceBiasSpec& spec);

// The biases of every output head of a layer, for distances −ahead … behind.
struct DistanceBias {
  std::int64_t ahead = 0, behind = 0;
  std::vector<double> values;  // [heads, ahead + 1 + behind]

  [[nodiscard]] std::int64_t distances() const { return ahead + 1 + behind; }
  // Of distance d: of_head(h)[d].
  [[nodiscard]] const double* of_head(std::int64_t head) const { return values.data() + head * distances() + ahead; }
};

// `table`: the numbers of spec.table, [buckets, heads], where it is learned.
[[nodiscard]] DistanceBias distance_bias(const DistanceBiasSpec& spec, std::span<const double> table,
                                         std::int64_t heads, std::int64_t ahead, std::int64_t behind);

}  // namespace headroom
