// What stands between a layer's queries and keys entry by entry, head by head: the mask of a captured call, or terms of
// the logits that depend on content and distance. Read by tile, so that no n × n array is needed. Immutable; safe from
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/mask.h"

namespace headroom {

class HeadMasks {
 public:
  HeadMasks() = default;
  virtual ~HeadMasks() = default;
  HeadMasks(const HeadMasks&) = delete;
  HeadMasks& operator=(const HeadMasks&) = delete;

  // Of that output head; belongs to this object.
  [[nodiscard]] virtual const kernels::DenseMask* of_head(std::int64_t head) const = 0;
  // What it keeps in memory.
  [[nodiscard]] virtual std::size_t size_bytes() const = 0;
};

}  // namespace headroom
