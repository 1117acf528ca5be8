// From rows in global memory to a tile of logits: loads into shared memory, the products on the tensor cores, the mask.
//
// Precision. bfloat16 and half go to the tensor cores as they are; their products are exact in float32. A float32 is
// cut into three bfloat16 terms, x = x₀ + x₁ + x₂ + O(2⁻²⁴ x), and the six products x_p·y_q with p + q ≤ 2 are kept:
// what is left out is of the size of a float32 rounding. Two TF32 terms and three products would cost the same
// tensor-core time, at half the rate, and keep 2⁻²² only.
//
// An infinity has no terms that add up: ∞ · x₁ and ∞ · x₀ may differ in sign. In float32 queries and keys it is
// therefore read as 2¹²⁷, and a product beyond 2¹⁰⁰ is read as infinite again; 0 · ∞ is 0 there. A value that is not
// finite is read as 0, since the weight 0 of a row that does not see it would make NaN of it; the rows that see it get
// their NaN afterwards (odd_contexts() in small_kernels.cuh).
//
// Shared memory holds each 16-bit term as its own [rows][stride] plane; stride = channels + 8 puts the eight rows that
// one ldmatrix reads into different banks.
#pragma once

#include <cstdint>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/problem.cuh"

namespace headroom::kernels::cuda {

using Half = std::uint16_t;  // 16 bits of either format

// What an input is multiplied as.
template <class Input>
struct Terms {
  static constexpr int kCount = 1;
  using Format = Input;
};
template <>
struct Terms<float> {
  static constexpr int kCount = 3;
  using Format = BFloat16;
};

constexpr HEADROOM_BOTH int plane_stride(int channels) { return channels + 8; }

// Elements of a tile of kTile rows.
template <class Input>
constexpr HEADROOM_BOTH int tile_elements(int channels) {
  return Terms<Input>::kCount * kTile * plane_stride(channels);
}

// The terms of two neighbouring numbers, packed as the tensor cores take them.
template <class Input, class Device>
HEADROOM_DEVICE void pack_terms(Device& device, float low, float high, std::uint32_t (&terms)[Terms<Input>::kCount]) {
  using Format = typename Terms<Input>::Format;
  HEADROOM_UNROLL
  for (int p = 0; p < Terms<Input>::kCount; ++p) {
    terms[p] = device.pack(Format{}, low, high);
    if (p + 1 == Terms<Input>::kCount) break;
    low -= device.low_of(Format{}, terms[p]);
    high -= device.high_of(Format{}, terms[p]);
  }
}

enum class NotFinite { Bounded, Zeroed };

inline constexpr float kBound = 0x1p127f, kInfinite = 0x1p100f;

template <class Device>
HEADROOM_DEVICE void bound(Device& device, float (&quad)[4]) {
  HEADROOM_UNROLL
  for (int x = 0; x < 4; ++x)
    if (device.abs(quad[x]) == device.infinity()) quad[x] = quad[x] > 0.0f ? kBound : -kBound;
}
template <class Device, class Input>
HEADROOM_DEVICE void bound(Device&, Input (&)[4]) {}

HEADROOM_DEVICE bool is_finite(float x) { return x - x == 0.0f; }
HEADROOM_DEVICE bool is_finite(BFloat16 x) { return (x.bits & 0x7f80u) != 0x7f80u; }
HEADROOM_DEVICE bool is_finite(Float16 x) { return (x.bits & 0x7c00u) != 0x7c00u; }

template <class Input>
HEADROOM_DEVICE void zero_odd(Input (&quad)[4]) {
  HEADROOM_UNROLL
  for (int x = 0; x < 4; ++x)
    if (!is_finite(quad[x])) quad[x] = Input{};
}

// Four channels of float32 are cut into terms; 16-bit ones are copied.
template <class Device>
HEADROOM_DEVICE void store_quad(Device& device, const float (&quad)[4], Half* to, int plane) {
  std::uint32_t left[3], right[3];
  pack_terms<float>(device, quad[0], quad[1], left);
  pack_terms<float>(device, quad[2], quad[3], right);
  HEADROOM_UNROLL
  for (int p = 0; p < 3; ++p) device.store_shared(to + p * plane, left[p], right[p]);
}
template <class Device, class Input>
HEADROOM_DEVICE void store_quad(Device& device, const Input (&quad)[4], Half* to, int) {
  device.store_shared(to, quad[0].bits | static_cast<std::uint32_t>(quad[1].bits) << 16,
                      quad[2].bits | static_cast<std::uint32_t>(quad[3].bits) << 16);
}

// Four channels of a row, zeros from the `left`th on.
template <class Device, class Input>
HEADROOM_DEVICE void read_quad(Device& device, const Input* from, bool whole, int left, Input (&quad)[4]) {
  if (left >= 4 && whole) {
    device.load_quad(quad, from);
    return;
  }
  HEADROOM_UNROLL
  for (int x = 0; x < 4; ++x) quad[x] = x < left ? from[x] : Input{};
}

// Rows [row, row + kTile) and channels [channel, channel + channels) of an operand, zeros beyond its ends; `channels`
// is a multiple of 16, up to 128. Without barriers; there after wait_copies() and one. A thread stays in its columns
// and has several rows in flight.
template <NotFinite kNotFinite, class Device, class Input>
HEADROOM_DEVICE void load_tile(Device& device, Half* tile, int stride, const Operand<Input> operand, int row,
                               int end_row, int channel, int end_channel, int channels) {
  if constexpr (sizeof(Input) == 2) {
    if (operand.copies) {
      const int columns = channels / 8, rows = kThreads / columns;
      const int first = device.thread() / columns, c = device.thread() % columns * 8;
      if (first >= rows) return;
      const Input* from = operand.data + (row + first) * operand.stride + channel + c;
      const std::int64_t step = rows * operand.stride;
      const int end = channel + c < end_channel ? end_row - row : 0;
      HEADROOM_ROLLED
      for (int r = first; r < kTile; r += rows, from += step)
        device.copy_async(tile + r * stride + c, r < end ? from : operand.data, r < end ? 16 : 0);
      return;
    }
  }
  constexpr int kBatch = 4;
  const int columns = channels / 4, rows = kThreads / columns;
  const int first = device.thread() / columns, c = device.thread() % columns * 4;
  if (first >= rows) return;
  HEADROOM_ROLLED
  for (int start = first; start < kTile; start += kBatch * rows) {
    Input quads[kBatch][4];
    HEADROOM_UNROLL
    for (int b = 0; b < kBatch; ++b) {
      const int r = start + b * rows;
      const int left = r < kTile && row + r < end_row ? end_channel - (channel + c) : 0;
      read_quad(device, operand.data + (row + r) * operand.stride + channel + c, operand.quads, left, quads[b]);
    }
    HEADROOM_UNROLL
    for (int b = 0; b < kBatch; ++b) {
      const int r = start + b * rows;
      if (r >= kTile) continue;
      if constexpr (kNotFinite == NotFinite::Bounded) bound(device, quads[b]);
      if constexpr (kNotFinite == NotFinite::Zeroed) zero_odd(quads[b]);
      store_quad(device, quads[b], tile + r * stride + c, kTile * stride);
    }
  }
}

// accumulator += Σ of the products of terms that count, the smallest first. The tensor cores cut what they add to the
// largest of a sum: three terms are added up on their own, and rounded when they are added.
template <class Input, class Device>
HEADROOM_DEVICE void multiply_terms(Device& device, float (&accumulator)[4],
                                    const std::uint32_t (&a)[Terms<Input>::kCount][4],
                                    const std::uint32_t (&b)[Terms<Input>::kCount][4], int first) {
  using Format = typename Terms<Input>::Format;
  if constexpr (Terms<Input>::kCount == 1) {
    device.multiply(Format{}, accumulator, a[0], b[0][first], b[0][first + 1]);
  } else {
    float part[4] = {};
    HEADROOM_UNROLL
    for (int sum = Terms<Input>::kCount - 1; sum >= 0; --sum) {
      HEADROOM_UNROLL
      for (int p = 0; p <= sum; ++p) device.multiply(Format{}, part, a[p], b[sum - p][first], b[sum - p][first + 1]);
    }
    HEADROOM_UNROLL
    for (int e = 0; e < 4; ++e) accumulator[e] += part[e];
  }
}

// score += rows of `a` (16 for each warp) times the rows of `b` (kTile).
template <class Input, class Device>
HEADROOM_DEVICE void multiply_slab(Device& device, float (&score)[kColumns][4], const Half* a, const Half* b,
                                   int stride, int channels) {
  constexpr int kTerms = Terms<Input>::kCount;
  const int lane = device.lane(), plane = kTile * stride;
  const Half* a_row = a + (device.warp() * 16 + lane % 16) * stride + lane / 16 * 8;
  const Half* b_row = b + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8;
  // Several at once hide what it takes to read and to multiply; of three terms each is six products.
  [[maybe_unused]] constexpr int kAtOnce = kTerms == 1 ? 4 : 1;
  HEADROOM_UNROLL_BY(kAtOnce)
  for (int k = 0; k < channels; k += 16) {
    std::uint32_t rows[kTerms][4];
    HEADROOM_UNROLL
    for (int p = 0; p < kTerms; ++p) device.load_matrices(rows[p], a_row + p * plane + k);
    HEADROOM_UNROLL
    for (int n = 0; n < kColumns; n += 2) {
      std::uint32_t columns[kTerms][4];
      HEADROOM_UNROLL
      for (int p = 0; p < kTerms; ++p) device.load_matrices(columns[p], b_row + p * plane + n * 8 * stride + k);
      multiply_terms<Input>(device, score[n], rows, columns, 0);
      multiply_terms<Input>(device, score[n + 1], rows, columns, 2);
    }
  }
}

template <class Device>
HEADROOM_DEVICE void clear(Device&, float (&score)[kColumns][4]) {
  HEADROOM_UNROLL
  for (int n = 0; n < kColumns; ++n) score[n][0] = score[n][1] = score[n][2] = score[n][3] = 0.0f;
}

// Products of bounded infinities become infinite again.
template <class Input, class Device>
HEADROOM_DEVICE void restore_infinite(Device& device, float (&score)[kColumns][4]) {
  if constexpr (Terms<Input>::kCount > 1) {
    HEADROOM_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      HEADROOM_UNROLL
      for (int e = 0; e < 4; ++e) {
        const float product = score[n][e];
        if (device.abs(product) > kInfinite) score[n][e] = product > 0.0f ? device.infinity() : -device.infinity();
      }
    }
  }
}

HEADROOM_DEVICE int whole_steps(int channels) { return (channels + 15) / 16 * 16; }

// The tile of products of two tiles that lie in shared memory with all their channels.
template <class Input, class Device>
HEADROOM_DEVICE void multiply_tiles(Device& device, const Arguments<Input>& arguments,
                                    const HeadParameters<Input>& head, const Half* a_tile, const Half* b_tile,
                                    float (&score)[kColumns][4]) {
  clear(device, score);
  multiply_slab<Input>(device, score, a_tile, b_tile, plane_stride(arguments.slab), whole_steps(head.head_dim));
  restore_infinite<Input>(device, score);
}

// The tile of products q·k between rows [a_row, …) of `a`, one warp's 16 in each warp, and rows [b_row, …) of `b`.
// `a_tile` holds the rows of `a` already where they are resident. Begins and ends so that the caller may fill other
// shared memory before it and read it after it.
template <class Input, class Device>
HEADROOM_DEVICE void products(Device& device, const Arguments<Input>& arguments, const HeadParameters<Input>& head,
                              const Operand<Input>& a, int a_row, Half* a_tile, const Operand<Input>& b, int b_row,
                              Half* b_tile, float (&score)[kColumns][4]) {
  clear(device, score);
  const int stride = plane_stride(arguments.slab);
  HEADROOM_ROLLED
  for (int channel = 0; channel < head.head_dim; channel += arguments.slab) {
    const int channels = smaller(arguments.slab, whole_steps(head.head_dim - channel));
    device.sync();  // until nobody reads the last tile
    if (!arguments.resident)
      load_tile<NotFinite::Bounded>(device, a_tile, stride, a, a_row, head.mask.length, channel, head.head_dim,
                                    channels);
    load_tile<NotFinite::Bounded>(device, b_tile, stride, b, b_row, head.mask.length, channel, head.head_dim, channels);
    device.wait_copies();
    device.sync();
    multiply_slab<Input>(device, score, a_tile, b_tile, stride, channels);
  }
  restore_infinite<Input>(device, score);
}

// What the distance of query i and key j adds to their product.
template <class Input>
HEADROOM_DEVICE float bias_of(const HeadParameters<Input>& head, int i, int j) {
  const Mask& mask = head.mask;
  return head.bias[smaller(larger(i - j, -mask.ahead), mask.behind) + mask.ahead];
}

// Adds it to a tile of products. `row`, `column`: of the thread's score[0][0]; queries are the rows of the tile, or its
// columns.
template <bool kQueriesAreRows, class Input>
HEADROOM_DEVICE void add_bias(const HeadParameters<Input>& head, int row, int column, float (&score)[kColumns][4]) {
  if (head.bias == nullptr) return;
  HEADROOM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    HEADROOM_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int r = row + e / 2 * 8, c = column + n * 8 + e % 2;
      score[n][e] += kQueriesAreRows ? bias_of(head, r, c) : bias_of(head, c, r);
    }
  }
}

// Rows of queries or keys with all their channels.
template <class Input, class Device>
HEADROOM_DEVICE void load_whole(Device& device, const Arguments<Input>& arguments, const HeadParameters<Input>& head,
                                const Operand<Input>& a, int a_row, Half* a_tile) {
  load_tile<NotFinite::Bounded>(device, a_tile, plane_stride(arguments.slab), a, a_row, head.mask.length, 0,
                                head.head_dim, whole_steps(head.head_dim));
}

// The block's own rows, before the first products.
template <class Input, class Device>
HEADROOM_DEVICE void load_resident(Device& device, const Arguments<Input>& arguments, const HeadParameters<Input>& head,
                                   const Operand<Input>& a, int a_row, Half* a_tile) {
  if (arguments.resident) load_whole(device, arguments, head, a, a_row, a_tile);
}

// How many tiles of the rows that a block walks over lie in shared memory: where they are copied as they are, the next
// one is on its way while one is multiplied.
template <class Input>
inline constexpr int kStreamed = sizeof(Input) == 2 ? 2 : 1;

// Those tiles, of a block whose own rows are resident.
template <class Input>
class Stream {
 public:
  HEADROOM_DEVICE Stream(Half* tiles, int slab) : tiles_(tiles), elements_(tile_elements<Input>(slab)) {}

  // Whole block, once for each tile in turn: load(n, to) fills the memory of the nth one, and does nothing beyond the
  // last. Returns the next one, for whose reading everything is done.
  template <class Device, class Load>
  HEADROOM_DEVICE const Half* next(Device& device, const Load& load) {
    Half* const tile = place(count_);
    if constexpr (kStreamed<Input> == 1) {
      device.sync();  // until nobody reads the last one
      load(count_, tile);
    } else if (count_ == 0) {
      load(0, tile);
    }
    device.wait_copies();
    device.sync();
    if constexpr (kStreamed<Input> > 1) load(count_ + 1, place(count_ + 1));
    ++count_;
    return tile;
  }

 private:
  HEADROOM_DEVICE Half* place(int n) const { return tiles_ + n % kStreamed<Input> * elements_; }

  Half* tiles_;
  int elements_, count_ = 0;
};

// Products become logits in base 2, in place.
template <class Device>
HEADROOM_DEVICE void to_logits(Device& device, const Scaling& scaling, float (&score)[kColumns][4]) {
  if (scaling.capped) {
    HEADROOM_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      HEADROOM_UNROLL
      for (int e = 0; e < 4; ++e) score[n][e] = scaling.cap_outer * device.tanh(scaling.cap_inner * score[n][e]);
    }
    return;
  }
  HEADROOM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    HEADROOM_UNROLL
    for (int e = 0; e < 4; ++e) score[n][e] *= scaling.logit;
  }
}

// Bit 4n + e: this thread's score[n][e] is visible. `row`, `column`: of the thread's score[0][0]; queries are the rows
// of the tile, or its columns.
template <bool kQueriesAreRows>
HEADROOM_DEVICE std::uint32_t visible_bits(const Mask& mask, int row, int column) {
  std::uint32_t bits = 0;
  HEADROOM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    HEADROOM_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int r = row + e / 2 * 8, c = column + n * 8 + e % 2;
      const bool seen = kQueriesAreRows ? visible(mask, r, c) : visible(mask, c, r);
      bits |= static_cast<std::uint32_t>(seen) << (n * 4 + e);
    }
  }
  return bits;
}

HEADROOM_DEVICE bool bit(std::uint32_t bits, int index) { return (bits >> index & 1u) != 0; }

}  // namespace headroom::kernels::cuda
