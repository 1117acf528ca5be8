// The problem every attention backend solves for one output head, and the statistics it returns: scalar reference,
// blocked, and the fused kernels alike. Plain data; a backend may be called from any thread on separate outputs.
// Definitions and symbols: core/measure/QUANTITIES.md (z scaled, soft-capped, visible logits; a weights; w = a¹ − λa²
// the net map; n_i visible keys of row i).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/mask.h"

namespace headroom::kernels {

// A bfloat16 as it lies in memory.
struct BFloat16 {
  std::uint16_t bits = 0;
};

// One map of a head. query: [rows, head_dim], key: [keys, head_dim], value: [keys, value_dim]; rows `*_stride` elements
// apart, channels contiguous. All null: the head has no such map.
template <typename Input>
struct MapInput {
  const Input* query = nullptr;
  const Input* key = nullptr;
  const Input* value = nullptr;
  std::int64_t query_stride = 0, key_stride = 0, value_stride = 0;

  [[nodiscard]] bool present() const { return query != nullptr; }
};

template <typename Input>
struct HeadProblem {
  Mask mask;  // its length is the head's number of rows, its keys() that of keys
  std::int64_t head_dim = 0;
  std::int64_t value_dim = 0;
  std::array<MapInput<Input>, 2> maps;  // w = a¹ − λ a²; with only the second: w = −λ a²
  const double* lambda = nullptr;       // [length]; needed with a second map
  double scale = 1.0;
  double softcap = 0.0;      // 0: none; z ← c·tanh(z/c)
  double temperature = 1.0;  // divides the capped logits
  // Added to scale·q·k before the cap: of a key at distance p − j from the row's position p, bias[p − j], for every
  // distance from −mask.ahead() to mask.behind(). Null: nothing.
  const double* bias = nullptr;
  bool has_sink = false;  // one more key with logit `sink` and value 0
  double sink = 0.0;
  bool softpick = false;                        // in place of softmax, without a sink; the reference and windows alone
  const std::int64_t* induction_key = nullptr;  // [length]; −1 where a row has none
};

// Softpick (Zuhri, Fuadi and Aji 2025, arXiv 2504.20966, in the form of its authors' code): with m the row's largest
// logit and x_j = e^{z_j − m} − e^{−m} for the logits that are not −∞,
//   a_j = max(x_j, 0) / (Σ |x| + ε),  lse = m + ln(Σ |x| + ε),  so that a_j = max(e^{z_j − lse} − e^{−lse}, 0).
// A row whose every logit is −∞ weighs nothing.
inline constexpr double kSoftpickEpsilon = 1e-8;

// Bin b of `bins` is [low + b·width, low + (b+1)·width); values outside count in the first and the last one.
struct UniformBins {
  double low = 0.0;
  double width = 1.0;
  std::int64_t bins = 0;
};

// What is wanted beyond the context. What is not asked for costs nothing and its arrays stay empty.
using StatisticSet = std::uint32_t;
inline constexpr StatisticSet kRowStatistics = 1;  // everything per row that is not named below
inline constexpr StatisticSet kNamedKeys = 2;      // first_key_*, self_weight, previous_weight, induction_weight
inline constexpr StatisticSet kColumnSums = 4;
inline constexpr StatisticSet kRoundsToOne = 8;
inline constexpr StatisticSet kAllStatistics = 15;

// Histograms and pooled maps need kRowStatistics too.
struct StatisticsRequest {
  StatisticSet wanted = kAllStatistics;  // 0: only the context, whatever the bins and blocks
  UniformBins logit_bins;                // over z
  UniformBins log10_weight_bins;         // over log10 a
  std::int64_t pool_blocks = 0;          // pooled maps of ⌈L/B⌉² cells with B = ⌈L/pool_blocks⌉; 0: none
  std::int64_t pool_extent = 0;          // L, at least rows and keys; 0: whichever of them is more
};

// What is not finite, the same for every backend. A row of a map is *undefined* where a logit that it sees is NaN or
// +∞, the sink's among them, or where all of them are −∞ and no sink takes the row: softmax has no value there. Its
// lse, its weights for the keys that it sees and everything made of them is NaN: its statistics, its context, the
// column sums of the keys that it sees, the pooled cells that it touches. Its counts are 0 and its entries are in no
// histogram. Logit extrema are those of the logits: NaN where one of them is NaN, else ±∞ where they reach it. A
// visible logit of −∞ weighs nothing. A number of a value that is not finite counts as NaN: it makes that channel NaN
// in the context of the rows that see the value, and their context_energy and uncorrelated_energy. A λ that is not
// finite counts as NaN: it makes the context and the net map of its row NaN. What a mask hides never reaches a row.
//
// Per row unless said otherwise; empty where the head has no such map. A row that sees no key has lse −∞ (the sink's
// logit with one), logit_max −∞, logit_min +∞ and 0 elsewhere, and its context is 0.
struct MapStatistics {
  std::vector<double> lse;  // includes the sink's term
  std::vector<double> logit_max, logit_min;
  std::vector<double> entropy;  // nats, −Σ a ln a over real keys
  std::vector<double> weight_max;
  std::vector<double> weight_l2_squared;                               // Σ a²
  std::vector<double> weight_sum;                                      // 1 − sink's share
  std::vector<double> first_key_weight;                                // 0 where the row cannot see key 0
  std::vector<double> self_weight, previous_weight, induction_weight;  // keys p, p − 1, named; 0 where not visible
  std::vector<double> mean_distance;                                   // Σ a |p − j|, p the row's position
  std::vector<double> context_energy;                                  // ‖Σ a v‖²
  std::vector<std::int32_t> rounds_to_one;                             // #{j : m − z_ij ≤ −ln(1 − 2⁻⁹)}, N₁
  std::vector<double> column_sum;                                      // per key: Σ_i a_ij
  double logit_max_raw = 0.0;  // scale·q·k + bias, before cap and temperature, over all rows
  std::vector<std::int64_t> logit_histogram, weight_histogram;
  std::vector<double> pooled_sum, pooled_max;  // [blocks, blocks]
};

struct HeadStatistics {
  std::array<MapStatistics, 2> maps;
  std::vector<double> weight_sum;           // Σ w
  std::vector<double> weight_l1;            // Σ |w|
  std::vector<double> weight_l2_squared;    // Σ w²
  std::vector<double> cross;                // ⟨a¹, a²⟩; empty without two maps
  std::vector<double> uncorrelated_energy;  // q_i² = Σ w² r²; with different values per map Σ (a¹r¹)² + (λa²r²)²
  std::vector<double> first_key_net, first_key_absolute;  // w_i0 and |w_i0|
  std::vector<double> column_sum;                         // per key: Σ_i w_ij
  std::int64_t pool_size = 0;                             // B
  std::int64_t pool_blocks = 0;
  std::vector<double> pooled_sum, pooled_positive, pooled_negative;  // [blocks, blocks]
  std::vector<double> pooled_highest, pooled_lowest;  // likewise: max(0, w) and min(0, w) over the entries
};

// Of them, what a row and as many keys take: a map's part, and the net map's.
inline constexpr std::int64_t kMapRowBytes = 14 * sizeof(double) + sizeof(std::int32_t);
inline constexpr std::int64_t kNetRowBytes = 8 * sizeof(double);

// One head for a backend: what it is given, what is asked of it, and where the answers go.
template <typename Input, typename Real = Input>
struct HeadJob {
  HeadProblem<Input> problem;
  StatisticsRequest request;
  Real* context = nullptr;  // out: row i at context + i · context_stride, value_dim channels
  std::int64_t context_stride = 0;
  HeadStatistics statistics;  // out
};

// Sets every array of `statistics` to the size the problem and the request ask for, filled with 0 (raw maxima −∞).
template <typename Input>
void resize_statistics(const HeadProblem<Input>& problem, const StatisticsRequest& request, HeadStatistics& statistics);

// body(task) for task = 0 … tasks − 1, in any order, possibly on several threads; returns when all are done.
using ParallelFor = std::function<void(std::int64_t tasks, const std::function<void(std::int64_t)>& body)>;

// The larger one; NaN where either is.
[[nodiscard]] inline double larger_or_nan(double a, double b) { return a != a || a >= b ? a : b; }
[[nodiscard]] inline double smaller_or_nan(double a, double b) { return a != a || a <= b ? a : b; }
// The one of these, at least 0 and at most 0, that is farther from 0, with its sign: the positive one where they are as
// far to 1e-5, since without λ a row of two keys holds w and −w, of which rounding would choose. NaN where either is.
[[nodiscard]] inline double signed_extreme(double highest, double lowest) {
  if (highest != highest) return highest;
  return -lowest <= highest * (1.0 + 1e-5) ? highest : lowest;
}
// NaN in place of an infinity.
[[nodiscard]] inline double finite_or_nan(double x) { return x - x == 0.0 ? x : x - x; }

// The negative part and the lowest weight of a pooled map of weights from one softmax: 0, and NaN where the sum of a
// cell is.
[[nodiscard]] std::vector<double> nothing_negative(const std::vector<double>& pooled_sum);

// True when the work should stop; polled between units of work.
using StopRequested = std::function<bool()>;

}  // namespace headroom::kernels
