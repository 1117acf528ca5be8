// What a pair of maps yields per row beyond its two maps, with the rows' known totals: Σ|w|, Σw², ⟨a¹, a²⟩ and, where
// both maps share their values, Σ w² r². A block owns 64 queries and walks over the keys.
#pragma once

#include <cstdint>

#include "kernels/cuda/second_pass.cuh"

namespace headroom::kernels::cuda {

// Shared memory in bytes: `own` tiles of queries, `streamed` of keys.
template <class Input>
constexpr HEADROOM_BOTH int net_rows_bytes(int slab, int own, int streamed) {
  return (own + streamed) * tile_elements<Input>(slab) * 2;
}

template <class Input, class Device>
HEADROOM_DEVICE void net_rows(Device& device, const Arguments<Input>& arguments) {
  const HeadParameters<Input>& head = arguments.heads[device.block_y()];
  const Mask mask = head.mask;
  const int tile = (mask.length + kTile - 1) / kTile - 1 - device.block_x();  // the longest rows start first
  if (head.net_rows == nullptr || tile < 0) return;

  Half* query_tiles[2];
  query_tiles[0] = device.template shared<Half>();
  query_tiles[1] = query_tiles[0] + (arguments.resident ? tile_elements<Input>(arguments.slab) : 0);
  Half* key_tiles = query_tiles[1] + tile_elements<Input>(arguments.slab);
  const int query = tile * kTile;
  const int row = query + device.warp() * 16 + device.lane() / 4, column = device.lane() % 4 * 2;
  const bool same_values = head.maps[0].value.data == head.maps[1].value.data;

  float maxima[2][2] = {}, totals[2][2] = {}, lambda[2] = {};
  HEADROOM_UNROLL
  for (int r = 0; r < 2; ++r) {
    const int i = row + 8 * r;
    if (i >= mask.length) continue;
    lambda[r] = head.lambda[i];
    HEADROOM_UNROLL
    for (int m = 0; m < 2; ++m) {
      maxima[m][r] = row_reference(device, head.maps[m], mask.length, i);
      totals[m][r] = head.maps[m].rows[kLogTotal * static_cast<std::int64_t>(mask.length) + i];
    }
  }
  HEADROOM_UNROLL
  for (int m = 0; m < 2; ++m) load_resident(device, arguments, head, head.maps[m].query, query, query_tiles[m]);

  float sums[kNetRowArrays][2] = {};
  const TileRange keys = key_range(mask, query);
  // Maps of one group share their keys.
  const bool same_keys = head.maps[0].key.data == head.maps[1].key.data;
  const int turns = same_keys ? 1 : 2;
  Stream<Input> stream(key_tiles, arguments.slab);
  const auto load = [&](int n, Half* to) {
    const int key = keys.begin + n / turns * kTile;
    if (key < keys.end) load_whole(device, arguments, head, head.maps[n % turns].key, key, to);
  };
  HEADROOM_ROLLED
  for (int key = keys.begin; key < keys.end; key += kTile) {
    const std::uint32_t seen = all_visible(mask, query, key) ? ~0u : visible_bits<true>(mask, row, key + column);
    float score[2][kColumns][4];
    const Half* there = nullptr;
    HEADROOM_UNROLL
    for (int m = 0; m < 2; ++m) {
      if (arguments.resident) {
        if (m < turns) there = stream.next(device, load);
        multiply_tiles(device, arguments, head, query_tiles[m], there, score[m]);
      } else {
        products(device, arguments, head, head.maps[m].query, query, query_tiles[m], head.maps[m].key, key, key_tiles,
                 score[m]);
      }
      add_bias<true>(head, row, key + column, score[m]);
      to_logits(device, head.scaling, score[m]);
    }
    const float* value_square = head.maps[0].value_square + key + column;
    float part[kNetRowArrays][2] = {};
    HEADROOM_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      HEADROOM_UNROLL
      for (int e = 0; e < 4; ++e) {
        if (!bit(seen, n * 4 + e)) continue;
        const int r = e / 2;
        const float a1 = device.exp2((score[0][n][e] - maxima[0][r]) - totals[0][r]);
        const float a2 = device.exp2((score[1][n][e] - maxima[1][r]) - totals[1][r]);
        const float net = a1 - lambda[r] * a2, square = net * net;
        part[kNetL1][r] += device.abs(net);
        part[kNetSquares][r] += square;
        part[kNetCross][r] += a1 * a2;
        if (same_values) part[kNetEnergy][r] += square * value_square[n * 8 + e % 2];
      }
    }
    HEADROOM_UNROLL
    for (int kind = 0; kind < kNetRowArrays; ++kind) {
      HEADROOM_UNROLL
      for (int r = 0; r < 2; ++r) sums[kind][r] += part[kind][r];
    }
  }
  HEADROOM_UNROLL
  for (int kind = 0; kind < kNetRowArrays; ++kind) {
    HEADROOM_UNROLL
    for (int r = 0; r < 2; ++r) {
      const float whole = row_sum(device, sums[kind][r]);
      if (device.lane() % 4 == 0 && row + 8 * r < mask.length)
        head.net_rows[kind * static_cast<std::int64_t>(mask.length) + row + 8 * r] = whole;
    }
  }
}

}  // namespace headroom::kernels::cuda
