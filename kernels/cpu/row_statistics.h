// The row kernels of the blocked backend: everything one row of a map contributes, in three sweeps over the row while
// it is in cache. Vectorised with Highway and dispatched at run time (AVX-512, AVX2, SSE4, NEON, scalar).
// Sums run in Real for at most 4,096 keys and are folded in double. Safe from any thread on separate rows.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/attention.h"

namespace headroom::kernels {

template <typename Real>
struct MapRowInput {
  Real* scores = nullptr;   // in: q·k; out: z. Element t is key first_key + t, as in `weights`
  Real* weights = nullptr;  // out: a at visible keys; the caller has zeroed the rest
  std::int64_t first_key = 0;
  std::span<const KeyRange> segments;  // visible keys, ascending
  std::int64_t row = 0;
  double scale = 1.0, softcap = 0.0, temperature = 1.0;
  bool has_sink = false;
  double sink = 0.0;
  bool statistics = true;              // false: only the weights and lse
  const Real* value_mean_square = nullptr;  // per key (from key 0): r_j²
  Real* column_sum = nullptr;               // per key (from key 0): += a
  UniformBins logit_bins, log10_weight_bins;
  std::int64_t* logit_histogram = nullptr;   // += counts
  std::int64_t* weight_histogram = nullptr;
};

struct MapRowResult {
  double lse = 0.0, logit_max = 0.0, logit_min = 0.0, logit_max_raw = 0.0;
  double entropy = 0.0, weight_max = 0.0, weight_l2_squared = 0.0, weight_sum = 0.0, mean_distance = 0.0;
  double value_energy = 0.0;  // Σ a² r²
  double weight_total = 0.0;  // Σ a summed up; weight_sum is what it must be
  std::int32_t rounds_to_one = 0;
};

void map_row(const MapRowInput<float>& input, MapRowResult& result);
void map_row(const MapRowInput<double>& input, MapRowResult& result);

template <typename Real>
struct NetRowInput {
  const Real* first = nullptr;   // a¹ at keys first_key …
  const Real* second = nullptr;  // a²
  std::int64_t count = 0;        // keys, visible or not: masked ones hold 0
  double lambda = 0.0;
  const Real* value_mean_square = nullptr;  // r_j² of the shared values, at first_key
  Real* net = nullptr;                      // out: w
  Real* column_sum = nullptr;               // at first_key: += w
};

struct NetRowResult {
  double weight_sum = 0.0, weight_l1 = 0.0, weight_l2_squared = 0.0, cross = 0.0;
  double value_energy = 0.0;  // Σ w² r²
};

void net_row(const NetRowInput<float>& input, NetRowResult& result);
void net_row(const NetRowInput<double>& input, NetRowResult& result);

// "AVX3", "AVX2", …: what the dispatcher chose on this machine.
[[nodiscard]] const char* row_kernel_target();

}  // namespace headroom::kernels
