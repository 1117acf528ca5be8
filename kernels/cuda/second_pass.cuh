// The second pass: scores recomputed with the rows' known totals, so that every statistic is a plain sum. The roles are
// exchanged: a block owns 64 keys, one warp 16 of them, and walks over the queries that see them, so that column sums,
// pooled sums and maxima stay in registers and are added up in one fixed order. Counts go through integer atomics.
#pragma once

#include <cstdint>

#include "kernels/cuda/first_pass.cuh"

namespace headroom::kernels::cuda {

// What is needed of each query of a tile, in shared memory: [kQueryValues][kTile].
enum QueryValue { kQueryMax1, kQueryTotal1, kQueryMax2, kQueryTotal2, kQueryLambda };
inline constexpr int kQueryValues = kQueryLambda + 1;

// Shared memory of the second pass in bytes: `own` tiles of keys, `streamed` of queries, the values of two tiles of
// queries, pooling, histograms.
template <class Input>
constexpr HEADROOM_BOTH int second_pass_bytes(int slab, int own, int streamed, int bins) {
  return (own + streamed) * tile_elements<Input>(slab) * 2 + (2 * kQueryValues + kPooledKinds) * kTile * 4 +
         2 * bins * 4;
}

template <class Input>
HEADROOM_DEVICE int histogram_bins(const HeadParameters<Input>& head) {
  return head.logit_bins.bins + head.weight_bins.bins;
}

// A thread's part of the values of a tile's queries, on its way from global to shared memory: of the map thread / kTile
// those of the query thread % kTile, and λ.
struct QueryValuesInFlight {
  float reference = 0.0f, total = 0.0f, lambda = 0.0f;

  template <class Input, class Device>
  HEADROOM_DEVICE void read(Device& device, const HeadParameters<Input>& head, int query) {
    static_assert(kThreads == 2 * kTile);
    const int i = query + device.thread() % kTile;
    const MapParameters<Input>& map = head.maps[device.thread() / kTile];
    const bool inside = i < head.mask.length, present = inside && map.rows != nullptr;
    reference = present ? row_reference(device, map, head.mask.length, i) : 0.0f;
    total = present ? map.rows[kLogTotal * static_cast<std::int64_t>(head.mask.length) + i] : 0.0f;
    lambda = inside && head.lambda != nullptr ? head.lambda[i] : 0.0f;
  }
  template <class Device>
  HEADROOM_DEVICE void write(Device& device, float* values) const {
    float* to = values + 2 * (device.thread() / kTile) * kTile + device.thread() % kTile;
    to[0] = reference;
    to[kTile] = total;
    if (device.thread() < kTile) values[kQueryLambda * kTile + device.thread()] = lambda;
  }
};

template <class Device>
HEADROOM_DEVICE int bin_of(Device& device, const Bins& bins, float value) {
  const float last = static_cast<float>(bins.bins - 1);
  return static_cast<int>(device.min(device.max(bins.scale * value + bins.offset, 0.0f), last));
}

// Logits become weights, in place, and are counted. `first`: the thread's column 0 in the tile of queries. kAll: every
// entry of the tile is visible, and nothing is counted.
template <bool kAll, class Input, class Device>
HEADROOM_DEVICE void to_weights(Device& device, const HeadParameters<Input>& head, const MapParameters<Input>& map,
                                const float* maxima, const float* totals, std::uint32_t seen, int query, int first,
                                int* counts, float (&score)[kColumns][4]) {
  const Bins logit_bins = head.logit_bins, weight_bins = head.weight_bins;
  HEADROOM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    HEADROOM_UNROLL
    for (int q = 0; q < 2; ++q) {
      const int at = first + n * 8 + q;
      int ones = 0;
      HEADROOM_UNROLL
      for (int e = q; e < 4; e += 2) {
        const float z = score[n][e], below = z - maxima[at], exponent = below - totals[at];
        if constexpr (kAll) {
          score[n][e] = device.exp2(exponent);
          continue;
        }
        score[n][e] = 0.0f;
        if (!bit(seen, n * 4 + e)) continue;
        score[n][e] = device.exp2(exponent);
        if (exponent != exponent) continue;  // an undefined row is counted nowhere
        ones += below >= head.rounds_threshold ? 1 : 0;
        if (logit_bins.bins > 0) device.count_shared(counts + bin_of(device, logit_bins, z));
        if (weight_bins.bins > 0) device.count_shared(counts + logit_bins.bins + bin_of(device, weight_bins, exponent));
      }
      if (!kAll && map.rounds_to_one != nullptr && ones > 0) device.add(map.rounds_to_one + query + at, ones);
    }
  }
}

// The products of one map become its weights, keys in rows and queries in columns.
template <class Input, class Device>
HEADROOM_DEVICE void weigh_queries(Device& device, const HeadParameters<Input>& head, int map, int own, int query,
                                   const float* values, int* counts, bool all, std::uint32_t seen, int first,
                                   float (&score)[kColumns][4]) {
  const MapParameters<Input>& given = head.maps[map];
  add_bias<false>(head, own + device.warp() * 16 + device.lane() / 4, query + first, score);
  to_logits(device, head.scaling, score);
  const float *maxima = values + 2 * map * kTile, *totals = values + (2 * map + 1) * kTile;
  const bool counted = given.rounds_to_one != nullptr || histogram_bins(head) > 0;
  if (all && !counted)
    to_weights<true>(device, head, given, maxima, totals, seen, query, first, counts, score);
  else
    to_weights<false>(device, head, given, maxima, totals, seen, query, first, counts, score);
}

// Sums and maxima of a thread's two keys over some queries.
template <bool kNet>
struct KeySums {
  static constexpr int kKinds = kNet ? kPooledKinds : kPooledKindsOfOneMap;
  float values[kKinds][2];

  static constexpr HEADROOM_BOTH bool is_max(int kind) {
    return kind == kPoolMax1 || kind == kPoolMax2 || kind == kPoolHighest || kind == kPoolLowest;
  }
  HEADROOM_DEVICE void clear() {
    HEADROOM_UNROLL
    for (int kind = 0; kind < kKinds; ++kind) values[kind][0] = values[kind][1] = 0.0f;
  }
};

// The weights of queries [low, high) of the tile, 0 … kTile; kWhole: all of it. A λ of NaN reaches what its row sees.
template <bool kNet, bool kWhole, class Device>
HEADROOM_DEVICE void sum_queries(Device& device, const float (&a1)[kColumns][4],
                                 const float (&a2)[kNet ? kColumns : 1][4], const float* lambda, std::uint32_t seen,
                                 int first, int low, int high, KeySums<kNet>& sums) {
  sums.clear();
  HEADROOM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    HEADROOM_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int at = first + n * 8 + e % 2, key = e / 2;
      if (!kWhole && (at < low || at >= high)) continue;
      const float first_weight = a1[n][e];
      sums.values[kPoolSum1][key] += first_weight;
      sums.values[kPoolMax1][key] = device.max_or_nan(sums.values[kPoolMax1][key], first_weight);
      if constexpr (kNet) {
        const float second_weight = a2[n][e];
        const float net = bit(seen, n * 4 + e) ? first_weight - lambda[at] * second_weight : 0.0f;
        sums.values[kPoolSum2][key] += second_weight;
        sums.values[kPoolMax2][key] = device.max_or_nan(sums.values[kPoolMax2][key], second_weight);
        sums.values[kPoolPositive][key] += device.max_or_nan(net, 0.0f);
        sums.values[kPoolNegative][key] += device.max_or_nan(-net, 0.0f);
        sums.values[kPoolHighest][key] = device.max_or_nan(sums.values[kPoolHighest][key], net);
        sums.values[kPoolLowest][key] = device.max_or_nan(sums.values[kPoolLowest][key], -net);
      }
    }
  }
}

// One row of pooled cells is complete for this tile of keys: adds up the keys of each pooled column. Whole block.
template <bool kNet, class Input, class Device>
HEADROOM_DEVICE void write_pool_row(Device& device, const HeadParameters<Input>& head, int tile, int block,
                                    float* stage, KeySums<kNet>& sums) {
  constexpr int kKinds = KeySums<kNet>::kKinds;
  const int key = device.warp() * 16 + device.lane() / 4;
  HEADROOM_UNROLL
  for (int kind = 0; kind < kKinds; ++kind) {
    HEADROOM_UNROLL
    for (int k = 0; k < 2; ++k) {
      const float value = sums.values[kind][k];
      const float whole = KeySums<kNet>::is_max(kind) ? row_max(device, value) : row_sum(device, value);
      if (device.lane() % 4 == 0) stage[kind * kTile + key + 8 * k] = whole;
    }
  }
  sums.clear();
  device.sync();
  const int tiles = (head.mask.length + kTile - 1) / kTile, first_column = tile * kTile / head.pool_size;
  HEADROOM_ROLLED
  for (int item = device.thread(); item < kKinds * head.pool_columns; item += kThreads) {
    const int kind = item / head.pool_columns, part = item % head.pool_columns;
    const int begin = larger((first_column + part) * head.pool_size - tile * kTile, 0);
    const int end = smaller((first_column + part + 1) * head.pool_size - tile * kTile, kTile);
    float value = 0.0f;
    for (int k = begin; k < end; ++k) {
      const float one = stage[kind * kTile + k];
      value = KeySums<kNet>::is_max(kind) ? device.max_or_nan(value, one) : value + one;
    }
    head.pool_parts[((static_cast<std::int64_t>(kind) * tiles + tile) * head.pool_columns + part) * head.pool_blocks +
                    block] = value;
  }
  device.sync();
}

// Column sums: a¹, a² and w.
template <bool kNet>
struct ColumnSums {
  static constexpr int kKinds = kNet ? 3 : 1;
  double values[kKinds][2] = {};

  HEADROOM_DEVICE void add(const KeySums<kNet>& part) {
    HEADROOM_UNROLL
    for (int k = 0; k < 2; ++k) {
      values[0][k] += static_cast<double>(part.values[kPoolSum1][k]);
      if constexpr (kNet) {
        values[1][k] += static_cast<double>(part.values[kPoolSum2][k]);
        values[2][k] += static_cast<double>(part.values[kPoolPositive][k] - part.values[kPoolNegative][k]);
      }
    }
  }
};

template <bool kNet, class Input, class Device>
HEADROOM_DEVICE void write_columns(Device& device, const HeadParameters<Input>& head, int key, ColumnSums<kNet>& sums) {
  double* const to[3] = {head.maps[0].column_sum, head.maps[1].column_sum, head.net_column_sum};
  HEADROOM_UNROLL
  for (int kind = 0; kind < ColumnSums<kNet>::kKinds; ++kind) {
    HEADROOM_UNROLL
    for (int k = 0; k < 2; ++k) {
      double value = sums.values[kind][k];
      value += device.shuffle_xor(value, 1);
      value += device.shuffle_xor(value, 2);
      const int j = key + 8 * k;
      if (device.lane() % 4 == 0 && j < head.mask.length && to[kind] != nullptr) to[kind][j] = value;
    }
  }
}

// kNet: the head has a second map. Heads without one and heads with one are two launches.
template <class Input, bool kNet, class Device>
HEADROOM_DEVICE void second_pass(Device& device, const Arguments<Input>& arguments) {
  const HeadParameters<Input>& head = arguments.heads[device.block_y()];
  const Mask mask = head.mask;
  const int tile = device.block_x(), own = tile * kTile;
  if (!head.sweep || kNet != (head.maps[1].query.data != nullptr) || own >= mask.length) return;

  Half* key_tiles[2];
  key_tiles[0] = device.template shared<Half>();
  key_tiles[1] = key_tiles[0] + (kNet && arguments.resident ? tile_elements<Input>(arguments.slab) : 0);
  Half* query_tiles = key_tiles[1] + tile_elements<Input>(arguments.slab);
  const int streamed = arguments.resident ? kStreamed<Input> : 1;
  float* const all_values = reinterpret_cast<float*>(query_tiles + streamed * tile_elements<Input>(arguments.slab));
  float* stage = all_values + 2 * kQueryValues * kTile;
  int* counts = reinterpret_cast<int*>(stage + kPooledKinds * kTile);
  const int bins = histogram_bins(head);
  HEADROOM_ROLLED
  for (int item = device.thread(); item < 2 * bins; item += kThreads) counts[item] = 0;
  HEADROOM_UNROLL
  for (int m = 0; m < (kNet ? 2 : 1); ++m)
    if (head.maps[m].query.data != nullptr) load_resident(device, arguments, head, head.maps[m].key, own, key_tiles[m]);

  const int key = own + device.warp() * 16 + device.lane() / 4, first = device.lane() % 4 * 2;
  ColumnSums<kNet> columns;
  KeySums<kNet> pooled;
  pooled.clear();
  const TileRange queries = query_range(mask, own);
  int block = head.pool_size > 0 ? queries.begin / head.pool_size : 0;
  Stream<Input> stream(query_tiles, arguments.slab);
  // Of a pair the queries of its maps in turn.
  const auto load = [&](int n, Half* to) {
    const int query = queries.begin + n / (kNet ? 2 : 1) * kTile;
    const MapParameters<Input>& map = head.maps[kNet ? n % 2 : 0];
    if (query < queries.end && map.query.data != nullptr) load_whole(device, arguments, head, map.query, query, to);
  };
  const auto multiply = [&](int map, int query, float (&score)[kColumns][4]) {
    const MapParameters<Input>& given = head.maps[map];
    if (arguments.resident) {
      const Half* there = stream.next(device, load);
      if (given.query.data != nullptr) {
        multiply_tiles(device, arguments, head, key_tiles[map], there, score);
        return;
      }
    } else if (given.query.data != nullptr) {
      products(device, arguments, head, given.key, own, key_tiles[map], given.query, query, query_tiles, score);
      return;
    }
    clear(device, score);
  };
  QueryValuesInFlight next_values;
  next_values.read(device, head, queries.begin);
  HEADROOM_ROLLED
  for (int query = queries.begin, turn = 0; query < queries.end; query += kTile, turn ^= 1) {
    float* const values = all_values + turn * kQueryValues * kTile;  // nobody reads those of two tiles before
    next_values.write(device, values);
    next_values.read(device, head, query + kTile);
    const bool all = all_visible(mask, query, own);
    const std::uint32_t seen = all ? ~0u : visible_bits<false>(mask, key, query + first);
    float a1[kColumns][4], a2[kNet ? kColumns : 1][4];
    multiply(0, query, a1);  // with the barrier behind which the values are there
    if (head.maps[0].query.data != nullptr)
      weigh_queries(device, head, 0, own, query, values, counts, all, seen, first, a1);
    if constexpr (kNet) {
      multiply(1, query, a2);
      weigh_queries(device, head, 1, own, query, values, counts + bins, all, seen, first, a2);
    }
    const int tile_end = smaller(kTile, queries.end - query);
    for (int low = 0; low < tile_end;) {
      const int boundary = head.pool_size > 0 ? (block + 1) * head.pool_size - query : kTile + 1;
      const int high = smaller(tile_end, boundary);
      KeySums<kNet> part;
      const float* lambda = values + kQueryLambda * kTile;
      if (low == 0 && high == kTile)
        sum_queries<kNet, true>(device, a1, a2, lambda, seen, first, low, high, part);
      else
        sum_queries<kNet, false>(device, a1, a2, lambda, seen, first, low, high, part);
      columns.add(part);
      low = high;
      if (head.pool_size == 0) continue;
      HEADROOM_UNROLL
      for (int kind = 0; kind < KeySums<kNet>::kKinds; ++kind) {
        HEADROOM_UNROLL
        for (int k = 0; k < 2; ++k)
          pooled.values[kind][k] = KeySums<kNet>::is_max(kind)
                                       ? device.max_or_nan(pooled.values[kind][k], part.values[kind][k])
                                       : pooled.values[kind][k] + part.values[kind][k];
      }
      if (boundary <= tile_end) write_pool_row<kNet>(device, head, tile, block++, stage, pooled);
    }
  }
  if (head.pool_size > 0 && queries.end > queries.begin && queries.end % head.pool_size != 0)
    write_pool_row<kNet>(device, head, tile, block, stage, pooled);
  write_columns<kNet>(device, head, key, columns);
  device.sync();
  HEADROOM_ROLLED
  for (int item = device.thread(); item < 2 * bins; item += kThreads) {
    const MapParameters<Input>& map = head.maps[item / bins];
    if (map.histograms != nullptr && counts[item] != 0)
      device.add(map.histograms + item % bins, static_cast<unsigned long long>(counts[item]));
  }
}

}  // namespace headroom::kernels::cuda
