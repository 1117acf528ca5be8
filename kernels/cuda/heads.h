// cuda_attention() over any machine: batches heads, lays out their memory, launches the passes and reads the results.
// One thread.
#pragma once

#include <span>

#include "kernels/attention.h"
#include "kernels/cuda/machine.h"

namespace headroom::kernels::cuda {

template <class Input>
KernelStatus run_heads(Machine& machine, std::span<HeadJob<Input, float>> jobs, const StopRequested& stop);

}  // namespace headroom::kernels::cuda
