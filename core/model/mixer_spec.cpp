#include "core/model/mixer_spec.h"

#include <utility>

#include "core/base/format.h"

namespace headroom {
namespace {

using Visit = std::function<void(const WeightRef& weight)>;

void visit_projection(const LinearSpec& linear, const Visit& visit) {
  visit(linear.weight);
  visit(linear.bias);
}

void visit_conv(const CausalConvSpec& conv, const Visit& visit) {
  visit(conv.weight);
  visit(conv.bias);
}

void visit_weights(const ShortConvSpec& mixer, const Visit& visit) {
  visit_projection(mixer.in, visit);
  visit_conv(mixer.conv, visit);
  visit_projection(mixer.out, visit);
}

void visit_weights(const DeltaNetSpec& mixer, const Visit& visit) {
  for (const LinearSpec* linear : {&mixer.q, &mixer.k, &mixer.v, &mixer.gate, &mixer.beta, &mixer.decay})
    visit_projection(*linear, visit);
  visit(mixer.decay_log);
  visit(mixer.decay_bias);
  visit_conv(mixer.conv, visit);
  visit(mixer.norm.weight);
  visit(mixer.norm.bias);
  visit_projection(mixer.out, visit);
}

void visit_weights(const MambaSpec& mixer, const Visit& visit) {
  for (const LinearSpec* linear : {&mixer.in, &mixer.select, &mixer.step, &mixer.out}) visit_projection(*linear, visit);
  visit_conv(mixer.conv, visit);
  visit(mixer.decay_log);
  visit(mixer.skip);
}

void visit_weights(const GatedMemorySpec& mixer, const Visit& visit) {
  visit_projection(mixer.in, visit);
  visit_projection(mixer.out, visit);
}

std::string text_of(const ShortConvSpec& mixer) {
  return format("gated convolution of %lld tokens", static_cast<long long>(mixer.conv.width()));
}

// What `in` gives, the product and its longer copy, the sum and a term of it, the gated one and what `out` gives.
MixerSpec::Numbers numbers_of(const ShortConvSpec& mixer) {
  const auto channels = static_cast<double>(mixer.conv.channels());
  return {9.0 * channels, static_cast<double>(mixer.conv.width()) * channels};
}

std::string text_of(const DeltaNetSpec& mixer) {
  return format("%lld heads with a state of %lld × %lld, convolution of %lld tokens",
                static_cast<long long>(mixer.heads), static_cast<long long>(mixer.key_dim),
                static_cast<long long>(mixer.value_dim), static_cast<long long>(mixer.conv.width()));
}

// Of a row: projections, their longer copy, sums and terms of the convolution, q, k and v of every value head, what the
// heads give, its norm and gate. Of a chunk: scores, decays and what is made of them, and two states.
MixerSpec::Numbers numbers_of(const DeltaNetSpec& mixer) {
  const auto heads = static_cast<double>(mixer.heads), key = static_cast<double>(mixer.key_dim),
             value = static_cast<double>(mixer.value_dim), chunk = static_cast<double>(kDeltaChunk),
             hidden = static_cast<double>(mixer.out.weight.rows()),
             channels = static_cast<double>(mixer.conv.channels());
  return {6.0 * channels + heads * (4.0 * key + 7.0 * value + 8.0) + 3.0 * hidden,
          heads * (8.0 * chunk * chunk + 6.0 * chunk * (key + value) + 4.0 * key * value) +
              static_cast<double>(mixer.conv.width()) * channels};
}

std::string text_of(const MambaSpec& mixer) {
  return format("%lld channels with a state of %lld, convolution of %lld tokens",
                static_cast<long long>(mixer.channels()), static_cast<long long>(mixer.state()),
                static_cast<long long>(mixer.conv.width()));
}

// u, z, the longer copy of u, sum and term of the convolution, Δ, y and its gated form; b, c and δ.
MixerSpec::Numbers numbers_of(const MambaSpec& mixer) {
  const auto channels = static_cast<double>(mixer.channels()), state = static_cast<double>(mixer.state());
  return {16.0 * channels + 6.0 * state + 3.0 * static_cast<double>(mixer.rank() + mixer.out.weight.rows()),
          channels * (3.0 * state + static_cast<double>(mixer.conv.width()))};
}

std::string text_of(const GatedMemorySpec& mixer) {
  return format("%lld channels of layer %lld", static_cast<long long>(mixer.in.weight.rows()),
                static_cast<long long>(mixer.memory_of_layer));
}

MixerSpec::Numbers numbers_of(const GatedMemorySpec& mixer) {
  return {4.0 * static_cast<double>(mixer.in.weight.rows()) + 3.0 * static_cast<double>(mixer.out.weight.rows()), 0.0};
}

std::string_view name_of(const ShortConvSpec&) { return "short_conv"; }
std::string_view name_of(const DeltaNetSpec&) { return "gated_delta_net"; }
std::string_view name_of(const MambaSpec&) { return "mamba"; }
std::string_view name_of(const GatedMemorySpec&) { return "gated_memory"; }

}  // namespace

std::string_view MixerSpec::name() const {
  return std::visit([](const auto& mixer) { return name_of(mixer); }, kind);
}

std::int64_t MixerSpec::memory_of_layer() const {
  const auto* unit = std::get_if<GatedMemorySpec>(&kind);
  return unit ? unit->memory_of_layer : -1;
}

std::string MixerSpec::describe() const {
  return std::visit([](const auto& mixer) { return text_of(mixer); }, kind);
}

MixerSpec::Numbers MixerSpec::numbers() const {
  return std::visit([](const auto& mixer) { return numbers_of(mixer); }, kind);
}

void for_each_weight(const MixerSpec& mixer, const Visit& visit) {
  const Visit present = [&](const WeightRef& weight) {
    if (weight.present()) visit(weight);
  };
  std::visit([&](const auto& kind) { visit_weights(kind, present); }, mixer.kind);
}

void use_mixer(BlockSpec& block, MixerSpec mixer) {
  block.attention = {};
  block.mixer = std::make_shared<const MixerSpec>(std::move(mixer));
}

}  // namespace headroom
