// The window kernel of the CPU backend: keys in vector lanes, so that a row of the map is written as it is computed.
// 1024 × 1024 entries of one head cost 2 · 1024² · head_dim operations, whatever the length.
#pragma once

#include "kernels/window.h"

namespace headroom::kernels {

// Fills the cells; Input is float or BFloat16. Weights are within 2e-6 · (1 + |z|) relative of exact ones. Same bits
// for any number of threads. False when `stop`, polled between tiles, asked to end; the cells are then incomplete.
// Cells of a map that the head lacks are not-a-number.
template <typename Input>
[[nodiscard]] bool cpu_window(const HeadProblem<Input>& problem, const WindowLse& lse, const WindowRequest& request,
                              const WindowCells& cells, const ParallelFor& parallel_for, const StopRequested& stop);

}  // namespace headroom::kernels
