#include "kernels/cpu/peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headroom::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Two units with a latency of up to five cycles need ten sums that do not wait for each other; sixteen registers hold
// twelve beside the factors.
double multiply_adds(std::int64_t steps) {
  const hn::ScalableTag<float> d;
  constexpr int kSums = 12;
  // Stays near 2: neither infinite nor denormal.
  const auto factor = hn::Set(d, 0.5f), addend = hn::Set(d, 1.0f);
  auto s0 = hn::Iota(d, 0.0f), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0, s8 = s0, s9 = s0,
       s10 = s0, s11 = s0;
  // Different sums, or the compiler makes one of them all.
  s1 = hn::Add(s1, addend), s2 = hn::Add(s1, addend), s3 = hn::Add(s2, addend), s4 = hn::Add(s3, addend);
  s5 = hn::Add(s4, addend), s6 = hn::Add(s5, addend), s7 = hn::Add(s6, addend), s8 = hn::Add(s7, addend);
  s9 = hn::Add(s8, addend), s10 = hn::Add(s9, addend), s11 = hn::Add(s10, addend);
  for (std::int64_t step = 0; step < steps; ++step) {
    s0 = hn::MulAdd(s0, factor, addend), s1 = hn::MulAdd(s1, factor, addend), s2 = hn::MulAdd(s2, factor, addend);
    s3 = hn::MulAdd(s3, factor, addend), s4 = hn::MulAdd(s4, factor, addend), s5 = hn::MulAdd(s5, factor, addend);
    s6 = hn::MulAdd(s6, factor, addend), s7 = hn::MulAdd(s7, factor, addend), s8 = hn::MulAdd(s8, factor, addend);
    s9 = hn::MulAdd(s9, factor, addend), s10 = hn::MulAdd(s10, factor, addend), s11 = hn::MulAdd(s11, factor, addend);
  }
  const auto low = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(s4, s5));
  const auto high = hn::Add(hn::Add(hn::Add(s6, s7), hn::Add(s8, s9)), hn::Add(s10, s11));
  volatile float kept = hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high)));  // so that the sums are needed
  (void)kept;
  return 2.0 * kSums * static_cast<double>(hn::Lanes(d)) * static_cast<double>(steps);
}

}  // namespace headroom::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headroom::kernels {

HWY_EXPORT(multiply_adds);
double run_multiply_adds(std::int64_t steps) { return HWY_DYNAMIC_DISPATCH(multiply_adds)(steps); }

}  // namespace headroom::kernels
#endif
