// A strip: as many query rows as there are lanes, and the scores of one block of keys against them, masked and in units
// of log2 (z · log2 e), for one Highway target. Both passes ask for scores here and get the same bits.
#if defined(HEADROOM_KERNELS_CPU_STRIP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADROOM_KERNELS_CPU_STRIP_INL_H_
#undef HEADROOM_KERNELS_CPU_STRIP_INL_H_
#else
#define HEADROOM_KERNELS_CPU_STRIP_INL_H_
#endif

#include <cstdint>

#include <hwy/contrib/math/math-inl.h>

#include "kernels/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headroom::kernels::HWY_NAMESPACE {

constexpr std::int64_t kBlock = 64;  // keys that are scored at once; the floats of a block stay in L1
constexpr std::int64_t kBlockFloats = kBlock * kWidth;
constexpr std::int64_t kPad = kTileRows < 4 ? 4 : kTileRows;  // scored keys come in multiples of this
constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

// Scores of masked entries, and the reference of a row that has seen none. Finite, so that no difference is NaN; below
// every score but the last ones that a float can hold; so far apart that 2^(kMasked − kNoReference) is 0.
constexpr float kMasked = -0x1.fffffep127f, kNoReference = -0x1.ffffp127f;
// Lanes without a row that sees anything stand this far before every key.
constexpr float kFarAway = -1e9f;

HWY_INLINE std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }
HWY_INLINE std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
HWY_INLINE std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

// Hands out pieces of the scratch memory, each aligned for the widest vectors.
struct Arena {
  float* next;
  std::int64_t used = 0;
  HWY_INLINE float* take(std::int64_t floats) {
    float* piece = next ? next + used : nullptr;
    used += round_up(floats, 16);
    return piece;
  }
  HWY_INLINE double* take_doubles(std::int64_t count) { return reinterpret_cast<double*>(take(2 * count)); }
};

// While a tile is multiplied, rows of the next block come nearer: they lie too far apart for the hardware to guess, and
// from n ≈ 4096 on they lie beyond L2. A few lines at a time, since a processor waits for few at once.
struct FetchAhead {
  static constexpr std::int64_t kSteps = 32;  // two cache lines of each row
  static constexpr std::int64_t kLine = 16;
  const float* rows;
  std::int64_t stride, channels, steps;  // all channels within as many steps

  HWY_INLINE void operator()(std::int64_t t) const {
    for (std::int64_t c = t; c < channels; c += steps)
      for (std::int64_t line = c; line < c + kSteps && line < channels; line += kLine) {
        HEADROOM_UNROLL
        for (int r = 0; r < kTileRows; ++r) __builtin_prefetch(rows + r * stride + line, 0, 2);
      }
  }
};

template <typename Input>
struct Strip {
  const Part<Input>& part;
  std::int64_t row = 0, rows = 0;           // query rows [row, row + rows) in lanes 0 … rows − 1
  std::int64_t key_begin = 0, key_end = 0;  // keys that any of them may see; begin is a multiple of 8
  bool plain = false;                       // every lane holds a row that sees keys
  int in_group = 0;                         // the first strip fetches keys ahead, the second one values
  std::int64_t all_begin = 0, all_end = 0;  // keys that every lane sees, where plain and none is hidden
  float factor, cap_factor;                 // into the packed queries; after the cap
  float* packed[2] = {};                    // queries, [head_dim][kWidth]
  float* position;                          // per lane: its row − row
  float* lowest;                            // per lane: near is lowest ≤ p − j ≤ highest
  float* highest;
  float* keeps;                           // per lane: 1 if the row sees its own hidden key
  float* rows_copy;                       // keys or values of one block as floats
  float raw_max[2] = {kMasked, kMasked};  // before a soft-cap

  HWY_INLINE Strip(const Part<Input>& given, Arena& arena) : part(given) {
    const bool capped = part.softcap > 0.0;
    factor = static_cast<float>(capped ? part.scale : part.scale * kLog2E / part.temperature);
    cap_factor = static_cast<float>(part.softcap * kLog2E / part.temperature);
    for (int m = 0; m < 2; ++m)
      if (part.maps[m].present()) packed[m] = arena.take(part.head_dim * kWidth);
    position = arena.take(kWidth);
    lowest = arena.take(kWidth);
    highest = arena.take(kWidth);
    keeps = arena.take(kWidth);
    rows_copy = arena.take(kBlock * larger(part.head_dim, part.value_dim));
  }

  // `group`: the first row of the strips that go through the keys together; they begin at the same key.
  HWY_NOINLINE void start(std::int64_t first, std::int64_t count, std::int64_t group) {
    row = first;
    rows = count;
    in_group = static_cast<int>((first - group) / kWidth);
    const std::int64_t place = row + part.mask.first_query, last = place + rows - 1;
    key_begin = smaller(larger(part.mask.begin_of(group + part.mask.first_query), 0), part.mask.keys) / 8 * 8;
    key_end = part.mask.end_of(last);
    if (row >= part.mask.end_row || last < part.mask.first_key || key_end < key_begin) key_end = key_begin;
    plain = rows == kWidth && row >= part.mask.first_row && row + rows <= part.mask.end_row;
    all_begin = part.mask.near_begin_of(last);
    all_end = part.mask.near_end_of(place);
    for (std::int64_t lane = 0; lane < kWidth; ++lane) {
      const bool sees = lane < rows && part.mask.row_sees(row + lane);
      position[lane] = sees ? static_cast<float>(lane) : kFarAway;
      lowest[lane] = -static_cast<float>(part.mask.ahead);
      highest[lane] = static_cast<float>(part.mask.behind);
      if (part.mask.chunk > 0 && sees) {
        const std::int64_t before = (place + lane - part.mask.first_key) % part.mask.chunk;
        lowest[lane] = -static_cast<float>(smaller(part.mask.ahead, part.mask.chunk - 1 - before));
        highest[lane] = static_cast<float>(smaller(part.mask.behind, before));
      }
      keeps[lane] = lane < rows && part.mask.only_itself(row + lane) ? 1.0f : 0.0f;
    }
    for (int m = 0; m < 2; ++m)
      if (packed[m])
        pack_lanes(part.maps[m].query + row * part.maps[m].query_stride, part.maps[m].query_stride, rows, part.head_dim,
                   factor, packed[m]);
  }

  // Whether every lane sees every one of `count` keys from j on.
  HWY_INLINE bool all_visible(std::int64_t j, std::int64_t count) const {
    if (!plain || j < all_begin || j + count > all_end) return false;
    if (part.mask.flags)
      for (std::int64_t k = j; k < j + count; ++k)
        if (part.mask.hides(k)) return false;
    return true;
  }

  // Lanes that see key j.
  HWY_INLINE hn::Mask<Tag> visible(std::int64_t j, int vector) const {
    const Tag d;
    const auto gap = static_cast<float>(row + part.mask.first_query - j);
    const Vector distance = hn::Add(hn::Load(d, position + vector * kLanes), hn::Set(d, gap));
    if (j < part.mask.first_key || j >= key_end || part.mask.hides(j)) {
      const Vector keep = hn::Load(d, keeps + vector * kLanes);
      return hn::And(hn::Eq(distance, hn::Zero(d)), hn::Gt(keep, hn::Zero(d)));
    }
    if (HWY_UNLIKELY(j < part.mask.always_end)) {
      // A lane without a row, or whose row sees nothing, is far before every key.
      const Vector least = part.mask.causal ? hn::Zero(d) : hn::Set(d, kFarAway / 2);
      return hn::Ge(distance, least);
    }
    return hn::And(hn::Ge(distance, hn::Load(d, lowest + vector * kLanes)),
                   hn::Le(distance, hn::Load(d, highest + vector * kLanes)));
  }

  // z[k][lane] of keys [j, j + count), and masked rows up to a multiple of kPad; j is a multiple of 8, count ≤ kBlock.
  HWY_NOINLINE void score(int m, std::int64_t j, std::int64_t count, float* HWY_RESTRICT z) {
    const std::int64_t padded = round_up(count, kPad);
    const MapInput<Input>& map = part.maps[m];
    if constexpr (sizeof(Input) == sizeof(float)) {
      // Keys past the end of the tensor are not there to be read.
      const std::int64_t direct = smaller(padded, (part.mask.keys - j) / kTileRows * kTileRows);
      for (std::int64_t k = 0; k < direct; k += kTileRows) {
        const float* keys = map.key + (j + k) * map.key_stride;
        float* tile = z + k * kWidth;
        const std::int64_t next = j + k + kBlock;
        const bool fetches_keys = in_group == 0;
        if (in_group < 2 && next + kTileRows <= part.mask.keys)
          multiply_tile<kTileRows>(
              packed[m], keys, map.key_stride, 1, part.head_dim, false, tile,
              fetches_keys
                  ? FetchAhead{map.key + next * map.key_stride, map.key_stride, part.head_dim, part.head_dim}
                  : FetchAhead{map.value + next * map.value_stride, map.value_stride, part.value_dim, part.head_dim});
        else
          multiply_rows(packed[m], keys, map.key_stride, 1, part.head_dim, kTileRows, false, tile);
      }
      if (direct < padded) {
        copy_rows(map.key + (j + direct) * map.key_stride, map.key_stride, larger(0, count - direct), padded - direct,
                  part.head_dim, rows_copy);
        multiply_rows(packed[m], rows_copy, part.head_dim, 1, part.head_dim, padded - direct, false,
                      z + direct * kWidth);
      }
    } else {
      copy_rows(map.key + j * map.key_stride, map.key_stride, count, padded, part.head_dim, rows_copy);
      multiply_rows(packed[m], rows_copy, part.head_dim, 1, part.head_dim, padded, false, z);
    }
    if (HWY_UNLIKELY(part.bias != nullptr)) add_bias(j, padded, z);
    for (std::int64_t k = 0; k < padded; k += kTileRows)
      if (!all_visible(j + k, kTileRows)) mask(j + k, z + k * kWidth);
    if (part.softcap > 0.0) cap(m, padded, z);
  }

  // Adds p · v of `count` keys from j on to out, [value_dim][kWidth].
  HWY_NOINLINE void add_values(int m, std::int64_t j, std::int64_t count, const float* HWY_RESTRICT p,
                               float* HWY_RESTRICT out) {
    const MapInput<Input>& map = part.maps[m];
    if (HWY_UNLIKELY(part.odd_values[m] != nullptr)) {
      copy_rows(map.value + j * map.value_stride, map.value_stride, count, count, part.value_dim, rows_copy);
      for (std::int64_t k = 0; k < count; ++k)
        if (part.odd_values[m][j + k]) take_odd_value(j + k, rows_copy + k * part.value_dim, out);
      multiply_rows(p, rows_copy, 1, part.value_dim, count, part.value_dim, true, out);
      return;
    }
    if constexpr (sizeof(Input) == sizeof(float)) {
      multiply_rows(p, map.value + j * map.value_stride, 1, map.value_stride, count, part.value_dim, true, out);
    } else {
      copy_rows(map.value + j * map.value_stride, map.value_stride, count, count, part.value_dim, rows_copy);
      multiply_rows(p, rows_copy, 1, part.value_dim, count, part.value_dim, true, out);
    }
  }

  // Σ … r_j² of lanes that see an odd value, per lane.
  HWY_INLINE void mark_odd_energy(int m, std::int64_t j, std::int64_t count, double* HWY_RESTRICT energy) const {
    if (HWY_LIKELY(part.odd_values[m] == nullptr)) return;
    for (std::int64_t k = j; k < j + count; ++k)
      if (part.odd_values[m][k]) mark_lanes(k, energy);
  }

  // NaN to the lanes that see key j.
  HWY_NOINLINE void mark_lanes(std::int64_t j, double* HWY_RESTRICT sums) const {
    const Tag d;
    for (int v = 0; v < kVectors; ++v) {
      HWY_ALIGN float seen[kLanes];
      hn::Store(hn::IfThenElseZero(visible(j, v), hn::Set(d, 1.0f)), d, seen);
      for (int lane = 0; lane < kLanes; ++lane)
        if (seen[lane] != 0.0f) sums[v * kLanes + lane] = __builtin_nan("");
    }
  }

 private:
  // Lanes are rows one after the other, and so are the distances of a key from them.
  HWY_NOINLINE void add_bias(std::int64_t j, std::int64_t count, float* HWY_RESTRICT z) const {
    const Tag d;
    const float* first = part.bias + (row + part.mask.first_query - j - part.bias_lowest);
    for (std::int64_t k = 0; k < count; ++k)
      for (int v = 0; v < kVectors; ++v) {
        float* at = z + k * kWidth + v * kLanes;
        hn::Store(hn::Add(hn::Load(d, at), hn::LoadU(d, first - k + v * kLanes)), d, at);
      }
  }

  HWY_NOINLINE void mask(std::int64_t j, float* HWY_RESTRICT z) const {
    const Tag d;
    for (int k = 0; k < kTileRows; ++k)
      for (int v = 0; v < kVectors; ++v) {
        float* at = z + k * kWidth + v * kLanes;
        hn::Store(hn::IfThenElse(visible(j + k, v), hn::Load(d, at), hn::Set(d, kMasked)), d, at);
      }
  }

  // NaN where a lane sees the key and a channel is not finite; there the value becomes 0, so that it reaches no other
  // lane.
  HWY_NOINLINE void take_odd_value(std::int64_t j, float* HWY_RESTRICT value, float* HWY_RESTRICT out) const {
    const Tag d;
    for (std::int64_t c = 0; c < part.value_dim; ++c) {
      if (value[c] - value[c] == 0.0f) continue;
      value[c] = 0.0f;
      for (int v = 0; v < kVectors; ++v) {
        float* to = out + c * kWidth + v * kLanes;
        hn::Store(hn::IfThenElse(visible(j, v), hn::Set(d, __builtin_nanf("")), hn::Load(d, to)), d, to);
      }
    }
  }

  // z ← cap · tanh(z / cap), divided by the temperature and in log2; what it was before goes into raw_max.
  HWY_NOINLINE void cap(int m, std::int64_t padded, float* HWY_RESTRICT z) {
    const Tag d;
    const Vector masked = hn::Set(d, kMasked), inverse = hn::Set(d, static_cast<float>(1.0 / part.softcap));
    Vector largest = hn::Set(d, raw_max[m]);
    for (std::int64_t at = 0; at < padded * kWidth; at += kLanes) {
      const Vector raw = hn::Load(d, z + at);
      largest = hn::Max(largest, raw);
      const Vector capped = hn::Mul(hn::Set(d, cap_factor), hn::Tanh(d, hn::Mul(raw, inverse)));
      hn::Store(hn::IfThenElse(hn::Eq(raw, masked), masked, capped), d, z + at);
    }
    raw_max[m] = hn::GetLane(hn::MaxOfLanes(d, largest));
  }
};

}  // namespace headroom::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
