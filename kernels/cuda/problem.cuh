// What the kernels are given: plain structs in device memory, one per head, and what follows from them for a tile.
// Logits are in base 2 on the device: z₂ = z · log₂e, so that a weight is one exp2.
//
// A tile is 64 × 64 scores of a block of 4 warps; each warp has 16 of its rows and all columns, in the accumulator
// layout of mma.m16n8k16: thread (g = lane / 4, t = lane % 4) holds score[n][e] of row g + 8·(e / 2), column 8n + 2t +
// e % 2.
#pragma once

#include <cstdint>

#include "kernels/cuda/portable.cuh"

namespace headroom::kernels::cuda {

inline constexpr int kTile = 64;
inline constexpr int kWarps = 4;
inline constexpr int kThreads = 32 * kWarps;
inline constexpr int kColumns = kTile / 8;  // groups of 8 columns in a tile

// Arrays of [length] that the first pass leaves for each row of a map. Sums are relative to the row's largest logit.
enum RowArray {
  kMax,          // the largest z₂; −∞ where the row sees nothing
  kLogTotal,     // log₂ of Σ 2^(z₂ − max) with the sink's term: a = 2^((z₂ − kMax) − kLogTotal)
  kMin,          // the smallest z₂
  kSum,          // Σ 2^(z₂ − max), without the sink
  kSumLogits,    // Σ 2^(z₂ − max) · (z₂ − max)
  kSumSquares,   // Σ 4^(z₂ − max)
  kSumDistance,  // Σ 2^(z₂ − max) · (i − j)
  kValueEnergy,  // Σ 4^(z₂ − max) · r_j²
  kRawMax,       // the largest uncapped logit, where there is a cap
};
inline constexpr int kRowArrays = kRawMax + 1;

enum NamedKey { kFirstKey, kSelfKey, kPreviousKey, kInductionKey };
inline constexpr int kNamedKeyArrays = kInductionKey + 1;

enum NetRowArray { kNetL1, kNetSquares, kNetCross, kNetEnergy };
inline constexpr int kNetRowArrays = kNetEnergy + 1;

// What is pooled, lowest as the largest −w. With a single first map only the first two are; the net map is the same.
enum Pooled { kPoolSum1, kPoolMax1, kPoolSum2, kPoolMax2, kPoolPositive, kPoolNegative, kPoolHighest, kPoolLowest };
inline constexpr int kPooledKinds = kPoolLowest + 1;
inline constexpr int kPooledKindsOfOneMap = 2;

// kernels/mask.h in a device's integers: PlainMask.
struct Mask {
  int length = 0;
  int behind = 0, ahead = 0;
  int first_key = 0;
  const std::uint8_t* flags = nullptr;  // per position; null: no hidden keys
  int chunk = 0;                        // 0: none
};

struct Scaling {
  float logit = 1.0f;  // z₂ = logit · q·k, or
  bool capped = false;
  float cap_inner = 0.0f, cap_outer = 0.0f;  // z₂ = cap_outer · tanh(cap_inner · q·k)
  float raw = 1.0f;                          // the uncapped logit = raw · q·k
};

// Bin of z₂: scale · z₂ + offset, cut to [0, bins).
struct Bins {
  int bins = 0;
  float scale = 0.0f, offset = 0.0f;
};

// Rows `stride` elements apart; quads: four channels can be read at once; copies: eight can be copied as they are, into
// shared memory, behind the threads' backs.
template <class Input>
struct Operand {
  const Input* data = nullptr;
  std::int64_t stride = 0;
  bool quads = false, copies = false;
};

template <class Input>
struct MapParameters {
  Operand<Input> query, key, value;          // no query: the head has no such map
  float* rows = nullptr;                     // [kRowArrays][length]
  float* energy = nullptr;                   // [chunks of value channels][length]: Σ c²
  float* value_square = nullptr;             // [length padded to kTile]: r_j²; NaN where the value is odd
  int* odd_keys = nullptr;                   // [length]: keys whose value is odd: it holds what is not finite
  int* odd_count = nullptr;                  // how many there are
  float* named = nullptr;                    // [kNamedKeyArrays][length]
  double* column_sum = nullptr;              // [length]
  int* rounds_to_one = nullptr;              // [length]
  unsigned long long* histograms = nullptr;  // [logit bins, then weight bins]
};

template <class Input>
struct HeadParameters {
  MapParameters<Input> maps[2];
  Mask mask;
  Scaling scaling;
  const float* bias = nullptr;  // at distance i − j + mask.ahead, up to mask.behind, as part of q·k; null: none
  int head_dim = 0, value_dim = 0;
  int value_chunk = 0;  // channels of values that a block of the first pass takes
  bool has_sink = false;
  float sink = 0.0f;                   // in base 2
  const float* lambda = nullptr;       // [length] with a second map
  const int* induction_key = nullptr;  // [length] or null
  float* context = nullptr;
  std::int64_t context_stride = 0;
  bool row_statistics = false;
  bool sweep = false;             // the second pass has something to do
  float rounds_threshold = 0.0f;  // counts where z₂ − max ≥ this
  Bins logit_bins, weight_bins;
  int pool_size = 0, pool_blocks = 0;  // 0: no pooled maps
  int pool_columns = 0;                // how many pooled columns a tile of keys can touch
  float* pool_parts = nullptr;         // [kind][tile of keys][pool_columns][pool_blocks]
  float* pooled = nullptr;             // [kind][pool_blocks][pool_blocks]
  double* net_column_sum = nullptr;    // [length]
  float* net_rows = nullptr;           // [kNetRowArrays][length]
};

// Of a launch, the same for every head: blocks are (tile, head, chunk of value channels).
template <class Input>
struct Arguments {
  const HeadParameters<Input>* heads = nullptr;
  int map = 0;           // the first pass does one map at a time
  int slab = 0;          // channels of queries and keys in shared memory at a time, a multiple of 16
  bool resident = true;  // the block's own rows stay in shared memory: head_dim ≤ slab, and there is room
};

HEADROOM_DEVICE int smaller(int a, int b) { return a < b ? a : b; }
HEADROOM_DEVICE int larger(int a, int b) { return a > b ? a : b; }

// Where the chunk of a position from first_key on begins; mask.chunk > 0.
HEADROOM_DEVICE int chunk_begin(const Mask& mask, int i) { return i - (i - mask.first_key) % mask.chunk; }

HEADROOM_DEVICE bool visible(const Mask& mask, int i, int j) {
  if (i >= mask.length || j >= mask.length || i < mask.first_key || j < mask.first_key) return false;
  if (i - j > mask.behind || j - i > mask.ahead) return false;
  if (mask.chunk > 0 && chunk_begin(mask, i) != chunk_begin(mask, j)) return false;
  if (mask.flags == nullptr) return true;
  return (mask.flags[i] & kOnlyItself) != 0 ? i == j : (mask.flags[j] & kHiddenKey) == 0;
}

// Every query of [i0, i0 + kTile) sees every key of [j0, j0 + kTile).
HEADROOM_DEVICE bool all_visible(const Mask& mask, int i0, int j0) {
  const int i1 = i0 + kTile - 1, j1 = j0 + kTile - 1;  // the last ones
  if (mask.flags != nullptr || larger(i1, j1) >= mask.length || smaller(i0, j0) < mask.first_key) return false;
  if (mask.chunk > 0 && chunk_begin(mask, smaller(i0, j0)) != chunk_begin(mask, larger(i1, j1))) return false;
  return j1 - i0 <= mask.ahead && i1 - j0 <= mask.behind;
}

struct TileRange {
  int begin = 0, end = 0;  // begin is a multiple of kTile
};

// The keys that queries of [i0, i0 + kTile) can see.
HEADROOM_DEVICE TileRange key_range(const Mask& mask, int i0) {
  const int last = smaller(i0 + kTile, mask.length) - 1;
  if (last < mask.first_key) return {0, 0};
  int begin = larger(i0 - mask.behind, mask.first_key), end = smaller(last + mask.ahead + 1, mask.length);
  if (mask.chunk > 0) {
    begin = larger(begin, chunk_begin(mask, larger(i0, mask.first_key)));
    end = smaller(end, chunk_begin(mask, last) + mask.chunk);
  }
  return {begin / kTile * kTile, end};
}

// The queries that can see keys of [j0, j0 + kTile).
HEADROOM_DEVICE TileRange query_range(const Mask& mask, int j0) {
  const int last = smaller(j0 + kTile, mask.length) - 1;
  if (last < mask.first_key) return {0, 0};
  int begin = larger(j0 - mask.ahead, mask.first_key), end = smaller(last + mask.behind + 1, mask.length);
  if (mask.chunk > 0) {
    begin = larger(begin, chunk_begin(mask, larger(j0, mask.first_key)));
    end = smaller(end, chunk_begin(mask, last) + mask.chunk);
  }
  return {begin / kTile * kTile, end};
}

}  // namespace headroom::kernels::cuda
