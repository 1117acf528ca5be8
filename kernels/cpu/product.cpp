#include "kernels/cpu/product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstddef>
#include <vector>

#ifndef HEADROOM_PRODUCT_SIZES
#define HEADROOM_PRODUCT_SIZES
namespace headroom::kernels {

inline constexpr std::int64_t kProductRows = 6;       // twelve sums of two vectors each, as in peak.cpp
inline constexpr std::int64_t kWidest = 32;           // columns of a tile at most: two vectors of 64 bytes
inline constexpr std::int64_t kProductDepth = 256;    // a strip of B's tiles stays in the first cache
inline constexpr std::int64_t kProductColumns = 512;  // and all tiles of so many columns in the second

template <typename Real>
struct Product {
  const Real *a, *b;
  Real* c;
  std::int64_t a_stride, b_stride, c_stride, depth, rows, columns;
  Real *packed_a, *packed_b,
      *tile;  // [kProductDepth · kProductRows], [kProductDepth · (kProductColumns + kWidest)], [kProductRows · kWidest]
};

}  // namespace headroom::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace headroom::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// tile[6, 2 vectors] = Σ over depth of a[6] b[2 vectors].
template <typename Real>
HWY_INLINE void multiply_product_tile(const Real* a, const Real* b, std::int64_t depth, Real* tile) {
  const hn::CappedTag<Real, 64 / sizeof(Real)> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0, s8 = s0, s9 = s0, s10 = s0,
       s11 = s0;
  for (std::int64_t k = 0; k < depth; ++k, a += kProductRows, b += 2 * lanes) {
    const auto left = hn::LoadU(d, b), right = hn::LoadU(d, b + lanes);
    auto factor = hn::Set(d, a[0]);
    s0 = hn::MulAdd(factor, left, s0), s1 = hn::MulAdd(factor, right, s1);
    factor = hn::Set(d, a[1]);
    s2 = hn::MulAdd(factor, left, s2), s3 = hn::MulAdd(factor, right, s3);
    factor = hn::Set(d, a[2]);
    s4 = hn::MulAdd(factor, left, s4), s5 = hn::MulAdd(factor, right, s5);
    factor = hn::Set(d, a[3]);
    s6 = hn::MulAdd(factor, left, s6), s7 = hn::MulAdd(factor, right, s7);
    factor = hn::Set(d, a[4]);
    s8 = hn::MulAdd(factor, left, s8), s9 = hn::MulAdd(factor, right, s9);
    factor = hn::Set(d, a[5]);
    s10 = hn::MulAdd(factor, left, s10), s11 = hn::MulAdd(factor, right, s11);
  }
  hn::StoreU(s0, d, tile), hn::StoreU(s1, d, tile + lanes);
  hn::StoreU(s2, d, tile + 2 * lanes), hn::StoreU(s3, d, tile + 3 * lanes);
  hn::StoreU(s4, d, tile + 4 * lanes), hn::StoreU(s5, d, tile + 5 * lanes);
  hn::StoreU(s6, d, tile + 6 * lanes), hn::StoreU(s7, d, tile + 7 * lanes);
  hn::StoreU(s8, d, tile + 8 * lanes), hn::StoreU(s9, d, tile + 9 * lanes);
  hn::StoreU(s10, d, tile + 10 * lanes), hn::StoreU(s11, d, tile + 11 * lanes);
}

// [depth, width] of a matrix whose rows are `stride` apart, of which `used` columns are there and the others 0.
template <typename Real>
HWY_INLINE void pack(const Real* from, std::int64_t stride, std::int64_t depth, std::int64_t width, std::int64_t used,
                     Real* to) {
  for (std::int64_t k = 0; k < depth; ++k, from += stride, to += width)
    for (std::int64_t i = 0; i < width; ++i) to[i] = i < used ? from[i] : Real{0};
}

template <typename Real>
HWY_INLINE void run_product(const Product<Real>& p) {
  const hn::CappedTag<Real, 64 / sizeof(Real)> d;
  const std::int64_t width = 2 * static_cast<std::int64_t>(hn::Lanes(d));
  const auto least = [](std::int64_t x, std::int64_t y) { return x < y ? x : y; };
  for (std::int64_t k = 0; k < p.depth; k += kProductDepth) {
    const std::int64_t depth = least(kProductDepth, p.depth - k);
    for (std::int64_t column = 0; column < p.columns; column += kProductColumns) {
      const std::int64_t columns = least(kProductColumns, p.columns - column);
      for (std::int64_t j = 0; j < columns; j += width)
        pack(p.b + k * p.b_stride + column + j, p.b_stride, depth, width, least(width, columns - j),
             p.packed_b + j * depth);
      for (std::int64_t i = 0; i < p.rows; i += kProductRows) {
        const std::int64_t rows = least(kProductRows, p.rows - i);
        pack(p.a + k * p.a_stride + i, p.a_stride, depth, kProductRows, rows, p.packed_a);
        for (std::int64_t j = 0; j < columns; j += width) {
          multiply_product_tile(p.packed_a, p.packed_b + j * depth, depth, p.tile);
          const std::int64_t used = least(width, columns - j);
          for (std::int64_t r = 0; r < rows; ++r) {
            Real* target = p.c + (i + r) * p.c_stride + column + j;
            for (std::int64_t x = 0; x < used; ++x) target[x] += p.tile[r * width + x];
          }
        }
      }
    }
  }
}

void product_f32(const Product<float>& product) { run_product(product); }
void product_f64(const Product<double>& product) { run_product(product); }

}  // namespace headroom::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headroom::kernels {
namespace {

HWY_EXPORT(product_f32);
HWY_EXPORT(product_f64);

template <typename Real, typename Run>
void with_scratch(Product<Real> product, const Run& run) {
  constexpr auto a = static_cast<std::size_t>(kProductDepth * kProductRows),
                 b = static_cast<std::size_t>(kProductDepth * (kProductColumns + kWidest)),
                 tile = static_cast<std::size_t>(kProductRows * kWidest);
  std::vector<Real> scratch(a + b + tile);
  product.packed_a = scratch.data();
  product.packed_b = scratch.data() + a;
  product.tile = scratch.data() + a + b;
  run(product);
}

}  // namespace

void add_product(const double* a, std::int64_t a_stride, const double* b, std::int64_t b_stride, std::int64_t depth,
                 std::int64_t rows, std::int64_t columns, double* c, std::int64_t c_stride) {
  with_scratch<double>({a, b, c, a_stride, b_stride, c_stride, depth, rows, columns, nullptr, nullptr, nullptr},
                       [](const Product<double>& product) { HWY_DYNAMIC_DISPATCH(product_f64)(product); });
}

void add_product(const float* a, std::int64_t a_stride, const float* b, std::int64_t b_stride, std::int64_t depth,
                 std::int64_t rows, std::int64_t columns, float* c, std::int64_t c_stride) {
  with_scratch<float>({a, b, c, a_stride, b_stride, c_stride, depth, rows, columns, nullptr, nullptr, nullptr},
                      [](const Product<float>& product) { HWY_DYNAMIC_DISPATCH(product_f32)(product); });
}

}  // namespace headroom::kernels
#endif
