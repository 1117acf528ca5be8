// The window kernel on an NVIDIA GPU, with the interface of the CPU's. Safe from any thread on separate streams.
#pragma once

#include "kernels/cuda/attention.h"
#include "kernels/window.h"

namespace headroom::kernels {

// Fills the cells. In device memory: query and key of the problem; values are not read. In host memory: λ, hidden keys,
// `lse` and `cells`. Ordered after what `stream` holds; returns when the cells are there: it synchronises the stream.
// `stop` is polled between bands of rows, some milliseconds each; a stopped call returns Cancelled and leaves the cells
// as they were. Cells of a map that the head lacks are not-a-number. Input: float, BFloat16, Float16.
template <typename Input>
KernelStatus cuda_window(const HeadProblem<Input>& problem, const WindowLse& lse, const WindowRequest& request,
                         const WindowCells& cells, StreamView stream, const StopRequested& stop);

}  // namespace headroom::kernels
