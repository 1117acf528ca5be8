#include "core/model/mixer_spec.h"

#include <utility>

#include "core/base/format.h"

namespace headroom {
namespace {

using Visit = std::function<void(const WeightRef& weight)>;

void visit_linear(const LinearSpec& linear, const Visit& visit) {
  visit(linear.weight);
  visit(linear.bias);
}

void visit_conv(const CausalConvSpec& conv, const Visit& visit) {
  visit(conv.weight);
  visit(conv.bias);
}

void visit_weights(const ShortConvSpec& mixer, const Visit& visit) {
  visit_linear(mixer.in, visit);
  visit_conv(mixer.conv, visit);
  visit_linear(mixer.out, visit);
}

std::string text_of(const ShortConvSpec& mixer) {
  return format("gated convolution of %lld tokens", static_cast<long long>(mixer.conv.width()));
}

// What `in` gives, the product and its longer copy, the sum and a term of it, the gated one and what `out` gives.
MixerSpec::Numbers numbers_of(const ShortConvSpec& mixer) {
  const auto channels = static_cast<double>(mixer.conv.channels());
  return {9.0 * channels, static_cast<double>(mixer.conv.width()) * channels};
}

std::string_view name_of(const ShortConvSpec&) { return "short_conv"; }

}  // namespace

std::string_view MixerSpec::name() const {
  return std::visit([](const auto& mixer) { return name_of(mixer); }, kind);
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
