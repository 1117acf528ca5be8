// Rotary position embedding as data: which channels rotate, in which layout, at which frequencies
// (core/model/ARCHITECTURES.md#rotary-embedding). Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace headroom {

enum class RopeLayout {
  None,
  HalfSplit,    // pairs (x[i], x[i + r/2]): every Hugging Face model
  Interleaved,  // pairs (x[2i], x[2i + 1]): unilm, GGUF llama
};

enum class RopeScalingKind { None, Linear, Dynamic, Llama3, Yarn, LongRope, Proportional };

// As configs spell it: "default", "linear", …
[[nodiscard]] std::string_view name_of(RopeScalingKind kind);

struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::None;
  double factor = 1.0;
  double original_max_positions = 0.0;
  double low_freq_factor = 1.0;                   // llama3
  double high_freq_factor = 4.0;                  // llama3
  double beta_fast = 32.0;                        // yarn
  double beta_slow = 1.0;                         // yarn
  bool truncate = true;                           // yarn
  double mscale = 0.0;                            // yarn; 0 where absent
  double mscale_all_dim = 0.0;                    // yarn; 0 where absent
  double attention_factor = 0.0;                  // yarn, longrope; 0: from the formula
  std::vector<double> short_factor, long_factor;  // longrope, rotary_dim / 2 values
  double short_mscale = 0.0, long_mscale = 0.0;   // longrope; 0: the attention factor, whichever length
  double share = 1.0;                             // proportional: of the pairs, the first ones, which rotate
};

struct RopeSpec {
  RopeLayout layout = RopeLayout::None;
  std::int64_t rotary_dim = 0;     // even; channels of each head that rotate
  std::int64_t first_channel = 0;  // of them
  double theta = 10000.0;
  double max_positions = 0.0;  // max_position_embeddings, for dynamic scaling
  RopeScaling scaling;
  std::vector<double> frequency_divisors;  // GGUF rope_freqs; empty or rotary_dim / 2 values
};

template <typename Real>
struct RopeFrequencies {
  std::vector<Real> inv_freq;     // rotary_dim / 2, radians per position
  double attention_factor = 1.0;  // multiplies cos and sin
};

// theta → the values theta^(2i/r), i = 0 … r/2 − 1.
template <typename Real>
using RopePowers = std::function<std::vector<Real>(double theta, std::int64_t rotary_dim)>;

// The frequencies for a sequence of `length` tokens, every step in the arithmetic of Real. With Real = float and powers
// from torch.pow they have the bits of transformers' inv_freq; with double they are the formulas'.
template <typename Real>
[[nodiscard]] RopeFrequencies<Real> rope_frequencies(const RopeSpec& rope, std::int64_t length,
                                                     const RopePowers<Real>& powers);

// YaRN's m(μ) = 0.1·μ·ln(factor) + 1, 1 for factor ≤ 1 (Peng et al. 2023, arXiv 2309.00071, section 3.4).
[[nodiscard]] double yarn_mscale(double factor, double mscale);

// In double, with std::pow.
[[nodiscard]] RopeFrequencies<double> rope_frequencies(const RopeSpec& rope, std::int64_t length);

}  // namespace headroom
