// Mixers without maps (core/model/mixer_spec.h) on the rows of a sequence, which come in pieces: what a mixer needs of
// earlier ones is in its state. Compute thread only.
#pragma once

#include <variant>

#include <ATen/core/Tensor.h>

#include "core/base/result.h"
#include "core/compute/weights.h"
#include "core/model/mixer_spec.h"

namespace headroom {

struct CausalConv {
  at::Tensor weight, bias;  // [channels, width], [channels] or undefined
};

struct ShortConvWeights {
  Linear in, out;
  CausalConv conv;
};

struct DeltaNetWeights {
  Linear q, k, v, gate, beta, decay, out;
  at::Tensor decay_log, decay_bias;  // [heads]
  CausalConv conv;
  Norm norm;
};

struct MambaWeights {
  Linear in, select, step, out;
  CausalConv conv;
  at::Tensor decay_log, skip;  // [channels, state], [channels]
};

struct GatedMemoryWeights {
  Linear in, out;
};

// monostate: of a block with attention.
using MixerWeights = std::variant<std::monostate, ShortConvWeights, DeltaNetWeights, MambaWeights, GatedMemoryWeights>;

[[nodiscard]] Result<MixerWeights> load_mixer(const WeightProvider& weights, const MixerSpec& mixer);

// What a mixer knows of the rows before; new for each sequence.
struct MixerState {
  at::Tensor tail;  // [width − 1, channels]: the last rows that the convolution was given
  // Delta net: S [heads, key_dim, value_dim], in target.real. Mamba: s [channels, state], in target.real on the host.
  at::Tensor memory;
  // y of these rows, [rows, channels]: Mamba sets it, a gated memory unit is given that of its layer.
  at::Tensor scanned;
};

// x: [rows, hidden], the next rows of the layer's normed input → [rows, hidden]. Sums along the tokens are made in
// target.real, as transformers makes them in float32.
[[nodiscard]] at::Tensor mix(const MixerSpec& mixer, const MixerWeights& weights, const at::Tensor& x,
                             const TorchTarget& target, MixerState& state);

// What a delta net's heads answer, [heads, rows, value_dim], and their state after it. q, k: [heads, rows, key_dim], v:
// [heads, rows, value_dim], log_decay (ln γ) and beta: [heads, rows]; all of the state's type.
[[nodiscard]] at::Tensor run_delta_rule(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                        const at::Tensor& log_decay, const at::Tensor& beta, at::Tensor& state);

// Mamba's scan: y [rows, channels] of u and Δ [rows, channels], decay −e^a [channels, state], b and c [rows, state],
// skip [channels]; all on the host, of the state's type and contiguous. Channels are spread over threads.
[[nodiscard]] at::Tensor run_selective_scan(const at::Tensor& u, const at::Tensor& delta, const at::Tensor& decay,
                                            const at::Tensor& b, const at::Tensor& c, const at::Tensor& skip,
                                            at::Tensor& state);

// The convolution of x [rows, channels], in x's type.
[[nodiscard]] at::Tensor convolve(const CausalConv& conv, const at::Tensor& x, at::ScalarType real, at::Tensor& tail);

}  // namespace headroom
