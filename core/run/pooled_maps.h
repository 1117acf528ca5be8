// Every head's map in blocks, small enough to keep for all heads however long the prompt is: made while a layer is
// computed, or taken from a run file. Immutable once made; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/measure/layer_record.h"

namespace headroom {

struct LayerSnapshot;

// Which map of a head: w = a¹ − λa² (of a head with one map a), a¹, a².
enum class PooledKind : std::uint8_t { Net, First, Second };

// The maps of one layer's heads. A block holds the largest |w_ij| (a_ij) of size × size entries, fewer at the far
// edges; NaN where none of them is visible, and where one is not finite. core/measure/QUANTITIES.md,
// /maps/pooled_max_abs and /maps/pooled_max_components. The blocks of key 0 are of its column alone: the largest |w_i0|
// of `size` rows.
struct PooledMaps {
  std::int64_t blocks = 0, size = 0;
  std::vector<float> net, first, second;  // [heads, blocks, blocks]; the last two empty where no head has two maps
  std::vector<float> net_key, first_key, second_key;  // [heads, blocks]; empty where a run file has no rows

  // Of the head at this place among the layer's; empty where the layer has none of the kind.
  [[nodiscard]] std::span<const float> map(PooledKind kind, std::int64_t index) const;
  [[nodiscard]] std::span<const float> key0(PooledKind kind, std::int64_t index) const;
  [[nodiscard]] std::size_t size_bytes() const;
};

// Blocks along a side for a run of so many heads: 64, and 32 where more than 1024 heads would take much memory.
[[nodiscard]] std::int64_t pooled_blocks(std::int64_t heads);
// What a layer takes that keeps them.
[[nodiscard]] std::size_t pooled_bytes(std::int64_t blocks, std::size_t heads, bool differential);

// From the statistics of a layer whose run asked for pooled maps; null where it did not.
[[nodiscard]] std::shared_ptr<const PooledMaps> keep_pooled(const LayerRecord& record);
// From the series of a layer of a run file; null where it has no /maps.
[[nodiscard]] std::shared_ptr<const PooledMaps> stored_pooled(const LayerSnapshot& layer);

}  // namespace headroom
