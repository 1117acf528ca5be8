// The pieces every CPU kernel is made of, for one Highway target: the register tile, 2^t, packing. Queries (or keys, in
// the window kernel) lie in vector lanes, so that sums over keys need no horizontal reduction. Pure functions.
#if defined(HEADROOM_KERNELS_CPU_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADROOM_KERNELS_CPU_TILE_INL_H_
#undef HEADROOM_KERNELS_CPU_TILE_INL_H_
#else
#define HEADROOM_KERNELS_CPU_TILE_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>

#include "kernels/attention.h"
#include "kernels/cpu/part.h"

// Below -O3 GCC keeps arrays of vectors in memory unless every loop over them is unrolled.
#undef HEADROOM_UNROLL
#define HEADROOM_UNROLL HWY_UNROLL(16)

HWY_BEFORE_NAMESPACE();
namespace headroom::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Tile shapes by the number of registers: kTileRows broadcast values × kVectors vectors of accumulators.
#if HWY_TARGET == HWY_SCALAR
constexpr int kTileRows = 2, kVectors = 4;
#elif HWY_TARGET == HWY_EMU128
constexpr int kTileRows = 2, kVectors = 1;
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr int kTileRows = 8, kVectors = 3;
#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 4, kVectors = 3;
#elif HWY_ARCH_ARM_A64
constexpr int kTileRows = 8, kVectors = 3;
#else
constexpr int kTileRows = 4, kVectors = 2;
#endif

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));
constexpr int kWidth = kLanes * kVectors;  // lanes of a strip
static_assert(kStripAlignment % kWidth == 0);

// What a tile does every kSteps steps beside multiplying.
struct FetchNothing {
  static constexpr std::int64_t kSteps = std::int64_t{1} << 40;
  HWY_INLINE void operator()(std::int64_t) const {}
};

// out[r][0 … kWidth) (+)= Σ_t a[t][·] · b(r, t) for r < kRows, with a packed [depth][kWidth] and b(r, t) at
// b + r · row_stride + t · depth_stride. The sum starts at zero, so that a long accumulation goes block by block.
// fetch(t) brings nearer what a later tile needs, a little at a time under the multiplications.
template <int kRows, class Fetch = FetchNothing>
HWY_INLINE void multiply_tile(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::int64_t row_stride,
                              std::int64_t depth_stride, std::int64_t depth, bool accumulate, float* HWY_RESTRICT out,
                              Fetch fetch = {}) {
  const Tag d;
  Vector sum[kRows][kVectors];
  HEADROOM_UNROLL
  for (int r = 0; r < kRows; ++r) {
    HEADROOM_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  const float* rows[kRows];
  HEADROOM_UNROLL
  for (int r = 0; r < kRows; ++r) rows[r] = b + r * row_stride;
  for (std::int64_t begin = 0; begin < depth; begin += Fetch::kSteps) {
    fetch(begin);
    const std::int64_t end = begin + Fetch::kSteps < depth ? begin + Fetch::kSteps : depth;
    for (std::int64_t t = begin; t < end; ++t) {
      Vector lanes[kVectors];
      HEADROOM_UNROLL
      for (int v = 0; v < kVectors; ++v) lanes[v] = hn::Load(d, a + v * kLanes);
      HEADROOM_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const Vector value = hn::Set(d, rows[r][t * depth_stride]);
        HEADROOM_UNROLL
        for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(lanes[v], value, sum[r][v]);
      }
      a += kWidth;
    }
  }
  HEADROOM_UNROLL
  for (int r = 0; r < kRows; ++r) {
    HEADROOM_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      float* to = out + r * kWidth + v * kLanes;
      hn::Store(accumulate ? hn::Add(hn::Load(d, to), sum[r][v]) : sum[r][v], d, to);
    }
  }
}

// The same for any number of rows.
inline HWY_NOINLINE void multiply_rows(const float* a, const float* b, std::int64_t row_stride,
                                       std::int64_t depth_stride, std::int64_t depth, std::int64_t rows,
                                       bool accumulate, float* out) {
  std::int64_t r = 0;
  for (; r + kTileRows <= rows; r += kTileRows)
    multiply_tile<kTileRows>(a, b + r * row_stride, row_stride, depth_stride, depth, accumulate, out + r * kWidth);
  if constexpr (kTileRows > 4)
    for (; r + 4 <= rows; r += 4)
      multiply_tile<4>(a, b + r * row_stride, row_stride, depth_stride, depth, accumulate, out + r * kWidth);
  for (; r < rows; ++r)
    multiply_tile<1>(a, b + r * row_stride, row_stride, depth_stride, depth, accumulate, out + r * kWidth);
}

// 2^t for t ≤ 127, exactly 0 below −126; NaN stays NaN. Relative error 1.5e-7: degree 5, minimax for 2^r on [0, 1).
HWY_INLINE Vector power_of_two(Vector t) {
  const Tag d;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const Vector r{_mm512_reduce_ps(t.raw, 0x09)};  // t − ⌊t⌋
#else
  const Vector low = hn::Set(d, -127.0f);
  const auto zero = hn::Lt(t, hn::Set(d, -126.0f));
  t = hn::IfThenElse(zero, low, t);
  const Vector floor = hn::Floor(t);
  const Vector r = hn::Sub(t, floor);
#endif
  Vector p = hn::Set(d, 1.877576700e-03f);
  p = hn::MulAdd(p, r, hn::Set(d, 8.989340024e-03f));
  p = hn::MulAdd(p, r, hn::Set(d, 5.582631812e-02f));
  p = hn::MulAdd(p, r, hn::Set(d, 2.401536170e-01f));
  p = hn::MulAdd(p, r, hn::Set(d, 6.931530732e-01f));
  p = hn::MulAdd(p, r, hn::Set(d, 9.999999251e-01f));
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return Vector{_mm512_scalef_ps(p.raw, t.raw)};
#else
  const hn::RebindToSigned<Tag> di;
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, floor), hn::Set(di, 127)));
  return hn::IfThenZeroElse(zero, hn::Mul(p, hn::BitCast(d, exponent)));
#endif
}

// Sums over lanes are kept for groups of this many keys in one vector: lane b · kGroup + k holds a part of key k's.
constexpr int kGroup = kLanes < 4 ? 1 : 4;

#if HWY_TARGET != HWY_SCALAR
// Sums of four vectors' lanes, laid out as a group.
HWY_INLINE Vector sum_by_four(Vector x0, Vector x1, Vector x2, Vector x3) {
  const Tag d;
  const hn::Repartition<double, Tag> d2;
  const Vector x01 = hn::Add(hn::InterleaveLower(d, x0, x1), hn::InterleaveUpper(d, x0, x1));
  const Vector x23 = hn::Add(hn::InterleaveLower(d, x2, x3), hn::InterleaveUpper(d, x2, x3));
  const auto low = hn::InterleaveLower(d2, hn::BitCast(d2, x01), hn::BitCast(d2, x23));
  const auto high = hn::InterleaveUpper(d2, hn::BitCast(d2, x01), hn::BitCast(d2, x23));
  return hn::Add(hn::BitCast(d, low), hn::BitCast(d, high));
}
#endif

// to[lane] += sums' lane, in double.
HWY_INLINE void add_lanes(Vector sums, double* HWY_RESTRICT to) {
  const Tag d;
  HWY_ALIGN float lanes[kLanes];
  hn::Store(sums, d, lanes);
  for (int lane = 0; lane < kLanes; ++lane) to[lane] += static_cast<double>(lanes[lane]);
}

HWY_INLINE float to_float(float value) { return value; }
HWY_INLINE float to_float(BFloat16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  __builtin_memcpy(&result, &bits, sizeof(result));
  return result;
}

// Transposes 4 × 4 numbers: to[i] gets lane i of each vector.
HWY_INLINE void transpose_four(const float* HWY_RESTRICT from, std::int64_t from_stride, float factor,
                               float* HWY_RESTRICT to, std::int64_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 4; ++k) to[i * to_stride + k] = factor * from[k * from_stride + i];
#else
  const hn::CappedTag<float, 4> d;
  const hn::CappedTag<double, 2> d2;
  const auto scale = hn::Set(d, factor);
  const auto x0 = hn::Mul(hn::LoadU(d, from), scale), x1 = hn::Mul(hn::LoadU(d, from + from_stride), scale);
  const auto x2 = hn::Mul(hn::LoadU(d, from + 2 * from_stride), scale);
  const auto x3 = hn::Mul(hn::LoadU(d, from + 3 * from_stride), scale);
  const auto low01 = hn::BitCast(d2, hn::InterleaveLower(d, x0, x1)),
             low23 = hn::BitCast(d2, hn::InterleaveLower(d, x2, x3));
  const auto high01 = hn::BitCast(d2, hn::InterleaveUpper(d, x0, x1));
  const auto high23 = hn::BitCast(d2, hn::InterleaveUpper(d, x2, x3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, low01, low23)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, high01, high23)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, high01, high23)), d, to + 3 * to_stride);
#endif
}

// to[c][r] = factor · from[r][c] for r < rows, c < columns.
HWY_INLINE void transpose(const float* HWY_RESTRICT from, std::int64_t from_stride, std::int64_t rows,
                          std::int64_t columns, float factor, float* HWY_RESTRICT to, std::int64_t to_stride) {
  for (std::int64_t r = 0; r < rows; r += 4)
    for (std::int64_t c = 0; c < columns; c += 4) {
      if (r + 4 <= rows && c + 4 <= columns) {
        transpose_four(from + r * from_stride + c, from_stride, factor, to + c * to_stride + r, to_stride);
        continue;
      }
      for (std::int64_t k = r; k < rows && k < r + 4; ++k)
        for (std::int64_t i = c; i < columns && i < c + 4; ++i)
          to[i * to_stride + k] = factor * from[k * from_stride + i];
    }
}

// packed[c][lane] = factor · rows[lane][c]; lanes from `count` on are 0.
template <typename Input>
HWY_NOINLINE void pack_lanes(const Input* rows, std::int64_t stride, std::int64_t count, std::int64_t channels,
                             float factor, float* HWY_RESTRICT packed) {
  if constexpr (sizeof(Input) == sizeof(float)) {
    transpose(rows, stride, count, channels, factor, packed, kWidth);
  } else {
    for (std::int64_t lane = 0; lane < count; ++lane)
      for (std::int64_t c = 0; c < channels; ++c)
        packed[c * kWidth + lane] = factor * to_float(rows[lane * stride + c]);
  }
  for (std::int64_t lane = count; lane < kWidth; ++lane)
    for (std::int64_t c = 0; c < channels; ++c) packed[c * kWidth + lane] = 0.0f;
}

// copied[r][c] = rows[r][c] as float; rows from `count` to `padded` are 0.
template <typename Input>
HWY_NOINLINE void copy_rows(const Input* rows, std::int64_t stride, std::int64_t count, std::int64_t padded,
                            std::int64_t channels, float* HWY_RESTRICT copied) {
  for (std::int64_t r = 0; r < padded; ++r)
    for (std::int64_t c = 0; c < channels; ++c)
      copied[r * channels + c] = r < count ? to_float(rows[r * stride + c]) : 0.0f;
}

}  // namespace headroom::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
