// Compiled with -ffp-contract=off: no product is fused with the sum behind it.
#include "kernels/cpu/weighted_sums.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/weighted_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headroom::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void add_weighted(const double* times, std::int64_t rows, const double* values, std::int64_t stride,
                  std::int64_t columns, double* sums) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t c = 0;
  for (; c + 4 * lanes <= columns; c += 4 * lanes) {
    auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
    for (std::int64_t r = 0; r < rows; ++r) {
      const double* const row = values + r * stride + c;
      const auto factor = hn::Set(d, times[r]);
      sum0 = hn::Add(sum0, hn::Mul(factor, hn::LoadU(d, row)));
      sum1 = hn::Add(sum1, hn::Mul(factor, hn::LoadU(d, row + lanes)));
      sum2 = hn::Add(sum2, hn::Mul(factor, hn::LoadU(d, row + 2 * lanes)));
      sum3 = hn::Add(sum3, hn::Mul(factor, hn::LoadU(d, row + 3 * lanes)));
    }
    hn::StoreU(sum0, d, sums + c);
    hn::StoreU(sum1, d, sums + c + lanes);
    hn::StoreU(sum2, d, sums + c + 2 * lanes);
    hn::StoreU(sum3, d, sums + c + 3 * lanes);
  }
  for (; c < columns; ++c) {
    double sum = 0.0;
    for (std::int64_t r = 0; r < rows; ++r) sum += times[r] * values[r * stride + c];
    sums[c] = sum;
  }
}

}  // namespace headroom::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headroom::kernels {

HWY_EXPORT(add_weighted);

void weighted_sums(const double* times, std::int64_t rows, const double* values, std::int64_t stride,
                   std::int64_t columns, double* sums) {
  HWY_DYNAMIC_DISPATCH(add_weighted)(times, rows, values, stride, columns, sums);
}

}  // namespace headroom::kernels
#endif
