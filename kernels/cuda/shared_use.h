// How a launch uses the shared memory of a device: as many channels at once as fit. Plain function; safe from any
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/status.h"

namespace headroom::kernels::cuda {

inline constexpr int kLargestSlab = 128;

inline constexpr KernelStatus kLittleShared{StatusCode::Unsupported,
                                            "a block of this device has too little shared memory for the kernels"};

struct SharedUse {
  int slab = 0;  // 0: does not fit
  bool resident = false;
  std::size_t bytes = 0;
};

// bytes(slab, own, streamed): with `own` tiles of the block's rows, of which there are `maps` where they stay, and
// `streamed` of the others, more than one where the block's own stay.
template <class Bytes>
[[nodiscard]] SharedUse use_shared(std::int64_t head_dim, int maps, int streamed, std::size_t limit,
                                   const Bytes& bytes) {
  const int widest = std::min(static_cast<int>((head_dim + 15) / 16 * 16), kLargestSlab);
  const auto size = [&](int slab, int own, int others) { return static_cast<std::size_t>(bytes(slab, own, others)); };
  if (head_dim <= widest && size(widest, maps, streamed) <= limit) return {widest, true, size(widest, maps, streamed)};
  for (int slab = widest; slab >= 16; slab = slab == 16 ? 0 : (slab / 2 + 15) / 16 * 16)
    if (size(slab, 1, 1) <= limit) return {slab, false, size(slab, 1, 1)};
  return {};
}

}  // namespace headroom::kernels::cuda
