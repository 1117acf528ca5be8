#include "core/compute/mixer.h"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/ATen.h>

namespace headroom {
namespace {

Result<CausalConv> load_conv(const WeightProvider& weights, const CausalConvSpec& conv) {
  CausalConv loaded;
  HEADROOM_TRY(loaded.weight, weights.load(conv.weight));
  HEADROOM_TRY(loaded.bias, weights.load(conv.bias));
  return loaded;
}

Result<MixerWeights> load(const WeightProvider& weights, const ShortConvSpec& mixer) {
  ShortConvWeights loaded;
  HEADROOM_TRY(loaded.in, weights.load(mixer.in));
  HEADROOM_TRY(loaded.conv, load_conv(weights, mixer.conv));
  HEADROOM_TRY(loaded.out, weights.load(mixer.out));
  return MixerWeights(std::move(loaded));
}

at::Tensor run(const ShortConvSpec&, const ShortConvWeights& weights, const at::Tensor& x, const TorchTarget& target,
               MixerState& state) {
  const std::vector<at::Tensor> parts = weights.in(x).chunk(3, -1);
  const at::Tensor mixed = convolve(weights.conv, parts[0] * parts[2], target.real, state.tail);
  return weights.out(parts[1] * mixed);
}

// The weights of each kind of mixer.
const ShortConvWeights& weights_of(const ShortConvSpec&, const MixerWeights& weights) {
  return std::get<ShortConvWeights>(weights);
}

}  // namespace

Result<MixerWeights> load_mixer(const WeightProvider& weights, const MixerSpec& mixer) {
  return std::visit([&](const auto& kind) { return load(weights, kind); }, mixer.kind);
}

at::Tensor mix(const MixerSpec& mixer, const MixerWeights& weights, const at::Tensor& x, const TorchTarget& target,
               MixerState& state) {
  return std::visit([&](const auto& kind) { return run(kind, weights_of(kind, weights), x, target, state); },
                    mixer.kind);
}

at::Tensor convolve(const CausalConv& conv, const at::Tensor& x, at::ScalarType real, at::Tensor& tail) {
  const std::int64_t rows = x.size(0), before = conv.weight.size(1) - 1;
  if (!tail.defined()) tail = at::zeros({before, x.size(1)}, x.options());
  const at::Tensor longer = at::cat({tail, x});
  tail = longer.narrow(0, rows, before);
  const at::Tensor weight = conv.weight.to(real);
  at::Tensor sum = longer.narrow(0, 0, rows).to(real) * weight.select(1, 0);
  for (std::int64_t k = 1; k <= before; ++k) sum.addcmul_(longer.narrow(0, k, rows).to(real), weight.select(1, k));
  if (conv.bias.defined()) sum.add_(conv.bias.to(real));
  return sum.to(x.scalar_type());
}

}  // namespace headroom
