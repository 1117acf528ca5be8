#include "core/model/rope.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "core/base/check.h"

namespace headroom {
namespace {

// Peng et al., "YaRN", section 3.2; `powers` are theta^(2i/r).
template <typename Real>
std::vector<Real> yarn_frequencies(const RopeSpec& rope, const std::vector<Real>& powers) {
  const RopeScaling& scaling = rope.scaling;
  const auto correction = [&](double rotations) {
    return static_cast<double>(rope.rotary_dim) *
           std::log(scaling.original_max_positions / (rotations * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(rope.theta));
  };
  double low = correction(scaling.beta_fast);
  double high = correction(scaling.beta_slow);
  if (scaling.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(rope.rotary_dim - 1));
  if (low == high) high += 0.001;
  std::vector<Real> inv_freq(powers.size());
  for (std::size_t i = 0; i < powers.size(); ++i) {
    const Real position = (static_cast<Real>(i) - static_cast<Real>(low)) / static_cast<Real>(high - low);
    const Real ramp = std::clamp(position, Real(0), Real(1));
    const Real keep = Real(1) - ramp;
    const Real extrapolated = Real(1) / powers[i];
    const Real interpolated = Real(1) / (static_cast<Real>(scaling.factor) * powers[i]);
    inv_freq[i] = interpolated * (Real(1) - keep) + extrapolated * keep;
  }
  return inv_freq;
}

template <typename Real>
Real llama3_frequency(const RopeScaling& scaling, Real inv_freq) {
  const Real factor = static_cast<Real>(scaling.factor);
  // A number divided by a tensor is, in PyTorch, the number times the reciprocal.
  const Real wavelength = Real(1) / inv_freq * static_cast<Real>(2.0 * std::numbers::pi);
  if (wavelength > static_cast<Real>(scaling.original_max_positions / scaling.low_freq_factor))
    return inv_freq / factor;
  if (wavelength < static_cast<Real>(scaling.original_max_positions / scaling.high_freq_factor)) return inv_freq;
  const Real turns = Real(1) / wavelength * static_cast<Real>(scaling.original_max_positions);
  const Real smooth = (turns - static_cast<Real>(scaling.low_freq_factor)) /
                      static_cast<Real>(scaling.high_freq_factor - scaling.low_freq_factor);
  return (Real(1) - smooth) * inv_freq / factor + smooth * inv_freq;
}

}  // namespace

std::string_view name_of(RopeScalingKind kind) {
  switch (kind) {
    case RopeScalingKind::None: return "default";
    case RopeScalingKind::Linear: return "linear";
    case RopeScalingKind::Dynamic: return "dynamic";
    case RopeScalingKind::Llama3: return "llama3";
    case RopeScalingKind::Yarn: return "yarn";
    case RopeScalingKind::LongRope: return "longrope";
    case RopeScalingKind::Proportional: return "proportional";
  }
  return "default";
}

double yarn_mscale(double factor, double mscale) { return factor <= 1.0 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0; }

template <typename Real>
RopeFrequencies<Real> rope_frequencies(const RopeSpec& rope, std::int64_t length, const RopePowers<Real>& powers) {
  const RopeScaling& scaling = rope.scaling;
  RopeFrequencies<Real> result;
  double theta = rope.theta;
  const double dimension = static_cast<double>(rope.rotary_dim);
  if (scaling.kind == RopeScalingKind::Dynamic) {
    const double reach = std::max(static_cast<double>(length), rope.max_positions);
    theta *=
        std::pow(scaling.factor * reach / rope.max_positions - (scaling.factor - 1.0), dimension / (dimension - 2.0));
  }
  const std::vector<Real> base = powers(theta, rope.rotary_dim);
  if (scaling.kind == RopeScalingKind::Yarn) {
    result.inv_freq = yarn_frequencies<Real>(rope, base);
    result.attention_factor =
        scaling.attention_factor > 0.0 ? scaling.attention_factor
        : scaling.mscale > 0.0 && scaling.mscale_all_dim > 0.0
            ? yarn_mscale(scaling.factor, scaling.mscale) / yarn_mscale(scaling.factor, scaling.mscale_all_dim)
            : yarn_mscale(scaling.factor, 1.0);
  } else if (scaling.kind == RopeScalingKind::LongRope) {
    const bool beyond = static_cast<double>(length) > scaling.original_max_positions;
    const std::vector<double>& divisors = beyond ? scaling.long_factor : scaling.short_factor;
    HEADROOM_CHECK(divisors.size() == base.size(), "longrope factors");
    for (std::size_t i = 0; i < base.size(); ++i)
      result.inv_freq.push_back(Real(1) / (static_cast<Real>(divisors[i]) * base[i]));
    const double mscale = beyond ? scaling.long_mscale : scaling.short_mscale;
    result.attention_factor =
        mscale > 0.0                     ? mscale
        : scaling.attention_factor > 0.0 ? scaling.attention_factor
        : scaling.factor <= 1.0          ? 1.0
                                : std::sqrt(1.0 + std::log(scaling.factor) / std::log(scaling.original_max_positions));
  } else {
    for (const Real power : base) result.inv_freq.push_back(Real(1) / power);
    if (scaling.kind == RopeScalingKind::Proportional) {
      const auto turning = static_cast<std::size_t>(std::floor(scaling.share * dimension / 2.0));
      for (std::size_t i = turning; i < base.size(); ++i) result.inv_freq[i] = Real(0);
    }
    if (scaling.kind == RopeScalingKind::Linear || scaling.kind == RopeScalingKind::Proportional)
      for (Real& frequency : result.inv_freq) frequency /= static_cast<Real>(scaling.factor);
    if (scaling.kind == RopeScalingKind::Llama3)
      for (Real& frequency : result.inv_freq) frequency = llama3_frequency<Real>(scaling, frequency);
  }
  if (!rope.frequency_divisors.empty()) {
    HEADROOM_CHECK(rope.frequency_divisors.size() == base.size(), "rope frequency divisors");
    for (std::size_t i = 0; i < base.size(); ++i) result.inv_freq[i] /= static_cast<Real>(rope.frequency_divisors[i]);
  }
  return result;
}

template RopeFrequencies<float> rope_frequencies<float>(const RopeSpec&, std::int64_t, const RopePowers<float>&);
template RopeFrequencies<double> rope_frequencies<double>(const RopeSpec&, std::int64_t, const RopePowers<double>&);

RopeFrequencies<double> rope_frequencies(const RopeSpec& rope, std::int64_t length) {
  return rope_frequencies<double>(rope, length, [](double theta, std::int64_t rotary_dim) {
    std::vector<double> values(static_cast<std::size_t>(rotary_dim / 2));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::pow(theta, 2.0 * static_cast<double>(i) / static_cast<double>(rotary_dim));
    return values;
  });
}

}  // namespace headroom
