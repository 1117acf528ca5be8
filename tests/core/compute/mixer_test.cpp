// Mixers without maps against their equations (core/model/ARCHITECTURES.md#mixers-without-maps) written out token by
// token and channel by channel, and a sequence in pieces against the whole.
#include "core/compute/mixer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

const TorchTarget kTarget{at::kDouble, at::kDouble, at::kCPU};

at::Tensor numbers(at::IntArrayRef shape) { return at::randn(shape, at::TensorOptions().dtype(at::kDouble)); }

Linear linear(std::int64_t out, std::int64_t in, bool bias = false) {
  return {numbers({out, in}), bias ? numbers({out}) : at::Tensor()};
}

void check_equal(const at::Tensor& found, const at::Tensor& expected) {
  CATCH_REQUIRE(found.sizes() == expected.sizes());
  CATCH_REQUIRE(expected.abs().max().item<double>() > 0.01);
  CATCH_CHECK((found - expected).abs().max().item<double>() < 1e-12 * (1.0 + expected.abs().max().item<double>()));
}

// y_t,c = Σ_k w_c,k x_{t − width + 1 + k, c} + b_c, with zeros before x_0.
at::Tensor convolved(const CausalConv& conv, const at::Tensor& given) {
  const at::Tensor x = given.contiguous(), weight = conv.weight.contiguous();
  const std::int64_t width = weight.size(1), channels = x.size(1);
  const double *from = x.const_data_ptr<double>(), *w = weight.const_data_ptr<double>();
  at::Tensor y = at::empty_like(x);
  for (std::int64_t t = 0; t < x.size(0); ++t)
    for (std::int64_t c = 0; c < channels; ++c) {
      double sum = conv.bias.defined() ? conv.bias.const_data_ptr<double>()[c] : 0.0;
      for (std::int64_t k = 0; k < width; ++k)
        if (const std::int64_t row = t - width + 1 + k; row >= 0) sum += w[c * width + k] * from[row * channels + c];
      y.mutable_data_ptr<double>()[t * channels + c] = sum;
    }
  return y;
}

// All of x at once, and in pieces of one, three and many rows.
void check_pieces(const MixerSpec& spec, const MixerWeights& weights, const at::Tensor& x, const at::Tensor& expected) {
  MixerState once;
  check_equal(mix(spec, weights, x, kTarget, once), expected);
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{1}, {3}, {1, 2, 70, 4}}) {
    MixerState state;
    std::vector<at::Tensor> pieces;
    for (std::int64_t row = 0, i = 0; row < x.size(0); ++i) {
      const std::int64_t rows = std::min(sizes[static_cast<std::size_t>(i) % sizes.size()], x.size(0) - row);
      pieces.push_back(mix(spec, weights, x.narrow(0, row, rows), kTarget, state));
      row += rows;
    }
    check_equal(at::cat(pieces), expected);
  }
}

}  // namespace

CATCH_TEST_CASE("mixer: a convolution sees its own and earlier tokens") {
  at::manual_seed(1);
  for (const std::int64_t width : {1, 2, 4})
    for (const bool bias : {false, true}) {
      const CausalConv conv{numbers({5, width}), bias ? numbers({5}) : at::Tensor()};
      const at::Tensor x = numbers({9, 5});
      at::Tensor tail;
      check_equal(convolve(conv, x, at::kDouble, tail), convolved(conv, x));
    }
}

CATCH_TEST_CASE("mixer: LFM2's gated convolution") {
  at::manual_seed(2);
  const std::int64_t hidden = 6;
  for (const bool bias : {false, true}) {
    ShortConvWeights weights;
    weights.in = linear(3 * hidden, hidden, bias);
    weights.out = linear(hidden, hidden, bias);
    weights.conv = {numbers({hidden, 3}), bias ? numbers({hidden}) : at::Tensor()};
    const at::Tensor x = numbers({80, hidden});
    const at::Tensor all = weights.in(x);
    const at::Tensor b = all.narrow(1, 0, hidden), c = all.narrow(1, hidden, hidden),
                     u = all.narrow(1, 2 * hidden, hidden);
    check_pieces({ShortConvSpec{}}, weights, x, weights.out(c * convolved(weights.conv, b * u)));
  }
}

// The recurrence of core/model/mixer_spec.h, a token after another.
at::Tensor remembered(const DeltaNetSpec& spec, const DeltaNetWeights& w, const at::Tensor& x) {
  const std::int64_t n = x.size(0), keys = spec.key_heads * spec.key_dim;
  const at::Tensor u = at::silu(convolved(w.conv, at::cat({w.q(x), w.k(x), w.v(x)}, 1)));
  const at::Tensor decay = w.decay(x) + w.decay_bias, beta = at::sigmoid(w.beta(x)), gate = at::silu(w.gate(x));
  at::Tensor y = at::empty({n, spec.heads * spec.value_dim}, x.options());
  for (std::int64_t h = 0; h < spec.heads; ++h) {
    const std::int64_t key_head = h / (spec.heads / spec.key_heads);
    at::Tensor state = at::zeros({spec.key_dim, spec.value_dim}, x.options());
    for (std::int64_t t = 0; t < n; ++t) {
      const auto unit = [&](std::int64_t begin) {
        const at::Tensor part = u[t].narrow(0, begin + key_head * spec.key_dim, spec.key_dim);
        return part / (part.square().sum() + 1e-6).sqrt();
      };
      const at::Tensor q = unit(0) / std::sqrt(static_cast<double>(spec.key_dim)), k = unit(keys);
      const at::Tensor v = u[t].narrow(0, 2 * keys + h * spec.value_dim, spec.value_dim);
      const double softplus = std::log1p(std::exp(decay[t][h].item<double>()));
      state = state * std::exp(-std::exp(w.decay_log[h].item<double>()) * softplus);
      state = state + at::outer(k, (v - at::mv(state.t(), k)) * beta[t][h]);
      const at::Tensor o = at::mv(state.t(), q);
      const at::Tensor normed = o / (o.square().mean() + w.norm.epsilon).sqrt() * w.norm.weight;
      y[t].narrow(0, h * spec.value_dim, spec.value_dim)
          .copy_(normed * gate[t].narrow(0, h * spec.value_dim, spec.value_dim));
    }
  }
  return w.out(y);
}

CATCH_TEST_CASE("mixer: gated delta nets, chunks of tokens against the recurrence") {
  at::manual_seed(5);
  const std::int64_t hidden = 10;
  for (const std::int64_t group : {1, 3})
    for (const double forgets : {-8.0, -2.0, 3.0}) {  // hardly, somewhat, at once
      CATCH_INFO(group << " value heads of a key head, ln decay " << forgets);
      DeltaNetSpec spec;
      spec.key_heads = 2;
      spec.heads = 2 * group;
      spec.key_dim = 4;
      spec.value_dim = 6;
      DeltaNetWeights w;
      const std::int64_t keys = spec.key_heads * spec.key_dim, values = spec.heads * spec.value_dim;
      w.q = linear(keys, hidden);
      w.k = linear(keys, hidden);
      w.v = linear(values, hidden);
      w.gate = linear(values, hidden);
      w.beta = linear(spec.heads, hidden);
      w.decay = linear(spec.heads, hidden);
      w.out = linear(hidden, values);
      w.decay_log = numbers({spec.heads}) + forgets;
      w.decay_bias = numbers({spec.heads});
      w.conv = {numbers({2 * keys + values, 4}), at::Tensor()};
      w.norm = {NormKind::Rms, numbers({spec.value_dim}), at::Tensor(), 1e-3, at::kDouble};
      const at::Tensor x = numbers({90, hidden});
      check_pieces({spec}, w, x, remembered(spec, w, x));
    }
}

// The recurrence of core/model/mixer_spec.h, a token after another; and y, of which the output is made.
std::pair<at::Tensor, at::Tensor> scanned(const MambaSpec& spec, const MambaWeights& w, const at::Tensor& x) {
  const std::int64_t channels = spec.channels(), size = spec.state();
  const at::Tensor both = w.in(x), u = at::silu(convolved(w.conv, both.narrow(1, 0, channels)));
  const at::Tensor selected = w.select(u), b = selected.narrow(1, spec.rank(), size),
                   c = selected.narrow(1, spec.rank() + size, size),
                   step = w.step(selected.narrow(1, 0, spec.rank())).exp().log1p();
  at::Tensor y = at::empty_like(u);
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    at::Tensor state = at::zeros({size}, x.options());
    for (std::int64_t t = 0; t < x.size(0); ++t) {
      state = (-step[t][channel] * w.decay_log[channel].exp()).exp() * state + step[t][channel] * u[t][channel] * b[t];
      y[t][channel] = state.dot(c[t]) + w.skip[channel] * u[t][channel];
    }
  }
  return {w.out(y * at::silu(both.narrow(1, channels, channels))), y};
}

CATCH_TEST_CASE("mixer: Mamba, more channels than a task has, and the memory that a gated unit reads") {
  at::manual_seed(6);
  const std::int64_t hidden = 8, channels = 70, size = 5, rank = 3;
  MambaSpec spec;
  spec.conv.weight.stored_shape = {channels, 1, 3};
  spec.decay_log.stored_shape = {channels, size};
  spec.step.weight.stored_shape = {channels, rank};
  MambaWeights w;
  w.in = linear(2 * channels, hidden, true);
  w.select = linear(rank + 2 * size, channels);
  w.step = linear(channels, rank, true);
  w.step.weight.mul_(0.02);  // LibTorch's softplus is the identity from 20 on
  w.out = linear(hidden, channels, true);
  w.decay_log = numbers({channels, size}) - 1.0;
  w.skip = numbers({channels});
  w.conv = {numbers({channels, 3}), numbers({channels})};
  const at::Tensor x = numbers({90, hidden});
  const auto [expected, y] = scanned(spec, w, x);
  check_pieces({spec}, w, x, expected);
  MixerState state;
  (void)mix({spec}, w, x, kTarget, state);
  check_equal(state.scanned, y);

  GatedMemoryWeights unit;
  unit.in = linear(channels, hidden);
  unit.out = linear(hidden, channels);
  MixerState given;
  given.scanned = y;
  check_equal(mix({GatedMemorySpec{}}, unit, x, kTarget, given), unit.out(at::silu(unit.in(x)) * y));
}

CATCH_TEST_CASE("mixer: bfloat16 is summed in float32 and rounded once") {
  at::manual_seed(3);
  const CausalConv conv{numbers({4, 4}).to(at::kBFloat16), numbers({4}).to(at::kBFloat16)};
  const at::Tensor x = numbers({30, 4}).to(at::kBFloat16);
  at::Tensor tail;
  const CausalConv wide{conv.weight.to(at::kDouble), conv.bias.to(at::kDouble)};
  const at::Tensor exact = convolved(wide, x.to(at::kDouble));
  const at::Tensor found = convolve(conv, x, at::kFloat, tail);
  CATCH_CHECK(found.scalar_type() == at::kBFloat16);
  // Half a unit in the last of 8 bits.
  CATCH_CHECK(((found.to(at::kDouble) - exact).abs() <= exact.abs() * 0x1p-8 + 1e-6).all().item<bool>());
}

}  // namespace headroom::test
