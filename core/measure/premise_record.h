// What is measured of a head's values beside its context: raw numbers, from which core/measure/quantities_premise.cpp
// makes quantities. Immutable once handed over; safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/numbers.h"

namespace headroom {

struct PremiseRecord {
  // Draws of signs in the test of coherence, of which the first so many are kept row by row; rows that are sampled for
  // either, and for the distance of the hull.
  static constexpr std::int64_t kDraws = 999, kRowDraws = 99, kRows = 256, kHullRows = 32;

  double correlation = kNaN;     // Σ_{j≠k} v_j·v_k / ((n − 1) Σ_j ‖v_j‖²)
  double effective_rank = kNaN;  // (tr G)² / tr G²
  double size_spread = kNaN;     // sd of ln ‖v_j‖ over values that are not 0

  // Per row, NaN where it sees nothing.
  std::vector<double> uniform_rms;        // RMS(mean over V_i of v_j)
  std::vector<double> centred_rms;        // RMS(c_i − (Σ_j w_ij) μ), μ = mean over all keys of v_j
  std::vector<double> centred_value_rms;  // √(mean over V_i of RMS²(v_j − μ))
  std::vector<double> gated_rms;          // RMS(g_i ⊙ c_i); empty without a gate
  std::vector<double> output_cosine;      // cos(W_O c¹_i, W_O c²_i); empty without a second map or W_O

  std::vector<std::int64_t> rows;  // sampled ones, ascending
  std::vector<double> sign_rms;    // [rows, kRowDraws]: RMS(Σ_j w_ij ε_j v_j)
  // Of values as they are and less μ: Σ_i RMS_i² / Σ_i q_i² over the sampled rows, and the same of kDraws draws.
  std::array<double, 2> coherence{kNaN, kNaN};
  std::array<std::vector<double>, 2> sign_coherence;

  std::vector<std::int64_t> hull_rows;  // of `rows`
  std::vector<double> hull;             // RMS of the nearest that weighted means of the visible values come to 0

  // Kept per row beside HeadRecord::kRowBytes.
  static constexpr std::int64_t kRowBytes = 5 * sizeof(double);
};

// ε of a key in a draw, −1 or 1: the top bit of splitmix64 at draw·2³² + key (Steele, Lea and Flood 2014,
// doi:10.1145/2660193.2660195), so that anybody can draw the same.
[[nodiscard]] constexpr int random_sign(std::int64_t draw, std::int64_t key) {
  std::uint64_t x = (static_cast<std::uint64_t>(draw) << 32) + static_cast<std::uint64_t>(key) + 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  x ^= x >> 31;
  return (x >> 63) != 0 ? 1 : -1;
}

// `count` of `from` numbers 0 … from − 1, evenly: ⌊k·from/count⌋, or all where there are not so many.
[[nodiscard]] std::vector<std::int64_t> evenly(std::int64_t from, std::int64_t count);

}  // namespace headroom
