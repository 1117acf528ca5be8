// What the planner (attention.cpp, compiled once) hands to the row strips (part.cpp, compiled for every target): one
// part of one head, a range of query rows. Plain pointers and numbers: code compiled for a target must not instantiate
// templates of the standard library, since the linker may keep that copy for all.
#pragma once

#include <cstdint>

#include "kernels/attention.h"

namespace headroom::kernels {

// Parts begin at multiples of this, so that strips of every target's width fill their lanes.
inline constexpr std::int64_t kStripAlignment = 48;
inline constexpr std::int64_t kWidestStrip = 48;

// Outputs per row; null: not wanted, or no such map.
struct PartRows {
  double *lse, *logit_max, *logit_min, *entropy, *weight_max, *weight_l2_squared, *weight_sum, *mean_distance,
      *context_energy;
  double *first_key_weight, *self_weight, *previous_weight, *induction_weight;
  std::int32_t* rounds_to_one;
};

// What the strips of a part add up. Column sums are of keys from key_begin on; cells of pooled rows from pool_row on.
struct PartMapSums {
  double* column_sum;             // null: not wanted
  std::uint32_t* histogram;       // joint, [logit_bins][weight_bins]; null: not wanted
  std::int64_t* logit_histogram;  // where the joint counts go
  std::int64_t* weight_histogram;
  double *pooled_sum, *pooled_max;  // null: not wanted
  double logit_max_raw;
};

template <typename Input>
struct Part {
  MapInput<Input> maps[2];
  const float* value_mean_square[2];  // r_j², [keys]; 0 for odd values
  const std::uint8_t* odd_values[2];  // [keys], 1: a number of the value is not finite, or r_j² is not; null: none
  PlainMask mask;
  std::int64_t head_dim, value_dim;
  std::int64_t row_begin, row_end;
  std::int64_t key_begin;  // the first key that any row of the part sees, rounded down to a multiple of 8
  std::int64_t key_end;    // behind the last one
  const double* lambda;    // null without a second map
  double scale, softcap, temperature;
  // What is added to the products of queries and keys at distance d, in the unit that the strips score in:
  // bias[d − bias_lowest], and 0 for distances between lanes and keys that no row sees. Null: nothing.
  const float* bias;
  std::int64_t bias_lowest;
  bool has_sink;
  double sink;
  const std::int64_t* induction_key;

  bool rows_wanted, columns_wanted, second_pass;
  UniformBins logit_bins, weight_bins;
  std::int64_t pool_size, pool_blocks, pool_row;

  float* context;
  std::int64_t context_stride;
  PartRows rows[2];
  double *weight_sum, *weight_l1, *weight_l2_squared, *cross, *uncorrelated_energy, *first_key_net,
      *first_key_absolute;  // of the net map; null: not wanted
  PartMapSums sums[2];
  double *column_sum, *pooled_sum, *pooled_positive, *pooled_negative, *pooled_highest,
      *pooled_lowest;  // net; null: not wanted

  bool keep_scores;        // pass 1 leaves the scores of a strip in memory for pass 2, which else computes them again
  std::int64_t kept_keys;  // the most keys that a strip keeps scores of
  bool (*stop)(const void*);
  const void* stop_context;
};

// Floats of working memory that a part needs.
template <typename Input>
[[nodiscard]] std::int64_t part_scratch_floats(const Part<Input>& part);

// False when stopped. `scratch`: part_scratch_floats floats, 64-byte aligned. Uses flush-to-zero as it finds it.
template <typename Input>
[[nodiscard]] bool run_part(Part<Input>& part, float* scratch);

// "AVX3", "AVX2", …: what the dispatcher chose on this machine.
[[nodiscard]] const char* part_target();

}  // namespace headroom::kernels
