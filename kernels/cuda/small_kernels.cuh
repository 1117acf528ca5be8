// What costs O(n·d) or O(cells): mean squares of the values, weights of named keys, the pooled maps from their parts,
// and what values that are not finite do to contexts.
#pragma once

#include <cstdint>

#include "kernels/cuda/second_pass.cuh"

namespace headroom::kernels::cuda {

template <class Device>
HEADROOM_DEVICE float warp_sum(Device& device, float value) {
  HEADROOM_UNROLL
  for (int distance = 16; distance > 0; distance /= 2) value += device.shuffle_xor(value, distance);
  return value;
}

// r_j² and the list of odd values, in any order; one warp for each key; blocks are (four keys, head, map).
template <class Input, class Device>
HEADROOM_DEVICE void value_squares(Device& device, const Arguments<Input>& arguments) {
  const HeadParameters<Input>& head = arguments.heads[device.block_y()];
  const MapParameters<Input>& map = head.maps[device.block_z()];
  const int j = device.block_x() * kWarps + device.warp();
  if (map.query.data == nullptr || j >= head.mask.length) return;
  const Input* value = map.value.data + j * map.value.stride;
  float sum = 0.0f;
  for (int c = device.lane(); c < head.value_dim; c += 32) {
    const float v = device.to_float(value[c]);
    sum += v * v;
  }
  sum = warp_sum(device, sum);
  if (device.lane() != 0) return;
  if (!is_finite(sum)) map.odd_keys[device.take(map.odd_count)] = j;
  if (map.value_square != nullptr) map.value_square[j] = sum / static_cast<float>(head.value_dim) + (sum - sum);
}

// NaN in the channels of a row's context where it sees a value that is not finite, after the first passes of both maps;
// blocks are (four rows, head, map).
template <class Input, class Device>
HEADROOM_DEVICE void odd_contexts(Device& device, const Arguments<Input>& arguments) {
  const HeadParameters<Input>& head = arguments.heads[device.block_y()];
  const MapParameters<Input>& map = head.maps[device.block_z()];
  const int i = device.block_x() * kWarps + device.warp();
  if (map.query.data == nullptr || i >= head.mask.length) return;
  const float nan = device.infinity() - device.infinity();
  const int keys = *map.odd_count;
  for (int k = 0; k < keys; ++k) {
    const int j = map.odd_keys[k];
    if (!visible(head.mask, i, j)) continue;  // the same for the whole warp
    bool all = true;
    for (int c = device.lane(); c < head.value_dim; c += 32) {
      const bool finite = is_finite(map.value.data[j * map.value.stride + c]);
      all = all && !finite;
      if (finite) continue;
      head.context[i * head.context_stride + c] = nan;
      if (map.energy != nullptr)
        map.energy[static_cast<std::int64_t>(c / head.value_chunk) * head.mask.length + i] = nan;
    }
    if (!device.any(!all)) return;
  }
}

// The weights of key 0, the row's own, the one before and the induction key; blocks are (four rows, head, map).
template <class Input, class Device>
HEADROOM_DEVICE void named_keys(Device& device, const Arguments<Input>& arguments) {
  const HeadParameters<Input>& head = arguments.heads[device.block_y()];
  const MapParameters<Input>& map = head.maps[device.block_z()];
  const int i = device.block_x() * kWarps + device.warp();
  if (map.named == nullptr || i >= head.mask.length) return;
  const std::int64_t length = head.mask.length;
  const int keys[kNamedKeyArrays] = {0, i, i - 1, head.induction_key != nullptr ? head.induction_key[i] : -1};
  const Input* query = map.query.data + i * map.query.stride;
  HEADROOM_UNROLL
  for (int kind = 0; kind < kNamedKeyArrays; ++kind) {
    const int j = keys[kind];
    float weight = 0.0f;
    if (j >= 0 && visible(head.mask, i, j)) {  // the same for the whole warp
      const Input* key = map.key.data + j * map.key.stride;
      float product = 0.0f;
      for (int c = device.lane(); c < head.head_dim; c += 32)
        product += device.to_float(query[c]) * device.to_float(key[c]);
      product = warp_sum(device, product);
      if (head.bias != nullptr) product += bias_of(head, i, j);
      const float z = head.scaling.capped ? head.scaling.cap_outer * device.tanh(head.scaling.cap_inner * product)
                                          : head.scaling.logit * product;
      weight = device.exp2((z - row_reference(device, map, length, i)) - map.rows[kLogTotal * length + i]);
    }
    if (device.lane() == 0) map.named[kind * length + i] = weight;
  }
}

// One thread for each cell, kinds one after another; the tiles of keys in their order.
template <class Input, class Device>
HEADROOM_DEVICE void fold_pools(Device& device, const Arguments<Input>& arguments) {
  const HeadParameters<Input>& head = arguments.heads[device.block_y()];
  const int cell = device.block_x() * kThreads + device.thread(), blocks = head.pool_blocks;
  if (head.pooled == nullptr || cell >= blocks * blocks) return;
  const int row = cell / blocks, column = cell % blocks, size = head.pool_size;
  const int tiles = (head.mask.length + kTile - 1) / kTile;
  const int first = static_cast<int>(static_cast<std::int64_t>(column) * size / kTile);
  const int last = smaller((column + 1) * size - 1, head.mask.length - 1) / kTile;
  const int kinds = head.maps[1].query.data != nullptr ? kPooledKinds : kPooledKindsOfOneMap;
  for (int kind = 0; kind < kinds; ++kind) {
    double value = 0.0;
    for (int tile = first; tile <= last; ++tile) {
      const int part = column - tile * kTile / size;
      const double one = static_cast<double>(
          head.pool_parts[((static_cast<std::int64_t>(kind) * tiles + tile) * head.pool_columns + part) * blocks +
                          row]);
      value = KeySums<true>::is_max(kind) ? (value != value || value >= one ? value : one) : value + one;
    }
    head.pooled[static_cast<std::int64_t>(kind) * blocks * blocks + cell] = static_cast<float>(value);
  }
}

}  // namespace headroom::kernels::cuda
