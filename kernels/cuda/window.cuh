// A rectangle of a map, exact or pooled. A block owns a group of whole cells, as many in both directions as fit a tile
// of scores (one, where a cell is larger), and walks over their tiles in one fixed order.
#pragma once

#include <cstdint>

#include "kernels/cuda/second_pass.cuh"
#include "kernels/window.h"

namespace headroom::kernels::cuda {

// Sums over the visible entries of a cell; the last is the entry of largest magnitude with its sign.
enum CellSum { kCellCount, kCellSum, kCellPositive, kCellNegative, kCellMax };
inline constexpr int kCellSums = kCellMax + 1;

// Out: mean, the entry of largest magnitude, positive, negative.
inline constexpr int kCellArrays = 4;

template <class Input>
struct WindowArguments {
  Arguments<Input> scores;  // of one head
  WindowMap map = WindowMap::Net;
  int first_row = 0, rows = 0;                                 // of the request
  int row_begin = 0, row_end = 0, key_begin = 0, key_end = 0;  // of this launch
  int reduction = 1;
  int group = 0;  // cells of a block in each direction
  int cell_columns = 0;
  std::int64_t cells = 0;                    // in all
  const float* lse[2] = {nullptr, nullptr};  // of the request's rows, in base 2: high parts, then low parts
  float* out = nullptr;                      // [kCellArrays][cells], of this launch's first row
};

HEADROOM_BOTH int cells_in_tile(int reduction) { return reduction >= kTile ? 1 : kTile / reduction; }

inline constexpr int kWindowStride = kTile + 1;

// Shared memory in bytes: `own` tiles of queries, one of keys; for pooled cells the entries, their sums per row, the
// sums of the cells.
template <class Input>
constexpr HEADROOM_BOTH int window_bytes(int slab, int own, int group, bool pooled) {
  return (own + 1) * tile_elements<Input>(slab) * 2 +
         (pooled ? kTile * kWindowStride + kCellSums * kTile * group + kCellSums * group * group : 0) * 4;
}

struct WindowRows {
  float high[2][2] = {}, low[2][2] = {}, lambda[2] = {};  // [map][row of the thread], [row]
};

template <class Input, class Device>
HEADROOM_DEVICE WindowRows window_rows(Device&, const WindowArguments<Input>& arguments,
                                       const HeadParameters<Input>& head, int row) {
  WindowRows result;
  HEADROOM_UNROLL
  for (int r = 0; r < 2; ++r) {
    const int i = row + 8 * r;
    if (i >= arguments.row_end) continue;
    if (head.lambda != nullptr) result.lambda[r] = head.lambda[i];
    HEADROOM_UNROLL
    for (int m = 0; m < 2; ++m) {
      if (arguments.lse[m] == nullptr) continue;
      result.high[m][r] = arguments.lse[m][i - arguments.first_row];
      result.low[m][r] = arguments.lse[m][arguments.rows + i - arguments.first_row];
    }
  }
  return result;
}

// What the request shows of the entries of a tile; `score` and `other` hold both maps' base-2 logits where they are
// read.
template <class Device>
HEADROOM_DEVICE void to_entries(Device& device, WindowMap map, bool first, bool second, const WindowRows& rows,
                                const float (&other)[kColumns][4], float (&score)[kColumns][4]) {
  constexpr float kLn2 = 0.693147180559945309f;
  HEADROOM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    HEADROOM_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int r = e / 2;
      const float z1 = score[n][e], z2 = other[n][e];
      if (map == WindowMap::FirstLogits || map == WindowMap::SecondLogits) {
        score[n][e] = kLn2 * (first ? z1 : z2);
        continue;
      }
      const float a1 = first ? device.exp2((z1 - rows.high[0][r]) - rows.low[0][r]) : 0.0f;
      const float a2 = second ? device.exp2((z2 - rows.high[1][r]) - rows.low[1][r]) : 0.0f;
      score[n][e] = map == WindowMap::Net            ? a1 - rows.lambda[r] * a2
                    : map == WindowMap::First        ? a1
                    : map == WindowMap::ScaledSecond ? rows.lambda[r] * a2
                                                     : a2;
    }
  }
}

// Of two entries the one of larger magnitude, the positive one among equals.
template <class Device>
HEADROOM_DEVICE float larger_entry(Device& device, float a, float b) {
  const float x = device.abs(a), y = device.abs(b);
  return y > x || (y == x && b > a) ? b : a;
}

template <class Input, class Device>
HEADROOM_DEVICE void write_cell(Device& device, const WindowArguments<Input>& arguments, int cell_row, int cell_column,
                                float count, float sum, float positive, float negative, float largest) {
  const std::int64_t cell = static_cast<std::int64_t>(cell_row) * arguments.cell_columns + cell_column;
  const float nothing = device.infinity() - device.infinity();
  const bool finite = is_finite(sum);  // comparisons drop a NaN that the sum keeps
  const float values[kCellArrays] = {sum / count, finite ? largest : sum, finite ? positive / count : nothing,
                                     finite ? negative / count : nothing};
  HEADROOM_UNROLL
  for (int kind = 0; kind < kCellArrays; ++kind)
    arguments.out[kind * arguments.cells + cell] = count > 0.0f ? values[kind] : nothing;
}

// A cell is an entry.
template <class Input, class Device>
HEADROOM_DEVICE void write_entries(Device& device, const WindowArguments<Input>& arguments, const Mask& mask, int row,
                                   int key, const float (&entry)[kColumns][4]) {
  HEADROOM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    HEADROOM_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int i = row + e / 2 * 8, j = key + n * 8 + e % 2;
      if (i >= arguments.row_end || j >= arguments.key_end) continue;
      const float x = entry[n][e];
      write_cell(device, arguments, i - arguments.row_begin, j - arguments.key_begin, visible(mask, i, j) ? 1.0f : 0.0f,
                 x, device.max(x, 0.0f), device.max(-x, 0.0f), x);
    }
  }
}

// Adds the entries of the tile at (row, key) to the group's cells, whose first entry is (row0, key0): first the keys of
// each row and cell, then the rows of each cell. Whole block.
template <class Input, class Device>
HEADROOM_DEVICE void add_entries(Device& device, const WindowArguments<Input>& arguments, const Mask& mask, int row0,
                                 int key0, int row, int key, const float* entries, float* row_sums, float* cells) {
  const int group = arguments.group, reduction = arguments.reduction;
  device.sync();
  HEADROOM_ROLLED
  for (int item = device.thread(); item < kTile * group; item += kThreads) {
    const int r = item / group, column = item % group;
    const int begin = larger(key0 + column * reduction, key);
    const int end = smaller(smaller(key0 + (column + 1) * reduction, key + kTile), arguments.key_end);
    float sums[kCellSums] = {};
    for (int j = begin; j < end; ++j) {
      if (row + r >= arguments.row_end || !visible(mask, row + r, j)) continue;
      const float x = entries[r * kWindowStride + j - key];
      sums[kCellCount] += 1.0f;
      sums[kCellSum] += x;
      sums[kCellPositive] += device.max(x, 0.0f);
      sums[kCellNegative] += device.max(-x, 0.0f);
      sums[kCellMax] = larger_entry(device, sums[kCellMax], x);
    }
    HEADROOM_UNROLL
    for (int kind = 0; kind < kCellSums; ++kind) row_sums[kind * kTile * group + item] = sums[kind];
  }
  device.sync();
  HEADROOM_ROLLED
  for (int item = device.thread(); item < kCellSums * group * group; item += kThreads) {
    const int kind = item / (group * group), cell = item % (group * group), column = cell % group;
    const int begin = larger(row0 + cell / group * reduction - row, 0);
    const int end = smaller(row0 + (cell / group + 1) * reduction - row, kTile);
    float value = cells[item];
    float part = 0.0f;
    for (int r = begin; r < end; ++r) {
      const float one = row_sums[kind * kTile * group + r * group + column];
      part = kind == kCellMax ? larger_entry(device, part, one) : part + one;
    }
    cells[item] = kind == kCellMax ? larger_entry(device, value, part) : value + part;
  }
}

template <class Input, class Device>
HEADROOM_DEVICE void window(Device& device, const WindowArguments<Input>& arguments) {
  const HeadParameters<Input>& head = arguments.scores.heads[0];
  const Mask mask = head.mask;
  const int group = arguments.group, reduction = arguments.reduction;
  const int cell_row = device.block_y() * group, cell_column = device.block_x() * group;
  const int row0 = arguments.row_begin + cell_row * reduction, key0 = arguments.key_begin + cell_column * reduction;
  const int row_end = smaller(row0 + group * reduction, arguments.row_end);
  const int key_end = smaller(key0 + group * reduction, arguments.key_end);
  const bool first = arguments.lse[0] != nullptr, second = arguments.lse[1] != nullptr;

  Half* query_tiles[2];
  query_tiles[0] = device.template shared<Half>();
  query_tiles[1] =
      query_tiles[0] + (arguments.scores.resident && first && second ? tile_elements<Input>(arguments.scores.slab) : 0);
  Half* key_tile = query_tiles[1] + tile_elements<Input>(arguments.scores.slab);
  float* entries = reinterpret_cast<float*>(key_tile + tile_elements<Input>(arguments.scores.slab));
  float* row_sums = entries + kTile * kWindowStride;
  float* cells = row_sums + kCellSums * kTile * group;
  if (reduction > 1) {
    HEADROOM_ROLLED
    for (int item = device.thread(); item < kCellSums * group * group; item += kThreads) cells[item] = 0.0f;
  }

  const int local_row = device.warp() * 16 + device.lane() / 4, local_key = device.lane() % 4 * 2;
  HEADROOM_ROLLED
  for (int row = row0; row < row_end; row += kTile) {
    device.sync();  // until nobody reads the last queries
    HEADROOM_UNROLL
    for (int m = 0; m < 2; ++m)
      if (arguments.lse[m] != nullptr)
        load_resident(device, arguments.scores, head, head.maps[m].query, row, query_tiles[m]);
    const WindowRows rows = window_rows(device, arguments, head, row + local_row);
    HEADROOM_ROLLED
    for (int key = key0; key < key_end; key += kTile) {
      float score[kColumns][4] = {}, other[kColumns][4] = {};
      if (first) {
        products(device, arguments.scores, head, head.maps[0].query, row, query_tiles[0], head.maps[0].key, key,
                 key_tile, score);
        add_bias<true>(head, row + local_row, key + local_key, score);
        to_logits(device, head.scaling, score);
      }
      if (second) {
        products(device, arguments.scores, head, head.maps[1].query, row, query_tiles[1], head.maps[1].key, key,
                 key_tile, other);
        add_bias<true>(head, row + local_row, key + local_key, other);
        to_logits(device, head.scaling, other);
      }
      to_entries(device, arguments.map, first, second, rows, other, score);
      if (reduction == 1) {
        write_entries(device, arguments, mask, row + local_row, key + local_key, score);
        continue;
      }
      HEADROOM_UNROLL
      for (int n = 0; n < kColumns; ++n) {
        HEADROOM_UNROLL
        for (int e = 0; e < 4; ++e)
          entries[(local_row + e / 2 * 8) * kWindowStride + local_key + n * 8 + e % 2] = score[n][e];
      }
      add_entries(device, arguments, mask, row0, key0, row, key, entries, row_sums, cells);
    }
  }
  if (reduction == 1) return;
  device.sync();
  HEADROOM_ROLLED
  for (int cell = device.thread(); cell < group * group; cell += kThreads) {
    const int r = cell_row + cell / group, c = cell_column + cell % group;
    if (arguments.row_begin + r * reduction >= arguments.row_end || c >= arguments.cell_columns) continue;
    const auto sum = [&](CellSum kind) { return cells[kind * group * group + cell]; };
    write_cell(device, arguments, r, c, sum(kCellCount), sum(kCellSum), sum(kCellPositive), sum(kCellNegative),
               sum(kCellMax));
  }
}

}  // namespace headroom::kernels::cuda
