// cuda_attention() over any machine: batches heads, lays out their memory, launches the passes and reads the results.
// One thread.
#pragma once

#include <span>

#include "kernels/attention.h"
#include "kernels/cuda/machine.h"

namespace headroom::kernels::cuda {

// A batch ends at this much work, so that a stop is noticed soon; one head may exceed it. In multiply-adds of the first
// pass: some tens of milliseconds of a current device.
inline constexpr double kBatchWork = 4e12;

template <class Input>
KernelStatus run_heads(Machine& machine, std::span<HeadJob<Input, float>> jobs, const StopRequested& stop,
                       const ParallelFor& parallel = {}, double batch_work = kBatchWork);

}  // namespace headroom::kernels::cuda
