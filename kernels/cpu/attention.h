// The fused CPU backend: context and every statistic of a head from register tiles of scores, never n × n. Vectorised
// with Highway and dispatched at run time (AVX-512, AVX2, SSE4, NEON, portable).
//
// A head is cut into parts of query rows; a part works through strips of as many rows as the tile has lanes. Pass 1
// gives the context and the row statistics, pass 2 what needs final weights: column sums, N₁, histograms, pooled maps,
// and of pairs everything about the net map. Arithmetic is float32 with sums over keys folded into double every 64
// keys; relative error of a weight ≲ 1e-6 · |z|. Memory beyond the outputs: per thread half a MiB, 64·n bytes and for
// two strips at most kKeptBytes each; per part of a head in flight (16 at most) up to 24·n bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/attention.h"

namespace headroom::kernels {

// Scores of a strip stay in memory between the passes while they take no more than this; beyond it pass 2 computes
// them again.
inline constexpr std::int64_t kKeptBytes = std::int64_t{4} << 20;

// Runs all jobs; Input is float or BFloat16, strides may be any. Results have the same bits for any number of threads:
// parts are fixed, each owns its rows, and sums that cross parts are folded in their order. Sets flush-to-zero inside
// the tasks and restores it. Needs lengths below 2²⁴ and no dense mask. False when `stop` asked to end early; outputs
// are then incomplete. Not-a-number in a row's visible scores makes that row NaN and, in column sums, the keys it sees;
// a value that is not finite also reaches rows of its strips that do not see it (0 · NaN, as in LibTorch's attention).
template <typename Input>
[[nodiscard]] bool cpu_attention(std::span<HeadJob<Input, float>> jobs, const ParallelFor& parallel_for,
                                 const StopRequested& stop, std::int64_t kept_bytes = kKeptBytes);

// What cpu_attention takes beyond its outputs, at most.
[[nodiscard]] inline double cpu_scratch_bytes(std::int64_t length, std::int64_t maps, std::int64_t threads) {
  constexpr double kPartsInFlight = 16.0, kPartBytes = 131072.0, kPartKeyBytes = 24.0;
  constexpr double kThreadBytes = 524288.0, kThreadKeyBytes = 64.0, kStripRows = 48.0;
  const auto n = static_cast<double>(length), m = static_cast<double>(maps);
  const double scores = std::min(static_cast<double>(kKeptBytes), m * kStripRows * n * sizeof(float));
  const double parts = std::min(kPartsInFlight, std::max(1.0, n / 256.0)) * (m * kPartBytes + kPartKeyBytes * n);
  return static_cast<double>(threads) * (kThreadBytes + kThreadKeyBytes * n + 2.0 * scores + parts);
}

// "AVX3", "AVX2", …: what the dispatcher chose on this machine.
[[nodiscard]] const char* cpu_kernel_target();

}  // namespace headroom::kernels
