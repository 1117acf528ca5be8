#include "core/io/blocks.h"

#include <algorithm>
#include <limits>

namespace headroom {
namespace {

constexpr std::int64_t kContiguousBelowBytes = 64 * 1024;
constexpr std::int64_t kMaxChunkBytes = 1024 * 1024;
constexpr std::int64_t kSmallChunkBytes = 16 * 1024;
constexpr std::int64_t kGatheredChunkBytes = 64 * 1024;

}  // namespace

std::int64_t element_count(std::span<const std::int64_t> shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (count > std::numeric_limits<std::int64_t>::max() / extent) return std::numeric_limits<std::int64_t>::max();
    count *= extent;
  }
  return count;
}

std::vector<std::int64_t> chunk_shape(std::span<const std::int64_t> shape, std::size_t element_bytes,
                                      bool split_first) {
  const std::int64_t element = static_cast<std::int64_t>(element_bytes);
  const std::int64_t count = element_count(shape);
  if (shape.empty() || count == 0 || count < (kContiguousBelowBytes + element - 1) / element) return {};
  std::vector<std::int64_t> chunk(shape.size(), 1);
  std::int64_t bytes = element;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (axis == 0 && split_first && shape.size() > 1) break;
    const bool in_matrix = axis + 2 >= shape.size();
    if (!in_matrix && bytes >= kSmallChunkBytes) break;
    const std::int64_t limit = in_matrix ? kMaxChunkBytes : kGatheredChunkBytes;
    chunk[axis] = std::clamp<std::int64_t>(limit / bytes, 1, shape[axis]);
    bytes *= chunk[axis];
    if (chunk[axis] < shape[axis]) break;
  }
  return chunk;
}

Result<void> for_each_block(
    std::span<const std::int64_t> shape, std::int64_t max_elements,
    const std::function<Result<void>(std::span<const std::int64_t>, std::span<const std::int64_t>)>& visit) {
  if (element_count(shape) == 0) return {};
  std::vector<std::int64_t> extents(shape.size(), 1);
  std::int64_t elements = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    extents[axis] = std::clamp<std::int64_t>(max_elements / elements, 1, shape[axis]);
    elements *= extents[axis];
    if (extents[axis] < shape[axis]) break;
  }
  std::vector<std::int64_t> start(shape.size(), 0);
  std::vector<std::int64_t> count(shape.size(), 0);
  for (;;) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      count[axis] = std::min(extents[axis], shape[axis] - start[axis]);
    }
    HEADROOM_TRY_VOID(visit(start, count));
    std::size_t axis = shape.size();
    while (axis > 0) {
      --axis;
      start[axis] += extents[axis];
      if (start[axis] < shape[axis]) break;
      start[axis] = 0;
      if (axis == 0) return {};
    }
    if (shape.empty()) return {};
  }
}

}  // namespace headroom
