// cuda_window() over any machine. One thread.
#pragma once

#include "kernels/cuda/machine.h"
#include "kernels/cuda/window.cuh"

namespace headroom::kernels::cuda {

// Multiply-adds between two looks at `stop`: some milliseconds of a current device.
inline constexpr double kBandWork = 1e11;

template <class Input>
KernelStatus run_window(Machine& machine, const HeadProblem<Input>& problem, const WindowLse& lse,
                        const WindowRequest& request, const WindowCells& cells, const StopRequested& stop,
                        double band_work = kBandWork);

}  // namespace headroom::kernels::cuda
