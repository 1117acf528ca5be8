#include "kernels/cpu/next_token.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/next_token.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace headroom::kernels::HWY_NAMESPACE {
namespace next_token {
namespace hn = hwy::HWY_NAMESPACE;

// The largest so far, descending; equal ones in the order in which they come, which is that of their ids.
template <typename Real>
struct Largest {
  std::array<Real, kLikeliest> value;
  std::array<std::int32_t, kLikeliest> token;

  Largest() {
    value.fill(-std::numeric_limits<Real>::infinity());
    token.fill(-1);
  }
  [[nodiscard]] Real least() const { return value.back(); }
  void add(Real z, std::int64_t id) {
    if (!(z > least())) return;
    std::size_t at = value.size() - 1;
    for (; at > 0 && z > value[at - 1]; --at) value[at] = value[at - 1], token[at] = token[at - 1];
    value[at] = z;
    token[at] = static_cast<std::int32_t>(id);
  }
};

struct Sums {
  double exponentials = 0.0, weighted = 0.0;  // Σ e^t and Σ t·e^t of t = z − max z
};

// Below it e^t is 0, and t·e^t shall be too where t is −∞.
constexpr double kVanishes = -800.0;

template <typename Real>
Sums sums_of(const Real* z, std::int64_t count, double most) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<Real, decltype(d)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto shift = hn::Set(d, most), floor = hn::Set(d, kVanishes);
  auto exponentials = hn::Zero(d), weighted = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto wide = hn::Zero(d);
    if constexpr (sizeof(Real) == sizeof(double))
      wide = hn::LoadU(d, z + i);
    else
      wide = hn::PromoteTo(d, hn::LoadU(narrow, z + i));
    const auto t = hn::Max(hn::Sub(wide, shift), floor);
    const auto e = hn::Exp(d, t);
    exponentials = hn::Add(exponentials, e);
    weighted = hn::MulAdd(e, t, weighted);
  }
  Sums sums{hn::GetLane(hn::SumOfLanes(d, exponentials)), hn::GetLane(hn::SumOfLanes(d, weighted))};
  for (; i < count; ++i) {
    const double t = std::max(static_cast<double>(z[i]) - most, kVanishes), e = std::exp(t);
    sums.exponentials += e;
    sums.weighted += e * t;
  }
  return sums;
}

template <typename Real>
NextToken of_row(const Real* z, std::int64_t count, std::int32_t came) {
  const hn::ScalableTag<Real> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Real chosen = came >= 0 && came < count ? z[came] : std::numeric_limits<Real>::infinity();
  const auto own = hn::Set(d, chosen), finite = hn::Set(d, std::numeric_limits<Real>::max());
  Largest<Real> largest;
  auto least = hn::Set(d, largest.least());
  auto bad = hn::FirstN(d, 0);  // NaN or +∞
  std::int64_t above = 0, i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto values = hn::LoadU(d, z + i);
    bad = hn::Or(bad, hn::Not(hn::Le(values, finite)));
    above += static_cast<std::int64_t>(hn::CountTrue(d, hn::Gt(values, own)));
    if (hn::AllFalse(d, hn::Gt(values, least))) continue;
    for (std::int64_t lane = 0; lane < lanes; ++lane) largest.add(z[i + lane], i + lane);
    least = hn::Set(d, largest.least());
  }
  bool defined = hn::AllFalse(d, bad);
  for (; i < count; ++i) {
    defined = defined && z[i] <= std::numeric_limits<Real>::max();
    above += z[i] > chosen ? 1 : 0;
    largest.add(z[i], i);
  }
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  NextToken result{kNan, kNan, kNan, -1, {}, {}};
  result.token.fill(-1);
  result.log_probability.fill(kNan);
  if (!defined || largest.token.front() < 0) return result;
  const auto most = static_cast<double>(largest.value.front());
  const Sums sums = sums_of(z, count, most);
  const double log_sum = std::log(sums.exponentials);
  result.log_sum_exp = most + log_sum;
  result.entropy = std::max(log_sum - sums.weighted / sums.exponentials, 0.0);
  if (came >= 0 && came < count) {
    result.loss = log_sum - (static_cast<double>(chosen) - most);
    result.rank = static_cast<std::int32_t>(above + 1);
  }
  result.token = largest.token;
  for (std::size_t k = 0; k < largest.token.size() && largest.token[k] >= 0; ++k)
    result.log_probability[k] = static_cast<double>(largest.value[k]) - most - log_sum;
  return result;
}

}  // namespace next_token

NextToken next_token_of_floats(const float* z, std::int64_t count, std::int32_t came) {
  return next_token::of_row(z, count, came);
}
NextToken next_token_of_doubles(const double* z, std::int64_t count, std::int32_t came) {
  return next_token::of_row(z, count, came);
}

}  // namespace headroom::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headroom::kernels {

HWY_EXPORT(next_token_of_floats);
HWY_EXPORT(next_token_of_doubles);

NextToken next_token(std::span<const float> logits, std::int32_t came) {
  return HWY_DYNAMIC_DISPATCH(next_token_of_floats)(logits.data(), static_cast<std::int64_t>(logits.size()), came);
}
NextToken next_token(std::span<const double> logits, std::int32_t came) {
  return HWY_DYNAMIC_DISPATCH(next_token_of_doubles)(logits.data(), static_cast<std::int64_t>(logits.size()), came);
}

}  // namespace headroom::kernels
#endif
