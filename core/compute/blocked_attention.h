// The blocked backend: strips of rows × visible keys, never n × n. LibTorch multiplies, the row kernels do the rest in
// one pass, since a strip holds its rows whole. Memory: O(rows · n) per thread and O(n) per head.
// Call from the compute thread; it spreads tasks over LibTorch's own threads.
#pragma once

#include <span>

#include "kernels/attention.h"

namespace headroom {

// Runs all heads. Results have the same bits for any number of threads: tasks are fixed and folded in their order.
// False when `stop` asked to end early; the outputs are then incomplete.
template <typename Real>
[[nodiscard]] bool blocked_attention(std::span<kernels::HeadJob<Real>> heads, const kernels::StopRequested& stop);

// The weights of rows [row, row + rows) of one map, [rows, length] row-major, 0 where masked; for exact maps.
template <typename Real>
void blocked_weights(const kernels::HeadProblem<Real>& problem, std::size_t map, std::int64_t row, std::int64_t rows,
                     std::span<Real> weights);

}  // namespace headroom
