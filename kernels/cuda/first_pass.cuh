// The first pass: attention of one map with everything that one online softmax (Milakov and Gimelshein 2018,
// arXiv 1805.02867) yields per row. A block owns 64 queries and walks over the keys; blocks of later chunks of value
// channels repeat the scores for their channels.
#pragma once

#include <cstdint>

#include "kernels/cuda/tile.cuh"

namespace headroom::kernels::cuda {

// Shared memory of the first pass, in 16-bit elements: queries, keys, values, r_j² of the keys.
template <class Input>
constexpr HEADROOM_BOTH int first_pass_elements(int slab, int values) {
  return 2 * tile_elements<Input>(slab) + tile_elements<Input>(values) + 2 * kTile;
}

// What a thread keeps of its two rows; sums over its own columns until finish_rows().
struct RowSums {
  float reference[2], minimum[2], raw[2];
  float sum[2] = {}, logits[2] = {}, squares[2] = {}, distance[2] = {}, energy[2] = {};
};

// Below this in base 2, exp2 is 0 in float32; keeps −∞ · 0 out of the sums.
inline constexpr float kNothing = -200.0f;

template <class Device>
HEADROOM_DEVICE float row_max(Device& device, float value) {
  value = device.max_or_nan(value, device.shuffle_xor(value, 1));
  return device.max_or_nan(value, device.shuffle_xor(value, 2));
}
template <class Device>
HEADROOM_DEVICE float row_sum(Device& device, float value) {
  value += device.shuffle_xor(value, 1);
  return value + device.shuffle_xor(value, 2);
}

// Moves the reference to the largest logit so far, NaN where one is; out: what sums and outputs are multiplied by.
// kAll: every entry of the tile is visible.
template <bool kAll, class Device>
HEADROOM_DEVICE void move_reference(Device& device, const float (&score)[kColumns][4], std::uint32_t seen,
                                    RowSums& rows, float (&factor)[2]) {
  HEADROOM_UNROLL
  for (int r = 0; r < 2; ++r) {
    float largest = -device.infinity();
    HEADROOM_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      HEADROOM_UNROLL
      for (int e = 2 * r; e < 2 * r + 2; ++e)
        if (kAll || bit(seen, n * 4 + e)) largest = device.max_or_nan(largest, score[n][e]);
    }
    largest = device.max_or_nan(rows.reference[r], row_max(device, largest));
    // Until a row sees its first key both are −∞; a difference of 0 would do as well, all sums are 0.
    const float move = device.max(rows.reference[r] - largest, kNothing);
    factor[r] = rows.reference[r] == largest ? 1.0f : device.exp2(move);
    if (rows.reference[r] != largest) rows.logits[r] = factor[r] * (rows.logits[r] + move * rows.sum[r]);
    rows.sum[r] *= factor[r];
    rows.squares[r] *= factor[r] * factor[r];
    rows.energy[r] *= factor[r] * factor[r];
    rows.distance[r] *= factor[r];
    rows.reference[r] = largest;
  }
}

// Logits become exponentials, in place, and are added to the rows' sums. `value_square`: of the tile's keys.
template <bool kAll, bool kStatistics, class Device>
HEADROOM_DEVICE void add_tile(Device& device, float (&score)[kColumns][4], std::uint32_t seen,
                              const float* value_square, int row, int column, RowSums& rows) {
  float sum[2] = {}, logits[2] = {}, squares[2] = {}, distance[2] = {}, energy[2] = {};
  const float start[2] = {static_cast<float>(row - column), static_cast<float>(row + 8 - column)};
  // A row of −∞ alone has the reference −∞.
  float shift[2];
  HEADROOM_UNROLL
  for (int r = 0; r < 2; ++r) shift[r] = rows.reference[r] == -device.infinity() ? 0.0f : rows.reference[r];
  value_square += device.lane() % 4 * 2;
  HEADROOM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    HEADROOM_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int r = e / 2;
      const float x = score[n][e] - shift[r];
      const bool visible = kAll || bit(seen, n * 4 + e);
      const float p = visible ? device.exp2(x) : 0.0f;
      sum[r] += p;
      if (kStatistics && visible) {
        rows.minimum[r] = -device.max_or_nan(-rows.minimum[r], -score[n][e]);
        const float square = p * p;
        squares[r] += square;
        logits[r] += p * device.max(x, kNothing);
        // Term by term: Σ p · i − Σ p · j cancels in rows that look at themselves.
        const float apart = start[r] - static_cast<float>(n * 8 + e % 2);
        distance[r] += p * device.max(apart, -apart);
        energy[r] += square * value_square[n * 8 + e % 2];
      }
      score[n][e] = p;
    }
  }
  HEADROOM_UNROLL
  for (int r = 0; r < 2; ++r) {
    rows.sum[r] += sum[r];
    if constexpr (!kStatistics) continue;
    rows.squares[r] += squares[r];
    rows.logits[r] += logits[r];
    rows.distance[r] += distance[r];
    rows.energy[r] += energy[r];
  }
}

// The largest uncapped logit; `score` holds products.
template <class Device>
HEADROOM_DEVICE void raise_raw(Device& device, const float (&score)[kColumns][4], std::uint32_t seen, float scale,
                               RowSums& rows) {
  HEADROOM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    HEADROOM_UNROLL
    for (int e = 0; e < 4; ++e)
      if (bit(seen, n * 4 + e)) rows.raw[e / 2] = device.max_or_nan(rows.raw[e / 2], scale * score[n][e]);
  }
}

// output += weights · values. The accumulators of two groups of 8 keys are the rows' fragment for 16 keys. kWhole: all
// channels of the chunk are there, and no branch stands between the products.
template <class Input, int kValues, bool kWhole, class Device>
HEADROOM_DEVICE void multiply_values(Device& device, const float (&weight)[kColumns][4], const Half* values,
                                     int channels, float (&output)[kValues / 8][4]) {
  constexpr int kTerms = Terms<Input>::kCount, kStride = plane_stride(kValues), kPlane = kTile * kStride;
  const int lane = device.lane();
  const Half* value_row = values + (lane % 8 + lane / 8 % 2 * 8) * kStride + lane / 16 * 8;
  HEADROOM_UNROLL
  for (int k = 0; k < kColumns; k += 2) {
    std::uint32_t rows[kTerms][4];
    HEADROOM_UNROLL
    for (int quarter = 0; quarter < 4; ++quarter) {
      const float* pair = weight[k + quarter / 2] + quarter % 2 * 2;
      std::uint32_t terms[kTerms];
      pack_terms<Input>(device, pair[0], pair[1], terms);
      HEADROOM_UNROLL
      for (int p = 0; p < kTerms; ++p) rows[p][quarter] = terms[p];
    }
    HEADROOM_UNROLL
    for (int n = 0; n < kValues / 8; n += 2) {
      if (!kWhole && n * 8 >= channels) continue;
      std::uint32_t columns[kTerms][4];
      HEADROOM_UNROLL
      for (int p = 0; p < kTerms; ++p)
        device.load_matrices_transposed(columns[p], value_row + p * kPlane + k * 8 * kStride + n * 8);
      multiply_terms<Input>(device, output[n], rows, columns, 0);
      multiply_terms<Input>(device, output[n + 1], rows, columns, 2);
    }
  }
}

struct Normaliser {
  float factor = 0.0f;     // output · factor is the context
  float log_total = 0.0f;  // kLogTotal
};

// `sees`: the row is no padding.
template <class Input, class Device>
HEADROOM_DEVICE Normaliser normaliser(Device& device, const HeadParameters<Input>& head, float reference, float sum,
                                      bool sees) {
  if (!sees) return {};
  const bool nothing = reference == -device.infinity() && sum == 0.0f;  // every logit is −∞
  if (nothing && head.has_sink && head.sink == head.sink) return {};
  const float nan = device.infinity() - device.infinity();
  if (nothing || (head.has_sink && head.sink != head.sink)) return {nan, nan};
  const float above = head.has_sink ? device.max(head.sink - reference, 0.0f) : 0.0f;  // of the sink over every key
  const float shrink = device.exp2(-above);
  const float total = sum * shrink + (head.has_sink ? device.exp2(device.min(head.sink - reference, 0.0f)) : 0.0f);
  return {shrink / total, above + device.log2(total)};
}

template <class Input, class Device>
HEADROOM_DEVICE void finish_rows(Device& device, const HeadParameters<Input>& head, const MapParameters<Input>& map,
                                 int row, RowSums& sums, bool write, float (&factor)[2]) {
  HEADROOM_UNROLL
  for (int r = 0; r < 2; ++r) {
    const float sum = row_sum(device, sums.sum[r]);
    const int i = row + 8 * r;
    const Normaliser normal = normaliser(device, head, sums.reference[r], sum, i >= head.mask.first_key);
    factor[r] = normal.factor;
    if (!write) continue;  // the same for the whole block
    const float minimum = -row_max(device, -sums.minimum[r]), raw = row_max(device, sums.raw[r]);
    const float logits = row_sum(device, sums.logits[r]), squares = row_sum(device, sums.squares[r]);
    const float distance = row_sum(device, sums.distance[r]), energy = row_sum(device, sums.energy[r]);
    if (device.lane() % 4 != 0 || i >= head.mask.length) continue;
    float* rows = map.rows + i;
    const std::int64_t length = head.mask.length;
    rows[kMax * length] = sums.reference[r];
    rows[kLogTotal * length] = normal.log_total;
    rows[kMin * length] = minimum;
    rows[kSum * length] = sum;
    rows[kSumLogits * length] = logits;
    rows[kSumSquares * length] = squares;
    rows[kSumDistance * length] = distance;
    rows[kValueEnergy * length] = energy;
    rows[kRawMax * length] = raw;
  }
}

// What later passes subtract from the logits of row i: its largest, but not −∞, since −∞ − −∞ is NaN.
template <class Input, class Device>
HEADROOM_DEVICE float row_reference(Device& device, const MapParameters<Input>& map, std::int64_t length, int i) {
  const float largest = map.rows[kMax * length + i];
  return largest == -device.infinity() ? 0.0f : largest;
}

// Adds this map's share to the context; the first map of a head writes it.
template <int kValues, class Input, class Device>
HEADROOM_DEVICE void finish_context(Device& device, const HeadParameters<Input>& head, int map, int row, int channel,
                                    const float (&output)[kValues / 8][4], const float (&factor)[2]) {
  const bool first = map == 0 || head.maps[0].query.data == nullptr;
  HEADROOM_UNROLL
  for (int r = 0; r < 2; ++r) {
    const int i = row + 8 * r;
    const bool inside = i < head.mask.length;
    const float coefficient = map == 0 || !inside ? 1.0f : -head.lambda[i];
    float energy = 0.0f;
    HEADROOM_UNROLL
    for (int n = 0; n < kValues / 8; ++n) {
      HEADROOM_UNROLL
      for (int e = 0; e < 2; ++e) {
        const int c = channel + n * 8 + device.lane() % 4 * 2 + e;
        if (!inside || c >= head.value_dim) continue;
        const float value = output[n][2 * r + e] * factor[r];
        energy += value * value;
        float* to = head.context + i * head.context_stride + c;
        *to = first ? coefficient * value : *to + coefficient * value;
      }
    }
    energy = row_sum(device, energy);
    if (head.row_statistics && inside && device.lane() % 4 == 0)
      head.maps[map].energy[static_cast<std::int64_t>(channel / kValues) * head.mask.length + i] = energy;
  }
}

template <class Input, int kValues, class Device>
HEADROOM_DEVICE void first_pass(Device& device, const Arguments<Input>& arguments) {
  const HeadParameters<Input>& head = arguments.heads[device.block_y()];
  const MapParameters<Input>& map = head.maps[arguments.map];
  const Mask mask = head.mask;
  const int tiles = (mask.length + kTile - 1) / kTile;
  const int tile = tiles - 1 - device.block_x();  // the longest rows start first
  const int channel = device.block_z() * kValues;
  if (map.query.data == nullptr || head.value_chunk != kValues || tile < 0 || channel >= head.value_dim) return;

  Half* query_tile = device.template shared<Half>();
  Half* key_tile = query_tile + tile_elements<Input>(arguments.slab);
  Half* value_tile = key_tile + tile_elements<Input>(arguments.slab);
  Half* squares_tile = value_tile + tile_elements<Input>(kValues);
  const int query = tile * kTile, channels = smaller(kValues, (head.value_dim - channel + 15) / 16 * 16);
  const int row = query + device.warp() * 16 + device.lane() / 4, column = device.lane() % 4 * 2;
  const bool statistics = head.row_statistics && channel == 0;

  float output[kValues / 8][4];
  HEADROOM_UNROLL
  for (int n = 0; n < kValues / 8; ++n) {
    HEADROOM_UNROLL
    for (int e = 0; e < 4; ++e) output[n][e] = 0.0f;
  }
  RowSums rows;
  HEADROOM_UNROLL
  for (int r = 0; r < 2; ++r) {
    rows.reference[r] = rows.raw[r] = -device.infinity();
    rows.minimum[r] = device.infinity();
  }
  Operand<Input> values = map.value;
  values.copies = values.copies && *map.odd_count == 0;  // none to be read as 0
  load_resident(device, arguments, head, map.query, query, query_tile);
  const TileRange keys = key_range(mask, query);
  // Values are on their way while scores are multiplied, the next keys while values are.
  if (arguments.resident && keys.begin < keys.end) load_whole(device, arguments, head, map.key, keys.begin, key_tile);
  HEADROOM_ROLLED
  for (int key = keys.begin; key < keys.end; key += kTile) {
    device.wait_copies();
    device.sync();  // until the keys are there and nobody reads the last values
    load_tile<NotFinite::Zeroed>(device, value_tile, plane_stride(kValues), values, key, mask.length, channel,
                                 head.value_dim, channels);
    if (statistics && device.thread() < kTile / 4)
      device.copy_async(squares_tile + device.thread() * 8, map.value_square + key + device.thread() * 4, 16);
    float score[kColumns][4];
    if (arguments.resident)
      multiply_tiles(device, arguments, head, query_tile, key_tile, score);
    else
      products(device, arguments, head, map.query, query, query_tile, map.key, key, key_tile, score);
    device.wait_copies();
    device.sync();  // until the values are there and nobody reads the keys
    if (arguments.resident && key + kTile < keys.end)
      load_whole(device, arguments, head, map.key, key + kTile, key_tile);
    add_bias<true>(head, row, key + column, score);
    const bool all = all_visible(mask, query, key);
    const std::uint32_t seen = all ? ~0u : visible_bits<true>(mask, row, key + column);
    if (statistics && head.scaling.capped) raise_raw(device, score, seen, head.scaling.raw, rows);
    to_logits(device, head.scaling, score);
    float factor[2];
    if (all)
      move_reference<true>(device, score, seen, rows, factor);
    else
      move_reference<false>(device, score, seen, rows, factor);
    if (device.any(factor[0] != 1.0f || factor[1] != 1.0f)) {
      HEADROOM_UNROLL
      for (int n = 0; n < kValues / 8; ++n) {
        HEADROOM_UNROLL
        for (int e = 0; e < 4; ++e) output[n][e] *= factor[e / 2];
      }
    }
    const float* value_square = reinterpret_cast<const float*>(squares_tile);
    if (all && statistics)
      add_tile<true, true>(device, score, seen, value_square, row, key + column, rows);
    else if (all)
      add_tile<true, false>(device, score, seen, value_square, row, key + column, rows);
    else if (statistics)
      add_tile<false, true>(device, score, seen, value_square, row, key + column, rows);
    else
      add_tile<false, false>(device, score, seen, value_square, row, key + column, rows);
    // Of three terms the products hide what a branch costs, and registers are short.
    if (Terms<Input>::kCount == 1 && channels == kValues)
      multiply_values<Input, kValues, true>(device, score, value_tile, channels, output);
    else
      multiply_values<Input, kValues, false>(device, score, value_tile, channels, output);
  }
  float factor[2];
  finish_rows(device, head, map, row, rows, map.rows != nullptr && channel == 0, factor);
  finish_context<kValues>(device, head, arguments.map, row, channel, output, factor);
}

}  // namespace headroom::kernels::cuda
