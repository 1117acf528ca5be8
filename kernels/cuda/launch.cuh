// CudaMachine::launch() for one input type; a source for each, so that they compile side by side.
#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/cuda_machine.cuh"
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/net_rows.cuh"
#include "kernels/cuda/small_kernels.cuh"
#include "kernels/cuda/window.cuh"

namespace headroom::kernels::cuda {

// How many blocks a multiprocessor holds at least, which bounds the registers of a thread; 0: as the compiler likes.
// Measured on an H100 for 16-bit inputs.
template <class Input>
constexpr int least_blocks(Kernel kernel) {
  if (sizeof(Input) != 2) return 0;
  switch (kernel) {
    case Kernel::FirstPass64:
    case Kernel::FirstPass128:
    case Kernel::NetSecondPass:
    case Kernel::NetRows: return 3;
    case Kernel::SecondPass: return 4;
    default: return 0;
  }
}

template <class Input, Kernel kKernel>
__global__ void __launch_bounds__(kThreads, least_blocks<Input>(kKernel)) run(const Arguments<Input> arguments) {
  CudaDevice device;
  if constexpr (kKernel == Kernel::ValueSquares) value_squares(device, arguments);
  if constexpr (kKernel == Kernel::FirstPass64) first_pass<Input, 64>(device, arguments);
  if constexpr (kKernel == Kernel::FirstPass128) first_pass<Input, 128>(device, arguments);
  if constexpr (kKernel == Kernel::SecondPass) second_pass<Input, false>(device, arguments);
  if constexpr (kKernel == Kernel::NetSecondPass) second_pass<Input, true>(device, arguments);
  if constexpr (kKernel == Kernel::NetRows) net_rows(device, arguments);
  if constexpr (kKernel == Kernel::OddContexts) odd_contexts(device, arguments);
  if constexpr (kKernel == Kernel::NamedKeys) named_keys(device, arguments);
  if constexpr (kKernel == Kernel::FoldPools) fold_pools(device, arguments);
}

template <class Input>
__global__ void __launch_bounds__(kThreads) run_window_kernel(const WindowArguments<Input> arguments) {
  CudaDevice device;
  window(device, arguments);
}

template <class Kernel, class KernelArguments>
KernelStatus start(Kernel kernel, Grid grid, std::size_t shared, cudaStream_t stream,
                   const KernelArguments& arguments) {
  HEADROOM_KERNEL_TRY(HEADROOM_CUDA_STATUS(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared))));
  const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y), static_cast<unsigned>(grid.z));
  kernel<<<blocks, kThreads, shared, stream>>>(arguments);
  return status_of(cudaGetLastError(), "launch of a kernel");
}

template <class Input>
KernelStatus launch_window(Grid grid, std::size_t shared, cudaStream_t stream,
                           const WindowArguments<Input>& arguments) {
  return start(run_window_kernel<Input>, grid, shared, stream, arguments);
}

template <class Input>
KernelStatus launch_any(Kernel kernel, Grid grid, std::size_t shared, cudaStream_t stream,
                        const Arguments<Input>& arguments) {
  switch (kernel) {
    case Kernel::ValueSquares: return start(run<Input, Kernel::ValueSquares>, grid, shared, stream, arguments);
    case Kernel::FirstPass64: return start(run<Input, Kernel::FirstPass64>, grid, shared, stream, arguments);
    case Kernel::FirstPass128: return start(run<Input, Kernel::FirstPass128>, grid, shared, stream, arguments);
    case Kernel::SecondPass: return start(run<Input, Kernel::SecondPass>, grid, shared, stream, arguments);
    case Kernel::NetSecondPass: return start(run<Input, Kernel::NetSecondPass>, grid, shared, stream, arguments);
    case Kernel::NetRows: return start(run<Input, Kernel::NetRows>, grid, shared, stream, arguments);
    case Kernel::OddContexts: return start(run<Input, Kernel::OddContexts>, grid, shared, stream, arguments);
    case Kernel::NamedKeys: return start(run<Input, Kernel::NamedKeys>, grid, shared, stream, arguments);
    case Kernel::FoldPools: return start(run<Input, Kernel::FoldPools>, grid, shared, stream, arguments);
  }
  return {StatusCode::Unsupported, "no such kernel"};
}

}  // namespace headroom::kernels::cuda
