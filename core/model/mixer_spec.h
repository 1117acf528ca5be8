// What stands in the place of attention in some blocks of hybrid models: mixers that have no map. All are causal, and
// carry what they know of earlier tokens in a state of fixed size, so that the rows of a sequence may come in pieces
// (core/model/ARCHITECTURES.md#mixers-without-maps). Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "core/model/model_spec.h"

namespace headroom {

// Along the tokens, each channel by itself: y_t = Σ_k weight[k] x_{t − width + 1 + k} + bias, with zeros before x_0.
struct CausalConvSpec {
  WeightRef weight;  // [channels, width]
  WeightRef bias;    // [channels] or absent

  [[nodiscard]] std::int64_t channels() const { return weight.rows(); }
  [[nodiscard]] std::int64_t width() const { return weight.columns(); }
};

// LFM2: out(C ⊙ conv(B ⊙ u)), where the rows of `in` are those of B, then C, then u.
struct ShortConvSpec {
  LinearSpec in, out;  // [3D, D], [D, D]
  CausalConvSpec conv;
};

// Gated delta net (Yang et al. 2024, arXiv 2412.06464, eq. 10): each value head has a state S [key_dim, value_dim] that
// forgets, and corrects what it would answer to the key,
//   S ← γ S + k ⊗ β (v − γ Sᵀk),  o = Sᵀq,  γ = exp(−e^a · softplus(decay x + b)),  β = σ(beta x)
// with q, k, v = act(conv(projections of x)), q and k of length 1, q / √key_dim, and key head ⌊i / (heads / key_heads)⌋
// for value head i. out(norm(o) ⊙ silu(gate x)), the norm over a head's channels.
struct DeltaNetSpec {
  LinearSpec q, k, v;      // [key_heads · key_dim, D] twice, [heads · value_dim, D]
  LinearSpec gate;         // [heads · value_dim, D]
  LinearSpec beta, decay;  // [heads, D]
  WeightRef decay_log;     // a [heads]
  WeightRef decay_bias;    // b [heads]
  CausalConvSpec conv;     // over q, then k, then v
  Activation activation = Activation::Silu;
  NormSpec norm;   // [value_dim]
  LinearSpec out;  // [D, heads · value_dim]
  std::int64_t key_heads = 0, heads = 0, key_dim = 0, value_dim = 0;
};

// Mamba (Gu and Dao 2023, arXiv 2312.00752, algorithm 2): each channel has a state s of so many numbers,
//   [u | z] = in x,  u ← silu(conv(u)),  [δ | b | c] = select u,  Δ = softplus(step δ)
//   s ← exp(−Δ e^a) ⊙ s + Δ u b,  y = s·c + skip ⊙ u
// and gives out(y ⊙ silu(z)).
struct MambaSpec {
  LinearSpec in;        // [2 · channels, D]
  CausalConvSpec conv;  // over u
  LinearSpec select;    // [rank + 2 · state, channels]
  LinearSpec step;      // [channels, rank]
  WeightRef decay_log;  // a [channels, state]
  WeightRef skip;       // [channels]
  LinearSpec out;       // [D, channels]

  [[nodiscard]] std::int64_t channels() const { return conv.channels(); }
  [[nodiscard]] std::int64_t state() const { return decay_log.columns(); }
  [[nodiscard]] std::int64_t rank() const { return step.weight.columns(); }
};

// Gated memory unit (Ren et al. 2025, arXiv 2507.06607): out(silu(in x) ⊙ y), with the y of an earlier block's Mamba.
struct GatedMemorySpec {
  LinearSpec in, out;  // [channels, D], [D, channels]
  std::int64_t memory_of_layer = 0;
};

// A mixer of a block, in place of its attention.
struct MixerSpec {
  std::variant<ShortConvSpec, DeltaNetSpec, MambaSpec, GatedMemorySpec> kind;

  [[nodiscard]] std::string_view name() const;  // "short_conv", "gated_delta_net", "mamba", "gated_memory"
  // The earlier block whose y it reads; −1: none.
  [[nodiscard]] std::int64_t memory_of_layer() const;
  // For inspection: "convolution of 3 tokens".
  [[nodiscard]] std::string describe() const;
  // How many numbers it holds at once, at most: for each row of a piece, and whatever the rows are.
  struct Numbers {
    double row = 0.0, fixed = 0.0;
  };
  [[nodiscard]] Numbers numbers() const;
};

// Tokens that a delta net takes together.
inline constexpr std::int64_t kDeltaChunk = 64;

// Rows of a piece: what a mixer computes beside its state is as long.
inline constexpr std::int64_t kMixerRows = 512;

void for_each_weight(const MixerSpec& mixer, const std::function<void(const WeightRef& weight)>& visit);

// Gives a block this mixer in place of attention.
void use_mixer(BlockSpec& block, MixerSpec mixer);

}  // namespace headroom
