#include "core/compute/mixer.h"

#include <cmath>
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

Result<MixerWeights> load_kind(const WeightProvider& weights, const ShortConvSpec& mixer) {
  ShortConvWeights loaded;
  HEADROOM_TRY(loaded.in, weights.load(mixer.in));
  HEADROOM_TRY(loaded.conv, load_conv(weights, mixer.conv));
  HEADROOM_TRY(loaded.out, weights.load(mixer.out));
  return MixerWeights(std::move(loaded));
}

Result<MixerWeights> load_kind(const WeightProvider& weights, const DeltaNetSpec& mixer) {
  DeltaNetWeights loaded;
  const std::pair<Linear*, const LinearSpec*> linears[] = {
      {&loaded.q, &mixer.q},       {&loaded.k, &mixer.k},         {&loaded.v, &mixer.v},    {&loaded.gate, &mixer.gate},
      {&loaded.beta, &mixer.beta}, {&loaded.decay, &mixer.decay}, {&loaded.out, &mixer.out}};
  for (const auto& [linear, spec] : linears) {
    HEADROOM_TRY(*linear, weights.load(*spec));
  }
  HEADROOM_TRY(loaded.decay_log, weights.load(mixer.decay_log));
  HEADROOM_TRY(loaded.decay_bias, weights.load(mixer.decay_bias));
  HEADROOM_TRY(loaded.conv, load_conv(weights, mixer.conv));
  HEADROOM_TRY(loaded.norm, weights.load(mixer.norm));
  return MixerWeights(std::move(loaded));
}

Result<MixerWeights> load_kind(const WeightProvider& weights, const MambaSpec& mixer) {
  MambaWeights loaded;
  HEADROOM_TRY(loaded.in, weights.load(mixer.in));
  HEADROOM_TRY(loaded.conv, load_conv(weights, mixer.conv));
  HEADROOM_TRY(loaded.select, weights.load(mixer.select));
  HEADROOM_TRY(loaded.step, weights.load(mixer.step));
  HEADROOM_TRY(loaded.decay_log, weights.load(mixer.decay_log));
  HEADROOM_TRY(loaded.skip, weights.load(mixer.skip));
  HEADROOM_TRY(loaded.out, weights.load(mixer.out));
  return MixerWeights(std::move(loaded));
}

Result<MixerWeights> load_kind(const WeightProvider& weights, const GatedMemorySpec& mixer) {
  GatedMemoryWeights loaded;
  HEADROOM_TRY(loaded.in, weights.load(mixer.in));
  HEADROOM_TRY(loaded.out, weights.load(mixer.out));
  return MixerWeights(std::move(loaded));
}

at::Tensor mix_kind(const ShortConvSpec&, const ShortConvWeights& weights, const at::Tensor& x,
                    const TorchTarget& target, MixerState& state) {
  const std::vector<at::Tensor> parts = weights.in(x).chunk(3, -1);
  const at::Tensor mixed = convolve(weights.conv, parts[0] * parts[2], target.real, state.tail);
  return weights.out(parts[1] * mixed);
}

// x / √(Σ x² + ε) over the last axis, as flash-linear-attention has it.
at::Tensor of_length_one(const at::Tensor& x) {
  constexpr double kEpsilon = 1e-6;
  return x * at::rsqrt(x.square().sum(-1, true) + kEpsilon);
}

at::Tensor mix_kind(const DeltaNetSpec& mixer, const DeltaNetWeights& weights, const at::Tensor& x,
                    const TorchTarget& target, MixerState& state) {
  const at::Tensor mixed = activate(
      mixer.activation,
      convolve(weights.conv, at::cat({weights.q(x), weights.k(x), weights.v(x)}, -1), target.real, state.tail));
  const std::int64_t keys = mixer.key_heads * mixer.key_dim, group = mixer.heads / mixer.key_heads;
  // [rows, heads · channels] → [heads, rows, channels].
  const auto heads_of = [&](std::int64_t begin, std::int64_t heads, std::int64_t channels) {
    return mixed.narrow(-1, begin, heads * channels).unflatten(-1, {heads, channels}).transpose(0, 1).to(target.real);
  };
  const at::Tensor q = of_length_one(heads_of(0, mixer.key_heads, mixer.key_dim)) /
                       std::sqrt(static_cast<double>(mixer.key_dim)),
                   k = of_length_one(heads_of(keys, mixer.key_heads, mixer.key_dim)),
                   v = heads_of(2 * keys, mixer.heads, mixer.value_dim);
  const at::Tensor log_decay = -weights.decay_log.to(target.real).exp() *
                               at::softplus(weights.decay(x).to(target.real) + weights.decay_bias.to(target.real));
  if (!state.memory.defined()) state.memory = at::zeros({mixer.heads, mixer.key_dim, mixer.value_dim}, v.options());
  at::Tensor answers =
      run_delta_rule(q.repeat_interleave(group, 0), k.repeat_interleave(group, 0), v, log_decay.transpose(0, 1),
                     at::sigmoid(weights.beta(x)).to(target.real).transpose(0, 1), state.memory);
  answers = weights.norm(answers.transpose(0, 1).to(x.scalar_type()));  // [rows, heads, channels]
  const at::Tensor gate = at::silu(weights.gate(x).to(target.real)).view_as(answers);
  return weights.out((answers * gate).to(x.scalar_type()).flatten(1));
}

at::Tensor mix_kind(const MambaSpec& mixer, const MambaWeights& weights, const at::Tensor& x, const TorchTarget& target,
                    MixerState& state) {
  const std::vector<at::Tensor> parts = weights.in(x).chunk(2, -1);
  const at::Tensor u = at::silu(convolve(weights.conv, parts[0], target.real, state.tail));
  const std::vector<at::Tensor> selected =
      weights.select(u).split_with_sizes({mixer.rank(), mixer.state(), mixer.state()}, -1);
  const auto on_host = [&](const at::Tensor& t) { return t.to(at::kCPU, target.real).contiguous(); };
  // The bias counts in the type of the sums.
  at::Tensor delta = at::linear(selected[0], weights.step.weight).to(target.real);
  if (weights.step.bias.defined()) delta = delta + weights.step.bias.to(target.real);
  const at::Tensor decay = on_host(-weights.decay_log.to(target.real).exp());
  if (!state.memory.defined()) state.memory = at::zeros_like(decay);
  state.scanned = run_selective_scan(on_host(u), on_host(at::softplus(delta)), decay, on_host(selected[1]),
                                     on_host(selected[2]), on_host(weights.skip), state.memory)
                      .to(x.device(), x.scalar_type());
  return weights.out(state.scanned * at::silu(parts[1]));
}

at::Tensor mix_kind(const GatedMemorySpec&, const GatedMemoryWeights& weights, const at::Tensor& x, const TorchTarget&,
                    MixerState& state) {
  return weights.out(at::silu(weights.in(x)) * state.scanned);
}

// The weights of each kind of mixer.
const ShortConvWeights& weights_of(const ShortConvSpec&, const MixerWeights& weights) {
  return std::get<ShortConvWeights>(weights);
}
const DeltaNetWeights& weights_of(const DeltaNetSpec&, const MixerWeights& weights) {
  return std::get<DeltaNetWeights>(weights);
}
const MambaWeights& weights_of(const MambaSpec&, const MixerWeights& weights) {
  return std::get<MambaWeights>(weights);
}
const GatedMemoryWeights& weights_of(const GatedMemorySpec&, const MixerWeights& weights) {
  return std::get<GatedMemoryWeights>(weights);
}

}  // namespace

Result<MixerWeights> load_mixer(const WeightProvider& weights, const MixerSpec& mixer) {
  return std::visit([&](const auto& kind) { return load_kind(weights, kind); }, mixer.kind);
}

at::Tensor mix(const MixerSpec& mixer, const MixerWeights& weights, const at::Tensor& x, const TorchTarget& target,
               MixerState& state) {
  return std::visit([&](const auto& kind) { return mix_kind(kind, weights_of(kind, weights), x, target, state); },
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
