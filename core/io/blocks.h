// How arrays are cut: chunk shapes in the file and blocks for reading with bounded memory. Pure functions; safe from
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/result.h"

namespace headroom {

inline constexpr std::int64_t kBlockElements = 1 << 20;  // what is read of a dataset at once

// Number of elements, 1 for a scalar; nothing checked for overflow beyond saturation at the largest int64.
[[nodiscard]] std::int64_t element_count(std::span<const std::int64_t> shape);

// Empty where the data is better contiguous (below 64 KiB, scalar, empty). Otherwise one matrix of the last two axes,
// or as many of its rows as fit in 1 MiB; matrices below 16 KiB are put together up to 64 KiB. With `split_first` a
// chunk never spans two indices of the first axis, so that a layer that is finished is finished in the file.
[[nodiscard]] std::vector<std::int64_t> chunk_shape(std::span<const std::int64_t> shape, std::size_t element_bytes,
                                                    bool split_first);

// Calls visit(start, count) for blocks of at most `max_elements` (and at least one) that cover the array in row-major
// order; once with empty spans for a scalar, never for an empty array. Stops at the first error.
[[nodiscard]] Result<void> for_each_block(
    std::span<const std::int64_t> shape, std::int64_t max_elements,
    const std::function<Result<void>(std::span<const std::int64_t> start, std::span<const std::int64_t> count)>& visit);

}  // namespace headroom
