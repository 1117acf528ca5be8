// How much of a run is worked through at a time on the processor: core/compute cuts by these numbers, run_memory counts
// with them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace headroom {

// Rows of the stream that an MLP takes at a time, at most, and of logits.
inline constexpr std::int64_t kMlpRows = 2048, kLogitRows = 128;

// The blocked backend goes through strips of rows × all keys that stay in a core's cache, each worker with at most so
// many buffers of a strip's size, and through a head in at most so many parts.
inline constexpr std::int64_t kBlockedStripElements = std::int64_t{1} << 17, kBlockedBuffers = 10, kBlockedParts = 4;
inline constexpr std::int64_t kBlockedFewestRows = 8, kBlockedMostRows = 128;
[[nodiscard]] constexpr std::int64_t blocked_strip_rows(std::int64_t keys) {
  return std::clamp(kBlockedStripElements / std::max<std::int64_t>(keys, 1), kBlockedFewestRows, kBlockedMostRows);
}

}  // namespace headroom
