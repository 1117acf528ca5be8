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

// monostate: of a block with attention.
using MixerWeights = std::variant<std::monostate, ShortConvWeights>;

[[nodiscard]] Result<MixerWeights> load_mixer(const WeightProvider& weights, const MixerSpec& mixer);

// What a mixer knows of the rows before; new for each sequence.
struct MixerState {
  at::Tensor tail;  // [width − 1, channels]: the last rows that the convolution was given
};

// x: [rows, hidden], the next rows of the layer's normed input → [rows, hidden]. Sums along the tokens are made in
// target.real, as transformers makes them in float32.
[[nodiscard]] at::Tensor mix(const MixerSpec& mixer, const MixerWeights& weights, const at::Tensor& x,
                             const TorchTarget& target, MixerState& state);

// The convolution of x [rows, channels], in x's type.
[[nodiscard]] at::Tensor convolve(const CausalConv& conv, const at::Tensor& x, at::ScalarType real, at::Tensor& tail);

}  // namespace headroom
